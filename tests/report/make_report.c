/* Makes reports for the browser test, and applies verdicts, by comparing all documents with all:
 * the result is plain to see, and none of it comes from the engine that dedup uses.
 *
 *     make_report page IN THRESHOLD OUT.html [VERDICTS]   the report of a file of documents
 *     make_report apply IN THRESHOLD VERDICTS             prints "id TAB kept id TAB similarity"
 *     make_report clusters COUNT OUT.html                 a report of COUNT clusters, made up */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "collection/corpus.h"
#include "jobs/dedup/report_page.h"
#include "jobs/dedup/verdicts.h"

static cog_status append(struct bytes_view text, struct buffer *id, cog_error *error) {
    return buffer_append(id, text.data, text.size) ? COG_OK
                                                   : error_memory(error, text.size, "an id");
}

static cog_status id_in_corpus(const void *context, uint32_t row, struct buffer *id,
                               cog_error *error) {
    return append(corpus_id(context, row), id, error);
}

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t *sorted_terms(struct corpus *corpus, uint32_t row) {
    return corpus->hashes + corpus->items[row].first_term;
}

static float jaccard(struct corpus *corpus, uint32_t a, uint32_t b) {
    const uint64_t *x = sorted_terms(corpus, a), *y = sorted_terms(corpus, b);
    size_t n = corpus->items[a].term_count, m = corpus->items[b].term_count, i = 0, j = 0, same = 0;
    while (i < n && j < m) {
        same += x[i] == y[j];
        uint64_t left = x[i];
        i += left <= y[j];
        j += y[j] <= left;
    }
    return n + m ? (float)same / (float)(n + m - same) : 0;
}

static cog_status similarity(void *context, uint32_t a, uint32_t b, float *value, bool *identical,
                             cog_error *error) {
    (void)error;
    *value = jaccard(context, a, b);
    *identical = *value == 1;
    return COG_OK;
}

/* Every row in falling order of length: it goes to the first kept row that is near enough. */
static void find_duplicates(struct corpus *corpus, struct duplicate_rows *rows, uint32_t *order) {
    for (uint32_t i = 0; i < rows->count; i++)
        order[i] = i;
    for (uint32_t i = 1; i < rows->count; i++) /* few documents */
        for (uint32_t j = i;
             j && corpus->items[order[j]].text_bytes > corpus->items[order[j - 1]].text_bytes;
             j--) {
            uint32_t swapped = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swapped;
        }
    for (uint32_t i = 0; i < rows->count; i++) {
        struct duplicate_row *row = &rows->rows[order[i]];
        for (uint32_t j = 0; j < i && row->kept_row == order[i]; j++) {
            float found = jaccard(corpus, order[i], order[j]);
            if (rows->rows[order[j]].kept_row != order[j] || (double)found < rows->threshold)
                continue;
            row->kept_row = order[j];
            row->cluster = rows->rows[order[j]].cluster = order[j];
            row->similarity = found;
            row->identical = found == 1;
        }
    }
    for (uint32_t a = 0; a < rows->count; a++)
        for (uint32_t b = 0; b < rows->count; b++) {
            struct duplicate_row *row = &rows->rows[a];
            float found = a == b || rows->rows[b].kept_row != b ? 0 : jaccard(corpus, a, b);
            if (found > row->nearest_similarity && (double)found >= rows->floor) {
                row->nearest_similarity = found;
                row->nearest_row = b;
            }
        }
}

static cog_status compare_all(struct corpus *corpus, double threshold, struct duplicate_rows *rows,
                              cog_error *error) {
    uint32_t *order;
    *rows = (struct duplicate_rows){.count = corpus->rows,
                                    .threshold = threshold,
                                    .floor = threshold - 0.2,
                                    .measure = "jaccard",
                                    .append_id = id_in_corpus,
                                    .id_context = corpus};
    TAKE_ZEROED(rows->rows, rows->count, "rows", error);
    TAKE(order, rows->count, "rows", error);
    for (uint32_t row = 0; row < rows->count; row++) {
        const struct corpus_row *item = &corpus->items[row];
        qsort(sorted_terms(corpus, row), item->term_count, sizeof(uint64_t), by_value);
        rows->rows[row] = (struct duplicate_row){.record = item->record,
                                                 .text_bytes = item->text_bytes,
                                                 .members = item->term_count,
                                                 .cluster = NO_ROW,
                                                 .kept_row = row,
                                                 .nearest_row = NO_ROW,
                                                 .reference_row = NO_ROW,
                                                 .similarity = 1,
                                                 .identical = true};
    }
    find_duplicates(corpus, rows, order);
    free(order);
    return duplicate_rows_number(rows, rows->count, error);
}

static void print_rows(const struct duplicate_rows *rows) {
    for (uint32_t row = 0; row < rows->count; row++) {
        struct bytes_view id = corpus_id(rows->id_context, row);
        struct bytes_view kept = corpus_id(rows->id_context, rows->rows[row].kept_row);
        printf("%.*s\t%.*s\t%.6f\n", (int)id.size, id.data, (int)kept.size, kept.data,
               (double)rows->rows[row].similarity);
    }
}

static cog_status judge(const char *path, struct corpus *corpus, struct duplicate_rows *rows,
                        cog_error *error) {
    struct verdicts *verdicts = NULL;
    cog_report *report = NULL;
    cog_status status = cog_report_create(&report, error);
    THEN(status, verdicts_read(path, &verdicts, error));
    THEN(status, verdicts_apply(verdicts, rows, similarity, corpus, report, error));
    for (size_t i = 0; report && i < cog_report_notice_count(report); i++)
        fprintf(stderr, "%s\n", cog_report_notice(report, i));
    verdicts_free(verdicts);
    cog_report_free(report);
    return status;
}

static cog_status run_on_documents(const char *in, double threshold, const char *page,
                                   const char *verdicts, cog_error *error) {
    struct corpus corpus = {0};
    struct duplicate_rows rows = {0};
    struct term_options terms;
    cog_documents *documents = NULL;
    cog_input_options input;
    static const char passage[] = "All rights reserved. <b>Subscribe</b> to our newsletter.";
    static const struct boilerplate boilerplate[] = {{{passage, sizeof passage - 1}, 1234}};
    cog_input_options_init(&input);
    term_options_init(&terms);
    terms.ngram = 3;
    terms.stem = terms.drop_stop_words = false;
    terms.language[0] = 0;
    cog_status status = cog_documents_open(&input, &in, 1, &documents, error);
    if (status == COG_OK)
        ingest_keep_pipes(documents);
    THEN(status, corpus_read(&corpus, documents,
                             &(struct corpus_options){.terms = &terms, .repeat_ids = true}, NULL,
                             NULL, error));
    THEN(status, compare_all(&corpus, threshold, &rows, error));
    rows.boilerplate = boilerplate;
    rows.boilerplate_count = 1;
    if (verdicts)
        THEN(status, judge(verdicts, &corpus, &rows, error));
    if (page)
        THEN(status, report_page_write(documents, &rows, page, NULL, NULL, error));
    else if (status == COG_OK)
        print_rows(&rows);
    cog_documents_close(documents);
    corpus_free(&corpus);
    free(rows.rows);
    return status;
}

/* ---- Many clusters --------------------------------------------------------------------------- */

enum { ID_BYTES = 48 };

static cog_status made_up_id(const void *context, uint32_t row, struct buffer *id,
                             cog_error *error) {
    const char *text = (const char *)context + (size_t)row * ID_BYTES;
    return append(view_of(text, strlen(text)), id, error);
}

static void fill_cluster(struct duplicate_rows *rows, uint32_t first, uint32_t size,
                         uint32_t cluster, struct random *random) {
    for (uint32_t row = first; row < first + size; row++) {
        bool identical = random_below(random, 3) == 0;
        rows->rows[row] = (struct duplicate_row){
            .record = row,
            .text_bytes = 60,
            .members = 400 + (uint32_t)random_below(random, 400),
            .cluster = cluster,
            .kept_row = first,
            .nearest_row = NO_ROW,
            .reference_row = NO_ROW,
            .similarity = row == first || identical ? 1 : (float)(0.8 + 0.2 * random_unit(random)),
            .identical = identical};
    }
}

static cog_status make_many(uint32_t clusters, const char *page, cog_error *error) {
    struct random random = random_seeded(7);
    struct duplicate_rows rows = {.cluster_count = clusters,
                                  .threshold = 0.8,
                                  .floor = 0.6,
                                  .measure = "jaccard",
                                  .append_id = made_up_id};
    size_t most = (size_t)clusters * 9;
    char *ids;
    cog_document *items;
    cog_documents *documents = NULL;
    TAKE_ZEROED(ids, most * ID_BYTES, "ids", error);
    TAKE_ZEROED(items, most, "documents", error);
    TAKE_ZEROED(rows.rows, most, "rows", error);
    for (uint32_t cluster = 0; cluster < clusters; cluster++) {
        uint32_t size = 2 + (uint32_t)random_below(&random, random_below(&random, 8) ? 2 : 8);
        fill_cluster(&rows, (uint32_t)rows.count, size, cluster, &random);
        rows.count += size;
    }
    for (size_t row = 0; row < rows.count; row++) {
        char *id = ids + row * ID_BYTES;
        snprintf(id, ID_BYTES, "https://example.org/page/%zu", row);
        items[row] = (cog_document){id, strlen(id), id, strlen(id), NULL, 0};
    }
    rows.id_context = ids;
    cog_status status = cog_documents_from_memory(items, rows.count, &documents, error);
    THEN(status, report_page_write(documents, &rows, page, NULL, NULL, error));
    cog_documents_close(documents);
    free(ids);
    free(items);
    free(rows.rows);
    return status;
}

int main(int argc, char **argv) {
    cog_error error = {0};
    cog_status status = COG_ERR_USAGE;
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "page") == 0 && (argc == 5 || argc == 6))
        status =
            run_on_documents(argv[2], atof(argv[3]), argv[4], argc == 6 ? argv[5] : NULL, &error);
    else if (strcmp(what, "apply") == 0 && argc == 5)
        status = run_on_documents(argv[2], atof(argv[3]), NULL, argv[4], &error);
    else if (strcmp(what, "clusters") == 0 && argc == 4)
        status = make_many((uint32_t)atoi(argv[2]), argv[3], &error);
    else
        fprintf(stderr, "usage: see the source\n");
    if (status != COG_OK)
        fprintf(stderr, "make_report: %s\n", error.message);
    return status != COG_OK;
}
