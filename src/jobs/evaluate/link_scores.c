#include "jobs/evaluate/link_scores.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "input/parallel/line_source.h"
#include "input/parallel/wiki_languages.h"

/* Ids by hash: with 64 bits two of a million meet once in 10^7 files. */
struct known_link {
    uint64_t from, to;
};

struct judged_link {
    uint64_t from;
    double score;
    bool right;
};

struct link_gold {
    struct known_link *known; /* sorted, each once, when `sealed` */
    size_t known_count, known_capacity;
    bool sealed;
    struct judged_link *links;
    size_t link_count, link_capacity;
    uint64_t right_firsts, judged;
    uint64_t memory_bytes; /* that may be taken; 0: any */
};

static uint64_t hash_of(struct bytes_view id) {
    return hash_bytes(id.data, id.size);
}

cog_status link_gold_create(struct link_gold **gold, cog_error *error) {
    *gold = calloc(1, sizeof **gold);
    return *gold ? COG_OK : error_memory(error, sizeof **gold, "known links");
}

void link_gold_free(struct link_gold *gold) {
    if (!gold)
        return;
    free(gold->known);
    free(gold->links);
    free(gold);
}

void link_gold_limit(struct link_gold *gold, uint64_t memory_bytes) {
    gold->memory_bytes = memory_bytes;
}

/* After lists have grown. */
static cog_status keep_limit(const struct link_gold *gold, cog_error *error) {
    uint64_t used =
        gold->known_capacity * sizeof *gold->known + gold->link_capacity * sizeof *gold->links;
    return gold->memory_bytes == 0 || used <= gold->memory_bytes
               ? COG_OK
               : error_set(error, COG_ERR_MEMORY,
                           "the links take more than the budget of %.1f MB; raise --memory",
                           (double)gold->memory_bytes / (1 << 20));
}

/* ---- Known links ----------------------------------------------------------------------------- */

static cog_status add_known(struct link_gold *gold, struct known_link link, cog_error *error) {
    if (!memory_grow((void **)&gold->known, &gold->known_capacity, gold->known_count + 1,
                     sizeof *gold->known))
        return error_memory(error, gold->known_count * sizeof *gold->known, "known links");
    gold->known[gold->known_count++] = link;
    gold->sealed = false;
    return keep_limit(gold, error);
}

cog_status link_gold_add(struct link_gold *gold, struct bytes_view from, struct bytes_view to,
                         cog_error *error) {
    return add_known(gold, (struct known_link){hash_of(from), hash_of(to)}, error);
}

static int by_ids(const void *x, const void *y) {
    const struct known_link *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static void seal(struct link_gold *gold) {
    size_t kept = 0;
    if (gold->sealed)
        return;
    gold->sealed = true;
    if (gold->known_count)
        qsort(gold->known, gold->known_count, sizeof *gold->known, by_ids);
    for (size_t i = 0; i < gold->known_count; i++)
        if (kept == 0 || by_ids(&gold->known[kept - 1], &gold->known[i]) != 0)
            gold->known[kept++] = gold->known[i];
    gold->known_count = kept;
}

/* A line of two ids and perhaps more. */
struct link_line {
    struct buffer ids[2];
    struct bytes_view rest; /* data NULL where nothing follows the ids */
    struct buffer title;
    const struct link_ids *documents; /* that known links may name as titles; NULL: ids only */
};

static cog_status parse_line(struct link_line *parsed, struct bytes_view line,
                             const struct line_source *lines, const char *path, cog_error *error) {
    struct bytes_view from = take_field(&line, '\t');
    if (!line.data)
        return error_set_at(error, COG_ERR_INPUT, lines->line,
                            "%s:%llu: links are two ids with a tab between them", path,
                            (unsigned long long)lines->line);
    struct bytes_view to = take_field(&line, '\t');
    parsed->rest = line;
    return unescape_into(&parsed->ids[0], from) && unescape_into(&parsed->ids[1], to)
               ? COG_OK
               : error_memory(error, from.size + to.size, "a link");
}

typedef cog_status line_work(struct link_gold *gold, struct link_line *line, const char *path,
                             uint64_t number, cog_error *error);

static cog_status read_links(struct link_gold *gold, const char *path, line_work *work,
                             const struct link_ids *documents, cog_error *error) {
    struct line_source lines = {0};
    struct link_line parsed = {.documents = documents};
    bool end = false;
    cog_status status = line_source_open(&lines, path, error);
    while (status == COG_OK && !end) {
        struct bytes_view line;
        status = line_source_next(&lines, &line, &end, error);
        if (status != COG_OK || end || line.size == 0)
            continue;
        status = parse_line(&parsed, line, &lines, path, error);
        THEN(status, work(gold, &parsed, path, lines.line, error));
    }
    line_source_close(&lines);
    buffer_free(&parsed.ids[0]);
    buffer_free(&parsed.ids[1]);
    buffer_free(&parsed.title);
    return status;
}

static struct bytes_view id_of(const struct link_line *line, int side) {
    return view_of(line->ids[side].data, line->ids[side].size);
}

static int by_number(const void *x, const void *y) {
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

static bool has_number(const uint64_t *numbers, size_t count, uint64_t number) {
    return count && bsearch(&number, numbers, count, sizeof number, by_number) != NULL;
}

static bool has_document(const struct link_ids *documents, int side, uint64_t hash) {
    return has_number(documents->ids[side], documents->counts[side], hash);
}

/* The hash of an id of the line, or of the page that has it for a title. */
static uint64_t line_hash(struct link_line *line, int side) {
    uint64_t hash = hash_of(id_of(line, side));
    if (!line->documents || has_document(line->documents, side, hash) ||
        !wiki_title(id_of(line, side), &line->title))
        return hash;
    uint64_t titled = hash_bytes(line->title.data, line->title.size);
    return has_document(line->documents, side, titled) ? titled : hash;
}

static cog_status add_line(struct link_gold *gold, struct link_line *line, const char *path,
                           uint64_t number, cog_error *error) {
    (void)path;
    (void)number;
    return add_known(gold, (struct known_link){line_hash(line, 0), line_hash(line, 1)}, error);
}

cog_status link_gold_read(struct link_gold *gold, const char *path, cog_error *error) {
    return read_links(gold, path, add_line, NULL, error);
}

cog_status link_gold_read_titles(struct link_gold *gold, const char *path,
                                 const struct link_ids *documents, cog_error *error) {
    return read_links(gold, path, add_line, documents, error);
}

/* Says why none of the known links is of use, by where their ids are. */
static cog_status tell_mismatch(const struct link_gold *gold, const struct link_ids *documents,
                                const char *path, cog_error *error) {
    size_t there[2][2] = {{0}}; /* of column c, in side s */
    for (size_t i = 0; i < gold->known_count; i++)
        for (int side = 0; side < 2; side++) {
            there[0][side] += has_document(documents, side, gold->known[i].from);
            there[1][side] += has_document(documents, side, gold->known[i].to);
        }
    if (there[0][1] > there[0][0] && there[1][0] > there[1][1])
        return error_set(error, COG_ERR_INPUT,
                         "%s: the ids of its first column are in the second collection, and those "
                         "of the second in the first: exchange the columns",
                         path);
    return error_set(error, COG_ERR_INPUT,
                     "%s: none of its %zu known link%s is between documents of the two collections "
                     "(%zu id%s of the first column %s in the first, %zu of the second in the "
                     "second)",
                     path, gold->known_count, plural(gold->known_count, "", "s"), there[0][0],
                     plural(there[0][0], "", "s"), plural(there[0][0], "is", "are"), there[1][1]);
}

static cog_status tell_empty(const char *path, cog_error *error) {
    return error_set(error, COG_ERR_INPUT,
                     "%s: no known links; it should have two ids a line, with a tab between them "
                     "(or be a dump whose pages name their partners, as none since 2013 do)",
                     path);
}

cog_status link_gold_keep(struct link_gold *gold, const struct link_ids *documents,
                          const char *path, uint64_t *absent, cog_error *error) {
    seal(gold);
    size_t kept = 0, before = gold->known_count;
    if (before == 0)
        return tell_empty(path, error);
    for (size_t i = 0; i < before; i++) {
        struct known_link link = gold->known[i];
        if (!has_document(documents, 0, link.from) || !has_document(documents, 1, link.to))
            continue;
        gold->known[i] = gold->known[kept];
        gold->known[kept++] = link;
    }
    if (kept == 0)
        return tell_mismatch(gold, documents, path, error);
    *absent = before - kept;
    gold->known_count = kept;
    return COG_OK;
}

/* ---- Links that were found ------------------------------------------------------------------- */

static int by_from(const void *x, const void *y) {
    uint64_t a = ((const struct known_link *)x)->from, b = ((const struct known_link *)y)->from;
    return (a > b) - (a < b);
}

static bool has_source(const struct link_gold *gold, uint64_t from) {
    struct known_link link = {from, 0};
    return gold->known_count &&
           bsearch(&link, gold->known, gold->known_count, sizeof link, by_from) != NULL;
}

cog_status link_gold_take(struct link_gold *gold, struct bytes_view from, struct bytes_view to,
                          double score, bool is_first, cog_error *error) {
    seal(gold);
    struct known_link link = {hash_of(from), hash_of(to)};
    bool right = gold->known_count && bsearch(&link, gold->known, gold->known_count,
                                              sizeof *gold->known, by_ids) != NULL;
    if (is_first) {
        gold->right_firsts += right;
        return COG_OK;
    }
    if (!memory_grow((void **)&gold->links, &gold->link_capacity, gold->link_count + 1,
                     sizeof *gold->links))
        return error_memory(error, gold->link_count * sizeof *gold->links, "judged links");
    gold->links[gold->link_count++] = (struct judged_link){link.from, score, right};
    gold->judged += has_source(gold, link.from);
    return keep_limit(gold, error);
}

/* The last of the columns behind the ids is the score; without any, all are equally good. */
static cog_status take_line(struct link_gold *gold, struct link_line *line, const char *path,
                            uint64_t number, cog_error *error) {
    struct bytes_view rest = line->rest, field = {0};
    double score = 0;
    if (number == 1 && line->ids[0].size == 4 && memcmp(line->ids[0].data, "from", 4) == 0 &&
        line->ids[1].size == 2 && memcmp(line->ids[1].data, "to", 2) == 0)
        return COG_OK;
    while (rest.data)
        field = take_field(&rest, '\t');
    if (field.size && !number_parse(field, &score))
        return error_set_at(error, COG_ERR_INPUT, number, "%s:%llu: '%.*s' is no score", path,
                            (unsigned long long)number, (int)(field.size < 60 ? field.size : 60),
                            field.data);
    return link_gold_take(gold, id_of(line, 0), id_of(line, 1), score, false, error);
}

static int by_source(const void *x, const void *y) {
    const struct judged_link *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return (int)a->right - (int)b->right; /* ties are counted against the result */
}

cog_status link_gold_take_file(struct link_gold *gold, const char *path, cog_error *error) {
    cog_status status = read_links(gold, path, take_line, NULL, error);
    if (status == COG_OK && gold->link_count)
        qsort(gold->links, gold->link_count, sizeof *gold->links, by_source);
    for (size_t i = 0; i < gold->link_count && status == COG_OK; i++)
        if (i == 0 || gold->links[i].from != gold->links[i - 1].from)
            gold->right_firsts += gold->links[i].right;
    return status;
}

/* Whether the sources of the links stand in the second column of the known ones, whose order is
 * then of no use any more. */
static bool sources_are_targets(struct link_gold *gold) {
    for (size_t i = 0; i < gold->known_count; i++)
        gold->known[i] = (struct known_link){gold->known[i].to, gold->known[i].from};
    gold->sealed = false;
    seal(gold);
    for (size_t i = 0; i < gold->link_count; i++)
        if (has_source(gold, gold->links[i].from))
            return true;
    return false;
}

cog_status link_gold_check(struct link_gold *gold, const char *path, cog_error *error) {
    seal(gold);
    if (gold->known_count == 0)
        return tell_empty(path, error);
    if (gold->link_count == 0 || gold->judged > 0)
        return COG_OK;
    return error_set(
        error, COG_ERR_INPUT, "%s: none of its first ids is a source of the links to judge%s", path,
        sources_are_targets(gold) ? ", but its second ids are: exchange the columns" : "");
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static int by_falling_score(const void *x, const void *y) {
    const struct judged_link *a = x, *b = y;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return (int)a->right - (int)b->right; /* ties are counted against the result */
}

void link_gold_scores(struct link_gold *gold, cog_link_scores *scores) {
    seal(gold);
    double known = gold->known_count ? (double)gold->known_count : 1;
    uint64_t right = 0, right_at_99 = 0;
    if (gold->link_count)
        qsort(gold->links, gold->link_count, sizeof *gold->links, by_falling_score);
    for (size_t i = 0; i < gold->link_count; i++) {
        right += gold->links[i].right;
        if ((double)right >= 0.99 * (double)(i + 1))
            right_at_99 = right;
    }
    *scores = (cog_link_scores){.known = gold->known_count,
                                .links = gold->link_count,
                                .right = right,
                                .judged = gold->judged,
                                .precision =
                                    gold->link_count ? (double)right / (double)gold->link_count : 0,
                                .recall = (double)right / known,
                                .recall_at_1 = (double)gold->right_firsts / known,
                                .recall_at_precision_99 = (double)right_at_99 / known};
}
