#include "plan/pair_sample.h"

#include "plan/recall_sample.h"

enum { TRUTH_AT_ONCE = 1 << 20 }; /* matches: 16 MB */

/* Some of the truth, whose a is a place in the sample. */
static void count_truth(struct pair_sample *sample, const struct match_list *truth,
                        const struct match_list *matches) {
    for (size_t i = 0; i < truth->count; i++) {
        size_t place = truth->items[i].a;
        uint32_t a = sample->rows[place], b = truth->items[i].b;
        bool swap = sample->self && b < a;
        if (sample->self &&
            (a == b || (swap && recall_sample_holds(sample->rows, sample->count, b))))
            continue; /* a pair of two sampled rows counts from its earlier one */
        sample->trials[place]++;
        sample->hits[place] += match_list_holds(matches, swap ? b : a, swap ? a : b);
    }
}

struct share_tally pair_sample_tally(const struct pair_sample *sample) {
    struct share_tally tally = {0};
    for (size_t i = 0; i < sample->count; i++)
        share_tally_add(&tally, sample->hits[i], sample->trials[i]);
    return tally;
}

struct measuring {
    struct pair_sample *sample;
    pair_truth *find;
    const void *context;
    size_t limit;
    const struct match_list *matches;
};

/* Sampled rows [first, first + count), by halves where they have too many matches. */
static cog_status measure_part(const struct measuring *measuring, size_t first, size_t count,
                               cog_error *error) {
    struct match_list truth = {.limit = measuring->limit};
    cog_status status =
        measuring->find(measuring->context, measuring->sample->rows + first, count, &truth, error);
    if (status == COG_OK) {
        for (size_t i = 0; i < truth.count; i++)
            truth.items[i].a += (uint32_t)first;
        count_truth(measuring->sample, &truth, measuring->matches);
    }
    match_list_free(&truth);
    if (status != COG_ERR_MEMORY || count < 2)
        return status;
    status = measure_part(measuring, first, count / 2, error);
    return status == COG_OK ? measure_part(measuring, first + count / 2, count - count / 2, error)
                            : status;
}

cog_status pair_sample_measure(struct pair_sample *sample, pair_truth *find, const void *context,
                               size_t most_matches, const struct match_list *matches,
                               cog_error *error) {
    const struct measuring measuring = {sample, find, context,
                                        most_matches > TRUTH_AT_ONCE ? most_matches : TRUTH_AT_ONCE,
                                        matches};
    return sample->count ? measure_part(&measuring, 0, sample->count, error) : COG_OK;
}
