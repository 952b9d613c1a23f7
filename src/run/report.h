/* The report of a job, for people and programs: named numbers and texts in the order they were set,
 * stages with their seconds and bytes, and notices. */
#pragma once

#include "base/error.h"

/* All accept a NULL report and then do nothing. Setting a name again replaces its value. */
void report_number(cog_report *report, const char *name, double value);
void report_text(cog_report *report, const char *name, const char *value);
/* Adds seconds to the stage `name`, and records the memory held until now. */
void report_stage(cog_report *report, const char *name, double seconds);
/* Records the peak memory of the job and the peak resident memory of the process. */
void report_peak(cog_report *report);
void report_notice(cog_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
