/* How every approximate run tells its measured recall, and every exact one that it is exact. */
#ifndef COGNATE_JOB_RECALL_REPORT_H
#define COGNATE_JOB_RECALL_REPORT_H

#include "job/report.h"

/* trials true `things` ("pairs", "neighbours") of sample_size sampled `units` ("rows", "queries").
 */
void report_recall(cog_report *report, uint64_t hits, uint64_t trials, size_t sample_size,
                   const char *things, const char *units);
void report_exact(cog_report *report);

#endif
