/* Links against known ones: from a file of ids, or as the pages of a wiki name each other. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "input/parallel/wiki_languages.h"
#include "jobs/evaluate/link_scores.h"
#include "jobs/link/link_job.h"

/* ---- Known links from a dump ----------------------------------------------------------------- */

struct dump_reading {
    struct link_gold *gold;
    const char *from, *to; /* languages */
    struct reader *reader;
    struct record_parser *parser;
    struct record_batch batch;
    struct wiki_language_links links;
};

static bool is_code(struct bytes_view code, const char *language) {
    return code.size == strlen(language) && memcmp(code.data, language, code.size) == 0;
}

/* A page of the one language names its partner of the other; a dump of either will do, for a page
 * has no link to its own language. */
static cog_status add_page(struct dump_reading *reading, const struct document *page,
                           cog_error *error) {
    struct bytes_view code, title;
    cog_status status = COG_OK;
    reading->links.rest = page->raw;
    while (status == COG_OK && wiki_language_link_next(&reading->links, &code, &title)) {
        if (is_code(code, reading->to))
            status = link_gold_add(reading->gold, page->id, title, error);
        else if (is_code(code, reading->from))
            status = link_gold_add(reading->gold, title, page->id, error);
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
                status = COG_OK; /* linking has named the bad page */
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

/* ---- Scores ---------------------------------------------------------------------------------- */

static int by_number(const void *x, const void *y) {
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* Sorted; NULL when memory is out. */
static uint64_t *hash_ids(const struct corpus *corpus) {
    uint64_t *hashes = memory_array(corpus->rows + 1, sizeof *hashes);
    for (size_t row = 0; hashes && row < corpus->rows; row++) {
        struct bytes_view id = corpus_id(corpus, row);
        hashes[row] = hash_bytes(id.data, id.size);
    }
    if (hashes && corpus->rows)
        qsort(hashes, corpus->rows, sizeof *hashes, by_number);
    return hashes;
}

static cog_status take_links(struct link_gold *gold, const cog_links *links,
                             const struct link *items, size_t count, bool first, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; i < count && status == COG_OK; i++)
        status = link_gold_take(gold, corpus_id(&links->space.corpora[0], items[i].from),
                                corpus_id(&links->space.corpora[1], items[i].to),
                                (double)items[i].score, first, error);
    return status;
}

/* Known links between documents that there are. */
static cog_status read_known(struct link_gold *gold, const cog_links *links, const char *path,
                             uint64_t *absent, cog_error *error) {
    const struct corpus *corpora = links->space.corpora;
    uint64_t *from = hash_ids(&corpora[0]), *to = hash_ids(&corpora[1]);
    struct link_ids documents = {{from, to}, {corpora[0].rows, corpora[1].rows}};
    cog_status status =
        from && to ? COG_OK : error_memory(error, corpora[0].rows * sizeof *from, "ids");
    THEN(status, input_format_of_name(path) == INPUT_WIKIXML
                     ? read_dump(gold, path, &links->space, error)
                     : link_gold_read_titles(gold, path, &documents, error));
    THEN(status, link_gold_keep(gold, &documents, path, absent, error));
    free(from);
    free(to);
    return status;
}

cog_status cog_links_score(const cog_links *links, const char *gold_path, cog_link_scores *scores,
                           cog_error *error) {
    struct link_gold *gold = NULL;
    uint64_t absent = 0;
    cog_status status = link_gold_create(&gold, error);
    THEN(status, read_known(gold, links, gold_path, &absent, error));
    THEN(status, take_links(gold, links, links->firsts, links->first_count, true, error));
    THEN(status, take_links(gold, links, links->items, links->count, false, error));
    if (status == COG_OK) {
        link_gold_scores(gold, scores);
        scores->absent = absent;
    }
    link_gold_free(gold);
    return status;
}

cog_status cog_evaluate_link_file(const char *found, const char *gold_path,
                                  const cog_run_options *run, cog_link_scores *scores,
                                  cog_error *error) {
    struct link_gold *gold = NULL;
    cog_status status = link_gold_create(&gold, error);
    if (status == COG_OK)
        link_gold_limit(gold, run ? run->memory_bytes : 0);
    THEN(status, link_gold_read(gold, gold_path, error));
    THEN(status, link_gold_take_file(gold, found, error));
    THEN(status, link_gold_check(gold, gold_path, error));
    if (status == COG_OK)
        link_gold_scores(gold, scores);
    link_gold_free(gold);
    return status;
}
