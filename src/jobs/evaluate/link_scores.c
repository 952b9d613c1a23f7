#include "jobs/evaluate/link_scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "input/parallel/line_source.h"
#include "input/parallel/wiki_languages.h"
#include "jobs/evaluate/link_curves.h"
#include "jobs/evaluate/wiki_gold.h"

/* Ids are compared by hash: with 64 bits, two of a million ids collide once in 10^7 files. */
static uint64_t hash_of(struct bytes_view id) {
    return hash_bytes(id.data, id.size);
}

void link_gold_free(struct link_gold *gold) {
    FREE(gold->known, gold->links);
    *gold = (struct link_gold){0};
}

/* Call after lists have grown. */
static cog_status keep_limit(const struct link_gold *gold, cog_error *error) {
    uint64_t used =
        gold->known_capacity * sizeof *gold->known + gold->link_capacity * sizeof *gold->links;
    return gold->memory_bytes == 0 || used <= gold->memory_bytes
               ? COG_OK
               : error_about(error, COG_ERR_MEMORY, "memory_bytes",
                             "the links take more than the budget of %.1f MB; raise it",
                             (double)gold->memory_bytes / (1 << 20));
}

/* ---- Known links ----------------------------------------------------------------------------- */

static cog_status add_known(struct link_gold *gold, struct known_link link, cog_error *error) {
    GROW(gold->known, gold->known_capacity, gold->known_count + 1, "known links", error);
    gold->known[gold->known_count++] = link;
    return keep_limit(gold, error);
}

static int by_ids(const void *x, const void *y) {
    const struct known_link *a = x, *b = y;
    return a->from != b->from ? ORDER(a->from, b->from) : ORDER(a->to, b->to);
}

/* Sorts the known links and drops repeated ones. */
static void sort_known(struct link_gold *gold) {
    size_t kept = 0;
    if (gold->known_count)
        qsort(gold->known, gold->known_count, sizeof *gold->known, by_ids);
    for (size_t i = 0; i < gold->known_count; i++)
        if (kept == 0 || by_ids(&gold->known[kept - 1], &gold->known[i]) != 0)
            gold->known[kept++] = gold->known[i];
    gold->known_count = kept;
}

/* The documents of both sides: hashes of their ids, sorted. */
struct link_ids {
    const uint64_t *ids[2];
    size_t counts[2];
};

/* A line of two ids and perhaps more. */
struct link_line {
    struct buffer ids[2];
    struct bytes_view rest; /* data is NULL if nothing follows the ids */
    struct buffer title;
    const struct link_ids
        *documents; /* documents that known links may name by title; NULL: ids only */
};

static cog_status parse_line(struct link_line *parsed, struct bytes_view line,
                             const struct line_source *lines, const char *path, cog_error *error) {
    struct bytes_view from = take_field(&line, '\t');
    if (!line.data)
        return error_set_at(error, COG_ERR_INPUT, lines->line,
                            "%s:%llu: not a link; a link is two ids separated by a tab", path,
                            (unsigned long long)lines->line);
    struct bytes_view to = take_field(&line, '\t');
    parsed->rest = line;
    return unescape_into(&parsed->ids[0], from) && unescape_into(&parsed->ids[1], to)
               ? COG_OK
               : error_memory(error, from.size + to.size, "a link");
}

static struct bytes_view id_of(const struct link_line *line, int side) {
    return view_of(line->ids[side].data, line->ids[side].size);
}

static bool has_document(const struct link_ids *documents, int side, uint64_t hash) {
    size_t count = documents->counts[side];
    return count && bsearch(&hash, documents->ids[side], count, sizeof hash, compare_u64) != NULL;
}

/* The hash of an id of the line, or of the page with this title. */
static uint64_t line_hash(struct link_line *line, int side) {
    uint64_t hash = hash_of(id_of(line, side));
    if (!line->documents || has_document(line->documents, side, hash) ||
        !wiki_title(id_of(line, side), &line->title))
        return hash;
    uint64_t titled = hash_bytes(line->title.data, line->title.size);
    return has_document(line->documents, side, titled) ? titled : hash;
}

/* The error if no known link can be used; the message says where their ids occur. */
static cog_status mismatch_error(const struct link_gold *gold, const struct link_ids *documents,
                                 const char *path, cog_error *error) {
    size_t there[2][2] = {{0}}; /* [column][side] */
    for (size_t i = 0; i < gold->known_count; i++)
        for (int side = 0; side < 2; side++) {
            there[0][side] += has_document(documents, side, gold->known[i].from);
            there[1][side] += has_document(documents, side, gold->known[i].to);
        }
    if (there[0][1] > there[0][0] && there[1][0] > there[1][1])
        return error_set(error, COG_ERR_INPUT,
                         "%s: the ids of its first column are in the second collection, and those "
                         "of the second in the first: swap the columns",
                         path);
    return error_set(error, COG_ERR_INPUT,
                     "%s: none of its %zu known link%s is between documents of the two collections "
                     "(%zu id%s of the first column %s in the first, %zu of the second in the "
                     "second)",
                     path, gold->known_count, plural(gold->known_count, "", "s"), there[0][0],
                     plural(there[0][0], "", "s"), plural(there[0][0], "is", "are"), there[1][1]);
}

static cog_status empty_error(const char *path, cog_error *error) {
    return error_set(error, COG_ERR_INPUT,
                     "%s: no known links; use a file with two ids per line, separated by a tab "
                     "(or a dump whose pages name their partners, as none since 2013 do)",
                     path);
}

/* Drops and counts known links between documents that do not exist. */
static cog_status keep_present(struct link_gold *gold, const struct link_ids *documents,
                               const char *path, cog_error *error) {
    size_t kept = 0, before = gold->known_count;
    if (before == 0)
        return empty_error(path, error);
    for (size_t i = 0; i < before; i++) {
        struct known_link link = gold->known[i];
        if (!has_document(documents, 0, link.from) || !has_document(documents, 1, link.to))
            continue;
        gold->known[i] = gold->known[kept];
        gold->known[kept++] = link;
    }
    if (kept == 0)
        return mismatch_error(gold, documents, path, error);
    gold->absent = before - kept;
    gold->known_count = kept;
    return COG_OK;
}

/* ---- Links that were found ------------------------------------------------------------------- */

static int by_from(const void *x, const void *y) {
    uint64_t a = ((const struct known_link *)x)->from, b = ((const struct known_link *)y)->from;
    return ORDER(a, b);
}

static bool has_source(const struct link_gold *gold, uint64_t from) {
    struct known_link link = {from, 0};
    return gold->known_count &&
           bsearch(&link, gold->known, gold->known_count, sizeof link, by_from) != NULL;
}

cog_status link_gold_take(struct link_gold *gold, struct bytes_view from, struct bytes_view to,
                          double score, float probability, bool is_first, cog_error *error) {
    struct known_link link = {hash_of(from), hash_of(to)};
    bool right = gold->known_count && bsearch(&link, gold->known, gold->known_count,
                                              sizeof *gold->known, by_ids) != NULL;
    if (is_first) {
        gold->right_firsts += right;
        return COG_OK;
    }
    GROW(gold->links, gold->link_capacity, gold->link_count + 1, "judged links", error);
    gold->links[gold->link_count++] = (struct judged_link){link.from, score, probability, right};
    gold->judged += has_source(gold, link.from);
    return keep_limit(gold, error);
}

static bool is_header(const struct link_line *line, uint64_t number) {
    const struct buffer *from = &line->ids[0], *to = &line->ids[1];
    return number == 1 && view_is(view_of(from->data, from->size), "from") &&
           view_is(view_of(to->data, to->size), "to");
}

static cog_status number_error(const char *path, uint64_t number, struct bytes_view field,
                               const char *what, cog_error *error) {
    return error_set_at(error, COG_ERR_INPUT, number, "%s:%llu: '%.*s' is no %s", path,
                        (unsigned long long)number, (int)(field.size < 60 ? field.size : 60),
                        field.data, what);
}

/* Parses what follows the ids: similarity, score and probability. With fewer columns, the last is
 * the score; with none, all links are equally good. */
static cog_status take_line(struct link_gold *gold, struct link_line *line, const char *path,
                            uint64_t number, cog_error *error) {
    struct bytes_view rest = line->rest, last = {0};
    double score = 0, probability = NAN;
    if (is_header(line, number))
        return COG_OK;
    for (int column = 0; column < 2 && rest.data; column++)
        last = take_field(&rest, '\t');
    if (last.size && !number_parse(last, &score))
        return number_error(path, number, last, "score", error);
    if (rest.data) {
        last = take_field(&rest, '\t');
        if (!number_parse(last, &probability) || probability < 0 || probability > 1)
            return number_error(path, number, last, "probability from 0 to 1", error);
    }
    return link_gold_take(gold, id_of(line, 0), id_of(line, 1), score, (float)probability, false,
                          error);
}

/* Reads a file of links: known links, or with `judge` links to be judged. */
static cog_status read_links(struct link_gold *gold, const char *path,
                             const struct link_ids *documents, bool judge, cog_error *error) {
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
        THEN(status,
             judge ? take_line(gold, &parsed, path, lines.line, error)
                   : add_known(gold,
                               (struct known_link){line_hash(&parsed, 0), line_hash(&parsed, 1)},
                               error));
    }
    line_source_close(&lines);
    buffer_free(&parsed.ids[0]);
    buffer_free(&parsed.ids[1]);
    buffer_free(&parsed.title);
    return status;
}

cog_status link_gold_read(struct link_gold *gold, const char *path, cog_error *error) {
    TRY(read_links(gold, path, NULL, false, error));
    sort_known(gold);
    return COG_OK;
}

static int by_falling_score(const void *x, const void *y) {
    const struct judged_link *a = x, *b = y;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return (int)a->right - (int)b->right; /* count ties against the result */
}

static int by_source(const void *x, const void *y) {
    const struct judged_link *a = x, *b = y;
    return a->from != b->from ? ORDER(a->from, b->from) : by_falling_score(x, y);
}

/* Judges the links of a file. The first choice of a source is its link with the highest score. */
static cog_status take_file(struct link_gold *gold, const char *path, cog_error *error) {
    TRY(read_links(gold, path, NULL, true, error));
    if (gold->link_count)
        qsort(gold->links, gold->link_count, sizeof *gold->links, by_source);
    for (size_t i = 0; i < gold->link_count; i++)
        if (i == 0 || gold->links[i].from != gold->links[i - 1].from)
            gold->right_firsts += gold->links[i].right;
    return COG_OK;
}

/* Whether the sources of the links are in the second column of the known links. Reorders the known
 * links. */
static bool sources_are_targets(struct link_gold *gold) {
    for (size_t i = 0; i < gold->known_count; i++)
        gold->known[i] = (struct known_link){gold->known[i].to, gold->known[i].from};
    sort_known(gold);
    for (size_t i = 0; i < gold->link_count; i++)
        if (has_source(gold, gold->links[i].from))
            return true;
    return false;
}

/* COG_ERR_INPUT if the known links match none of the judged links. */
static cog_status check_known(struct link_gold *gold, const char *path, cog_error *error) {
    if (gold->known_count == 0)
        return empty_error(path, error);
    if (gold->link_count == 0 || gold->judged > 0)
        return COG_OK;
    return error_set(error, COG_ERR_INPUT,
                     "%s: none of its first ids is a source of the links to judge%s", path,
                     sources_are_targets(gold) ? ", but its second ids are: swap the columns" : "");
}

/* ---- Scores ---------------------------------------------------------------------------------- */

void link_gold_scores(struct link_gold *gold, cog_link_scores *scores) {
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
                                .absent = gold->absent,
                                .precision =
                                    gold->link_count ? (double)right / (double)gold->link_count : 0,
                                .recall = (double)right / known,
                                .recall_at_1 = (double)gold->right_firsts / known,
                                .recall_at_precision_99 = (double)right_at_99 / known};
}

/* ---- Known links from a dump ----------------------------------------------------------------- */

struct dump_reading {
    struct link_gold *gold;
    const char *from, *to; /* languages */
    struct reader *reader;
    struct record_parser *parser;
    struct record_batch batch;
    struct wiki_language_links links;
};

/* Adds the partner that a page names in the other language. The dump may be in either language, as
 * a page has no link to its own. */
static cog_status add_page(struct dump_reading *reading, const struct document *page,
                           cog_error *error) {
    struct bytes_view code, title;
    cog_status status = COG_OK;
    reading->links.rest = page->raw;
    while (status == COG_OK && wiki_language_link_next(&reading->links, &code, &title)) {
        if (view_is(code, reading->to))
            status = add_known(reading->gold,
                               (struct known_link){hash_of(page->id), hash_of(title)}, error);
        else if (view_is(code, reading->from))
            status = add_known(reading->gold,
                               (struct known_link){hash_of(title), hash_of(page->id)}, error);
    }
    return status;
}

static cog_status read_pages(struct dump_reading *reading, cog_error *error) {
    cog_status status = record_parser_create(reading->reader, &reading->parser, error);
    bool end = false;
    while (status == COG_OK && !end) {
        status = reader_fill(reading->reader, &reading->batch, &end, error);
        for (size_t i = 0; i < reading->batch.count && status == COG_OK && !end; i++) {
            struct document page;
            struct bad_record bad;
            status = reader_parse(reading->parser, &reading->batch, i, &page, &bad, error);
            if (status == COG_OK)
                status = add_page(reading, &page, error);
            else if (status == COG_ERR_INPUT)
                status = COG_OK; /* linking has reported the bad page */
        }
    }
    return status;
}

static cog_status read_dump(struct link_gold *gold, const char *path,
                            const struct link_space *space, cog_error *error) {
    struct dump_reading reading = {
        .gold = gold, .from = space->terms[0].language, .to = space->terms[1].language};
    struct reader_options options;
    reader_options_init(&options);
    options.format = INPUT_WIKIXML;
    cog_status status = reader_open(&options, &path, 1, &reading.reader, error);
    THEN(status, read_pages(&reading, error));
    record_batch_free(&reading.batch);
    record_parser_free(reading.parser);
    reader_close(reading.reader);
    buffer_free(&reading.links.title);
    return status;
}

/* ---- Whole evaluations ----------------------------------------------------------------------- */

/* The hashes of all ids, sorted; NULL if out of memory. */
static uint64_t *hash_ids(const struct corpus *corpus) {
    uint64_t *hashes = memory_array(corpus->rows + 1, sizeof *hashes);
    for (size_t row = 0; hashes && row < corpus->rows; row++)
        hashes[row] = hash_of(corpus_id(corpus, row));
    if (hashes && corpus->rows)
        qsort(hashes, corpus->rows, sizeof *hashes, compare_u64);
    return hashes;
}

static cog_status table_error(const char *path, cog_error *error) {
    return error_set(
        error, COG_ERR_INPUT,
        "%s: a table of language links has numbers of pages: write the links to a file "
        "and evaluate it with the dumps of both languages",
        path);
}

/* Reads known links and keeps those between documents of the two collections. */
static cog_status read_known(struct link_gold *gold, const cog_links *links, const char *path,
                             cog_error *error) {
    const struct corpus *corpora = links->space.corpora;
    uint64_t *from = hash_ids(&corpora[0]), *to = hash_ids(&corpora[1]);
    struct link_ids documents = {{from, to}, {corpora[0].rows, corpora[1].rows}};
    cog_status status =
        from && to ? COG_OK : error_memory(error, corpora[0].rows * sizeof *from, "ids");
    if (status == COG_OK && name_ends_in(path, WIKI_TABLE_ENDING))
        status = table_error(path, error);
    THEN(status, input_format_of_name(path) == INPUT_WIKIXML
                     ? read_dump(gold, path, &links->space, error)
                     : read_links(gold, path, &documents, false, error));
    sort_known(gold);
    THEN(status, keep_present(gold, &documents, path, error));
    FREE(from, to);
    return status;
}

static cog_status take_links(struct link_gold *gold, const cog_links *links,
                             const struct link *items, size_t count, bool first, cog_error *error) {
    for (size_t i = 0; i < count; i++)
        TRY(link_gold_take(gold, corpus_id(&links->space.corpora[0], items[i].from),
                           corpus_id(&links->space.corpora[1], items[i].to), (double)items[i].score,
                           items[i].probability, first, error));
    return COG_OK;
}

cog_status evaluate_links(const cog_links *links, const char *gold_path, cog_link_scores *scores,
                          cog_error *error) {
    struct link_gold gold = {0};
    cog_status status = read_known(&gold, links, gold_path, error);
    THEN(status, take_links(&gold, links, links->firsts, links->first_count, true, error));
    THEN(status, take_links(&gold, links, links->items, links->count, false, error));
    if (status == COG_OK)
        link_gold_scores(&gold, scores);
    link_gold_free(&gold);
    return status;
}

/* Reads known links from a wiki's table; the dumps have the titles of its pages. */
static cog_status read_table(struct link_gold *gold, const char *path, const char *const dumps[2],
                             cog_error *error) {
    struct wiki_gold wiki = {0};
    bool end = false;
    cog_status status = wiki_gold_open(&wiki, path, dumps, error);
    while (status == COG_OK && !end) {
        struct known_link link = {0, 0};
        status = wiki_gold_next(&wiki, &link.from, &link.to, &end, error);
        if (status == COG_OK && !end)
            status = add_known(gold, link, error);
    }
    if (status == COG_OK && gold->known_count == 0)
        status = error_set(error, COG_ERR_INPUT,
                           "%s: none of its %llu rows (%llu of them damaged) links articles of %s "
                           "and %s: take the table of one of the two wikis, of the same day",
                           path, (unsigned long long)(wiki.links.rows + wiki.links.bad_rows),
                           (unsigned long long)wiki.links.bad_rows, wiki.pages[0].language,
                           wiki.pages[1].language);
    wiki_gold_close(&wiki);
    sort_known(gold);
    return status;
}

cog_status evaluate_link_file(const char *found, const char *gold_path, const char *const dumps[2],
                              const char *calibration, const char *curve, uint64_t memory_bytes,
                              cog_link_scores *scores, cog_error *error) {
    struct link_gold gold = {.memory_bytes = memory_bytes};
    cog_status status = dumps ? read_table(&gold, gold_path, dumps, error)
                        : name_ends_in(gold_path, WIKI_TABLE_ENDING)
                            ? table_error(gold_path, error)
                            : link_gold_read(&gold, gold_path, error);
    THEN(status, take_file(&gold, found, error));
    THEN(status, check_known(&gold, gold_path, error));
    if (status == COG_OK && (calibration || curve))
        status = link_curves_write(&gold, found, calibration, curve, error);
    if (status == COG_OK)
        link_gold_scores(&gold, scores);
    link_gold_free(&gold);
    return status;
}
