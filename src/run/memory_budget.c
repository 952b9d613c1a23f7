#include "run/memory_budget.h"

#include <math.h>
#include <stdio.h>

#include "run/report.h"

double memory_of_statistics(double text_bytes, unsigned ngram) {
    enum { BYTES_A_TERM = 64 }; /* while a table of them grows */
    if (ngram > 1)
        return text_bytes * 4;
    return BYTES_A_TERM * 30000 * pow(text_bytes / 5e6, 0.7);
}

double memory_of_parallel_text(double text_bytes) {
    return 410e6 * pow(text_bytes / 25e6, 0.75);
}

cog_status memory_budget_keep(double needed_bytes, const cog_run_options *run, cog_error *error) {
    uint64_t budget = run ? run->memory_bytes : 0;
    if (budget == 0 || needed_bytes <= (double)budget)
        return COG_OK;
    return error_set(
        error, COG_ERR_MEMORY,
        "the job needs about %.0f MB of memory and the budget is %.0f MB; raise --memory "
        "or split the input",
        needed_bytes / (1 << 20), (double)budget / (1 << 20));
}

void memory_budget_announce(double needed_bytes, const cog_run_options *run, cog_report *report) {
    report_number(report, "predicted_memory_bytes", ceil(needed_bytes));
    if (run && run->announce) {
        char text[64];
        snprintf(text, sizeof text, "needs about %.0f MB of memory", needed_bytes / (1 << 20));
        run->announce(run->progress_context, text);
    }
}

cog_status memory_budget_check(double needed_bytes, const cog_run_options *run, cog_report *report,
                               cog_error *error) {
    memory_budget_announce(needed_bytes, run, report);
    return memory_budget_keep(needed_bytes, run, error);
}
