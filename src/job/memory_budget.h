/* The memory that a job expects to need, told before it starts. */
#ifndef COGNATE_JOB_MEMORY_BUDGET_H
#define COGNATE_JOB_MEMORY_BUDGET_H

#include "base/error.h"

/* Reports the need; COG_ERR_MEMORY where the budget is less. */
cog_status memory_budget_check(double needed_bytes, const cog_run_options *run, cog_report *report,
                               cog_error *error);

#endif
