#include "join/join.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

cog_status join_start(struct join_parts *parts, const struct join_options *options,
                      cog_error *error) {
    *parts = (struct join_parts){.threads = threads_resolve(options->threads)};
    if (!(options->threshold > 0 && options->threshold <= 1))
        return error_set(error, COG_ERR_USAGE,
                         "threshold %g: choose a number above 0 and at most 1", options->threshold);
    TAKE_ZEROED(parts->items, parts->threads, "a join", error);
    for (unsigned i = 0; i < parts->threads; i++) {
        match_list_share(&parts->items[i].matches, options->max_matches, &parts->listed);
        parts->items[i].matches.sieve = options->sieve;
    }
    return COG_OK;
}

cog_status join_finish(struct join_parts *parts, const struct join_options *options,
                       cog_status status, struct match_list *matches, cog_error *error) {
    struct join_work work = {0};
    for (unsigned i = 0; parts->items && i < parts->threads; i++) {
        struct join_part *part = &parts->items[i];
        work.postings += part->work.postings;
        work.candidates += part->work.candidates;
        work.verified += part->work.verified;
        THEN(status, match_list_move(matches, &part->matches, error));
        match_list_free(&part->matches);
    }
    free(parts->items);
    if (options->work)
        *options->work = work;
    if (status == COG_OK)
        match_list_sort(matches);
    else
        match_list_free(matches);
    return status;
}
