#include "jobs/pairs/set_memory.h"

#include <stdio.h>

#include "collection/sets/set_sample.h"

enum { JOIN_LEAST_BYTES = 8 << 20, PROGRAM_BYTES = 7 << 20 };

cog_status set_memory_room(const struct document_sets *sets, uint64_t other_bytes,
                           const struct job *job, uint64_t *room, cog_error *error) {
    const uint64_t budget = job->run.memory_bytes;
    const uint64_t held = MEMORY_BASE_BYTES + document_sets_memory_bytes(sets) + other_bytes;
    *room = 0;
    if (budget == 0)
        return COG_OK;
    if (budget < held + JOIN_LEAST_BYTES)
        return error_about(error, COG_ERR_MEMORY, "memory_bytes",
                           "%zu documents need %llu MB of memory at least; raise the budget of "
                           "%llu MB or split the input",
                           sets->count, (unsigned long long)((held + JOIN_LEAST_BYTES) >> 20) + 1,
                           (unsigned long long)(budget >> 20));
    *room = budget - held;
    return COG_OK;
}

/* Reading may have used more memory than the join will. */
static void announce(void *context, uint64_t join_bytes) {
    const struct set_memory *memory = context;
    const struct job *job = memory->job;
    const uint64_t budget = job->run.memory_bytes, so_far = PROGRAM_BYTES + memory_job_peak_bytes();
    const uint64_t joining =
        PROGRAM_BYTES + document_sets_memory_bytes(memory->sets) + memory->other_bytes + join_bytes;
    const uint64_t needed = joining > so_far ? joining : so_far;
    memory_budget_announce((double)(budget && needed > budget ? budget : needed), &job->run,
                           job->report);
}

void set_memory_predict(struct set_memory *prediction, struct set_join_options *options) {
    options->predict = announce;
    options->predict_context = prediction;
}

/* The share of the members that stand in prefixes, before any is counted: the places of prefixes
 * behind the members that one document alone has, in natural text a quarter or more. */
static double share_in_prefixes(double threshold) {
    const double alone = 0.25, places = 1 - threshold;
    return places > alone ? places - alone : 0;
}

cog_status set_memory_announce_disk(cog_documents *const collections[2],
                                    const struct term_options *terms, double threshold,
                                    uint64_t other_bytes, const struct job *job, cog_error *error) {
    enum { WORTH_SAYING = 1 << 30 };
    double sets = (double)other_bytes;
    char message[96];
    for (size_t i = 0; i < 2; i++) {
        double bytes = 0;
        if (collections[i])
            TRY(set_sample_bytes(collections[i], terms, &bytes, error));
        sets += bytes;
    }
    const double disk = sets * (1 + share_in_prefixes(threshold));
    report_number(job->report, "predicted_disk_bytes", disk);
    if (disk < WORTH_SAYING)
        return COG_OK;
    snprintf(message, sizeof message, "needs about %.1f GB of disk for scratch files", disk / 1e9);
    job_announce(job, message);
    return COG_OK;
}
