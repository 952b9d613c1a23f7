#include "evaluate/link_scores.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "crosslingual/line_source.h"

/* Pairs of ids by hash: with 64 bits two of a million pairs meet once in 10^7 files. */
struct link_gold {
    uint64_t *pairs; /* sorted */
    size_t pair_count, pair_capacity;
    struct judged {
        double score;
        bool right;
    } * links;
    size_t link_count, link_capacity;
    uint64_t right_firsts;
};

static uint64_t pair_of(struct bytes_view from, struct bytes_view to) {
    return hash_pair(hash_bytes(from.data, from.size), hash_bytes(to.data, to.size));
}

static int by_number(const void *x, const void *y) {
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

static cog_status read_gold(struct link_gold *gold, struct line_source *lines, const char *path,
                            cog_error *error) {
    for (;;) {
        struct bytes_view line;
        bool end;
        cog_status status = line_source_next(lines, &line, &end, error);
        if (status != COG_OK || end)
            return status;
        if (line.size == 0)
            continue;
        struct bytes_view from = take_field(&line, '\t');
        if (!line.data)
            return error_set_at(error, COG_ERR_INPUT, lines->line,
                                "%s:%llu: known links are two ids with a tab between them", path,
                                (unsigned long long)lines->line);
        if (!memory_grow((void **)&gold->pairs, &gold->pair_capacity, gold->pair_count + 1,
                         sizeof *gold->pairs))
            return error_memory(error, gold->pair_count * sizeof *gold->pairs, "known links");
        gold->pairs[gold->pair_count++] = pair_of(from, take_field(&line, '\t'));
    }
}

cog_status link_gold_open(const char *path, struct link_gold **result, cog_error *error) {
    struct link_gold *gold = calloc(1, sizeof *gold);
    struct line_source lines = {0};
    if (!gold)
        return error_memory(error, sizeof *gold, "known links");
    cog_status status = line_source_open(&lines, path, error);
    if (status == COG_OK)
        status = read_gold(gold, &lines, path, error);
    line_source_close(&lines);
    if (status != COG_OK) {
        link_gold_free(gold);
        return status;
    }
    if (gold->pair_count)
        qsort(gold->pairs, gold->pair_count, sizeof *gold->pairs, by_number);
    *result = gold;
    return COG_OK;
}

void link_gold_free(struct link_gold *gold) {
    if (!gold)
        return;
    free(gold->pairs);
    free(gold->links);
    free(gold);
}

cog_status link_gold_take(struct link_gold *gold, struct bytes_view from, struct bytes_view to,
                          double score, bool is_first, cog_error *error) {
    uint64_t pair = pair_of(from, to);
    bool right = gold->pair_count && bsearch(&pair, gold->pairs, gold->pair_count,
                                             sizeof *gold->pairs, by_number) != NULL;
    if (is_first) {
        gold->right_firsts += right;
        return COG_OK;
    }
    if (!memory_grow((void **)&gold->links, &gold->link_capacity, gold->link_count + 1,
                     sizeof *gold->links))
        return error_memory(error, gold->link_count * sizeof *gold->links, "judged links");
    gold->links[gold->link_count++] = (struct judged){score, right};
    return COG_OK;
}

static int by_falling_score(const void *x, const void *y) {
    const struct judged *a = x, *b = y;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return (int)a->right - (int)b->right; /* ties are counted against the result */
}

void link_gold_scores(struct link_gold *gold, cog_link_scores *scores) {
    double known = gold->pair_count ? (double)gold->pair_count : 1;
    uint64_t right = 0, right_at_99 = 0;
    if (gold->link_count)
        qsort(gold->links, gold->link_count, sizeof *gold->links, by_falling_score);
    for (size_t i = 0; i < gold->link_count; i++) {
        right += gold->links[i].right;
        if ((double)right >= 0.99 * (double)(i + 1))
            right_at_99 = right;
    }
    *scores = (cog_link_scores){.known = gold->pair_count,
                                .links = gold->link_count,
                                .precision =
                                    gold->link_count ? (double)right / (double)gold->link_count : 0,
                                .recall = (double)right / known,
                                .recall_at_1 = (double)gold->right_firsts / known,
                                .recall_at_precision_99 = (double)right_at_99 / known};
}
