#include "job/recall_report.h"

#include <stdio.h>

#include "evaluate/interval.h"

void report_recall(cog_report *report, uint64_t hits, uint64_t trials, size_t sample_size,
                   const char *things, const char *units) {
    struct measured_share recall = measured_share(hits, trials);
    char name[64];
    snprintf(name, sizeof name, "recall_sample_%s", units);
    report_number(report, name, (double)sample_size);
    snprintf(name, sizeof name, "recall_sample_%s", things);
    report_number(report, name, (double)trials);
    if (trials == 0) {
        report_notice(report, "recall is not known: no true %s of %zu sampled %s", things,
                      sample_size, units);
        return;
    }
    report_number(report, "measured_recall", recall.share);
    report_number(report, "measured_recall_low", recall.low);
    report_number(report, "measured_recall_high", recall.high);
    report_notice(report, "recall %.3f (95%%: %.3f to %.3f, %llu true %s of %zu sampled %s)",
                  recall.share, recall.low, recall.high, (unsigned long long)trials, things,
                  sample_size, units);
}

void report_exact(cog_report *report) {
    report_text(report, "recall", "certified exact");
}
