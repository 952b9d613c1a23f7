#include "job/recall_report.h"

#include <stdio.h>

void report_recall(cog_report *report, const struct share_tally *tally, size_t sample_size,
                   const char *things, const char *units) {
    struct measured_share recall = measured_share(tally);
    char name[64];
    snprintf(name, sizeof name, "recall_sample_%s", units);
    report_number(report, name, (double)sample_size);
    snprintf(name, sizeof name, "recall_sample_%s", things);
    report_number(report, name, (double)tally->trials);
    if (tally->trials == 0) {
        report_notice(report, "recall is not known: no true %s of %zu sampled %s", things,
                      sample_size, units);
        return;
    }
    report_number(report, "measured_recall", recall.share);
    report_number(report, "measured_recall_low", recall.low);
    report_number(report, "measured_recall_high", recall.high);
    report_notice(report, "recall %.3f (95%%: %.3f to %.3f, %llu true %s of %zu sampled %s)",
                  recall.share, recall.low, recall.high, (unsigned long long)tally->trials, things,
                  sample_size, units);
}

void report_pair_recall(cog_report *report, const struct share_tally *tally, size_t sample_size,
                        double wanted, const char *exact_method) {
    report_recall(report, tally, sample_size, "pairs", "rows");
    if (tally->trials && measured_share(tally).high < wanted)
        report_notice(report,
                      "that is less than the %g of --recall; a greater one finds more, and "
                      "--method %s all",
                      wanted, exact_method);
}

void report_exact(cog_report *report) {
    report_text(report, "recall", "certified exact");
}
