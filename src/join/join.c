#include "join/join.h"

cog_status join_start(const struct join_options *options, cog_error *error) {
    if (!(options->threshold > 0 && options->threshold <= 1))
        return error_set(error, COG_ERR_USAGE,
                         "threshold %g: a join needs one above 0 and at most 1",
                         options->threshold);
    if (options->work)
        *options->work = (struct join_work){0};
    return COG_OK;
}

cog_status join_collect(struct join_part *part, const struct join_options *options,
                        struct match_list *matches, cog_error *error) {
    if (options->work) {
        options->work->postings += part->work.postings;
        options->work->candidates += part->work.candidates;
        options->work->verified += part->work.verified;
    }
    cog_status status = match_list_move(matches, &part->matches, error);
    match_list_free(&part->matches);
    return status;
}
