#include "plan/recall_report.h"

#include <stdio.h>

#include "base/plural.h"

void report_recall(cog_report *report, const struct share_tally *tally, size_t sample_size,
                   struct noun things, struct noun units) {
    struct measured_share recall = measured_share(tally);
    char name[64];
    snprintf(name, sizeof name, "recall_sample_%s", units.many);
    report_number(report, name, (double)sample_size);
    snprintf(name, sizeof name, "recall_sample_%s", things.many);
    report_number(report, name, (double)tally->trials);
    if (tally->trials == 0) {
        report_notice(report, "recall is not known: no true %s of %zu sampled %s", things.many,
                      sample_size, plural(sample_size, units.one, units.many));
        return;
    }
    report_number(report, "measured_recall", recall.share);
    report_number(report, "measured_recall_low", recall.low);
    report_number(report, "measured_recall_high", recall.high);
    report_notice(report, "recall %.3f (95%%: %.3f to %.3f, %llu true %s of %zu sampled %s)",
                  recall.share, recall.low, recall.high, (unsigned long long)tally->trials,
                  plural(tally->trials, things.one, things.many), sample_size,
                  plural(sample_size, units.one, units.many));
}

void report_pair_recall(cog_report *report, const struct share_tally *tally, size_t sample_size,
                        double wanted, const char *exact_method) {
    report_recall(report, tally, sample_size, (struct noun){"pair", "pairs"},
                  (struct noun){"row", "rows"});
    if (tally->trials && measured_share(tally).high < wanted)
        report_notice(report,
                      "that is less than the %g of --recall; a greater one finds more, and "
                      "--method %s all",
                      wanted, exact_method);
}

void report_exact(cog_report *report) {
    report_text(report, "recall", "certified exact");
}
