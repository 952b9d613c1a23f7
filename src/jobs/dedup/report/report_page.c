#include "jobs/dedup/report/report_page.h"

#include <string.h>

#include "base/hash.h"
#include "base/io/output.h"
#include "base/strings.h"
#include "input/documents/text_bytes.h"
#include "jobs/dedup/report/report_choice.h"
#include "jobs/dedup/report/report_texts.h"

enum {
    MILLION = 1000000, /* similarities in the page are integers, in millionths */
    BINS = 1000,       /* between similarities 0 and 1 */
    FLUSH_BYTES = 1 << 20,
    INPUT_NAMES = 5,
    BOILERPLATE_MOST = 50,
};

/* The JSON being written. After a failure nothing more is written. */
struct page {
    struct output *output;
    struct buffer json, id;
    cog_status status;
    cog_error *error;
};

/* ---- JSON ------------------------------------------------------------------------------------ */

/* '<' appears only in strings. Escaped, it can neither end the element nor start a comment. */
static void page_flush(struct page *page) {
    const char *at = page->json.data, *end = at + page->json.size;
    while (page->status == COG_OK && at < end) {
        const char *stop = memchr(at, '<', (size_t)(end - at));
        const char *plain_end = stop ? stop : end;
        page->status = output_write(page->output, at, (size_t)(plain_end - at), page->error);
        if (stop)
            THEN(page->status, output_write(page->output, "\\u003c", 6, page->error));
        at = plain_end + (stop != NULL);
    }
    buffer_reset(&page->json);
}

static void page_check(struct page *page, bool fits) {
    if (!fits && page->status == COG_OK)
        page->status = error_memory(page->error, page->json.size, "the report");
    if (page->json.size >= FLUSH_BYTES)
        page_flush(page);
}

static void put_text(struct page *page, const char *text) {
    page_check(page, buffer_append_text(&page->json, text));
}

static void put_string(struct page *page, struct bytes_view text) {
    page_check(page, json_append_string(&page->json, text));
}

/* Writes the id of a row of the input or of the reference collection. */
static void put_row_id(struct page *page, const struct duplicate_rows *rows,
                       append_row_id *append_id, uint32_t row) {
    buffer_reset(&page->id);
    THEN(page->status, append_id(rows->id_context, row, &page->id, page->error));
    put_string(page, view_of(page->id.data, page->id.size));
}

static void put_number(struct page *page, uint64_t number) {
    page_check(page, buffer_printf(&page->json, "%llu", (unsigned long long)number));
}

static void put_count(struct page *page, const char *name, uint64_t number) {
    page_check(page, buffer_printf(&page->json, "\"%s\":%llu,", name, (unsigned long long)number));
}

static uint64_t millionths(double similarity) {
    return similarity <= 0 ? 0 : (uint64_t)(similarity * MILLION + 0.5);
}

/* Writes an array; `put` writes its i-th element. */
static void put_array(struct page *page, const char *name, size_t count, const void *context,
                      void (*put)(struct page *page, const void *context, size_t i)) {
    page_check(page, buffer_printf(&page->json, "\"%s\":[", name));
    for (size_t i = 0; i < count; i++) {
        if (i)
            put_text(page, ",");
        put(page, context, i);
    }
    put_text(page, "]");
}

/* ---- The whole ------------------------------------------------------------------------------- */

struct totals {
    uint64_t kept, kept_known, identical, near, referred, removed_bytes, bytes;
    uint64_t key; /* identifies the result */
    uint64_t removed_bins[BINS + 1], kept_bins[BINS + 1], goes_bins[BINS + 1];
};

static size_t bin_of(float similarity) {
    double at = (double)similarity * BINS + 1e-3; /* 0.7f is slightly less than 0.7 */
    return at <= 0 ? 0 : at >= BINS ? BINS : (size_t)at;
}

static void count_kept(const struct duplicate_rows *rows, uint32_t row, struct totals *totals) {
    const struct duplicate_row *item = &rows->rows[row];
    size_t bin = bin_of(item->nearest_similarity);
    uint32_t nearest = item->nearest_row;
    totals->kept++;
    if (item->is_unknown)
        return;
    totals->kept_known++;
    totals->kept_bins[bin]++;
    if (nearest == NO_ROW)
        return;
    /* Of two documents that are each other's nearest, only one would be removed. */
    if (duplicate_rows_have_reference(rows) || row > nearest ||
        rows->rows[nearest].nearest_row != row)
        totals->goes_bins[bin]++;
}

/* If the nearest rows of only a sample are known, scales the counts to all kept rows. */
static void scale_up(struct totals *totals) {
    for (size_t bin = 0; bin <= BINS && totals->kept_known < totals->kept; bin++) {
        const double scale =
            (double)totals->kept / (double)(totals->kept_known + !totals->kept_known);
        totals->kept_bins[bin] = (uint64_t)((double)totals->kept_bins[bin] * scale);
        totals->goes_bins[bin] = (uint64_t)((double)totals->goes_bins[bin] * scale);
    }
}

static void count_rows(const struct duplicate_rows *rows, struct totals *totals) {
    *totals = (struct totals){.key = hash_mix(rows->count)};
    for (uint32_t row = 0; row < rows->count; row++) {
        const struct duplicate_row *item = &rows->rows[row];
        totals->bytes += item->text_bytes;
        totals->key = hash_pair(totals->key, hash_pair(item->text_bytes, item->kept_row));
        if (duplicate_row_is_kept(rows, row)) {
            count_kept(rows, row, totals);
            continue;
        }
        totals->removed_bytes += item->text_bytes;
        totals->referred += item->reference_row != NO_ROW;
        totals->identical += item->identical;
        totals->near += !item->identical;
        if (!item->identical) {
            float best = item->nearest_similarity > item->similarity ? item->nearest_similarity
                                                                     : item->similarity;
            totals->removed_bins[bin_of(best)]++;
        }
    }
    scale_up(totals);
}

static void put_bin(struct page *page, const void *context, size_t i) {
    put_number(page, ((const uint64_t *)context)[i]);
}

static void put_input(struct page *page, const void *context, size_t i) {
    const char *name = reader_file_name(context, (uint32_t)i);
    struct bytes_view shown = view_of_text(name);
    put_string(page, utf8_is_valid(shown.data, shown.size) ? shown : view_of("?", 1));
}

static void put_totals(struct page *page, const cog_documents *documents,
                       const struct duplicate_rows *rows, const struct totals *totals) {
    uint32_t files = documents->reader ? reader_file_count(documents->reader) : 0;
    put_text(page, "\"program\":\"cognate " COG_VERSION "\",\"measure\":");
    put_string(page, view_of_text(rows->measure));
    page_check(
        page, buffer_printf(&page->json, ",\"key\":\"%016llx\",", (unsigned long long)totals->key));
    put_count(page, "estimates", rows->estimates);
    put_count(page, "threshold", millionths(rows->threshold));
    put_count(page, "floor", millionths(rows->floor));
    put_count(page, "total", rows->count);
    put_count(page, "kept", totals->kept);
    put_count(page, "identical", totals->identical);
    put_count(page, "near", totals->near);
    put_count(page, "referred", totals->referred);
    put_count(page, "bytes", totals->bytes);
    put_count(page, "removedBytes", totals->removed_bytes);
    put_count(page, "clusterCount", rows->cluster_count);
    put_count(page, "keptCompared", totals->kept_known);
    put_count(page, "files", files);
    put_array(page, "inputs", files < INPUT_NAMES ? files : INPUT_NAMES, documents->reader,
              put_input);
    put_text(page, ",\"bins\":{");
    put_array(page, "removed", BINS + 1, totals->removed_bins, put_bin);
    put_text(page, ",");
    put_array(page, "kept", BINS + 1, totals->kept_bins, put_bin);
    put_text(page, ",");
    put_array(page, "goes", BINS + 1, totals->goes_bins, put_bin);
    put_text(page, "}");
}

/* ---- What is listed -------------------------------------------------------------------------- */

struct listing {
    const struct duplicate_rows *rows;
    const struct report_choice *choice;
    const struct report_texts *texts, *reference_texts;
};

static const struct duplicate_row *listed_row(const struct listing *listing, size_t i) {
    return &listing->rows->rows[listing->choice->documents[i]];
}

static void put_row(struct page *page, const void *context, size_t i) {
    put_number(page, ((const struct listing *)context)->choice->documents[i]);
}

static void put_id(struct page *page, const void *context, size_t i) {
    const struct listing *listing = context;
    put_row_id(page, listing->rows, listing->rows->append_id, listing->choice->documents[i]);
}

static void put_members(struct page *page, const void *context, size_t i) {
    put_number(page, listed_row(context, i)->members);
}

static void put_bytes(struct page *page, const void *context, size_t i) {
    put_number(page, listed_row(context, i)->text_bytes);
}

static void put_similarity(struct page *page, const void *context, size_t i) {
    put_number(page, millionths((double)listed_row(context, i)->similarity));
}

static void put_size(struct page *page, const void *context, size_t i) {
    put_number(page, ((const struct listing *)context)->choice->clusters[i].size);
}

static void put_listed(struct page *page, const void *context, size_t i) {
    put_number(page, ((const struct listing *)context)->choice->clusters[i].listed);
}

/* The number of listed documents identical to the survivor; they are last. */
static void put_identical(struct page *page, const void *context, size_t i) {
    const struct listing *listing = context;
    const struct listed_cluster *cluster = &listing->choice->clusters[i];
    uint32_t near = 1;
    while (near < cluster->listed && !listed_row(listing, cluster->first + near)->identical)
        near++;
    put_number(page, cluster->listed - near);
}

struct column {
    const char *name;
    void (*put)(struct page *page, const void *context, size_t i);
};

static void put_columns(struct page *page, const struct column *columns, size_t column_count,
                        size_t count, const struct listing *listing) {
    for (size_t i = 0; i < column_count; i++) {
        if (i)
            put_text(page, ",\n");
        put_array(page, columns[i].name, count, listing, columns[i].put);
    }
}

static void put_documents(struct page *page, const struct listing *listing) {
    static const struct column of_documents[] = {{"row", put_row},
                                                 {"id", put_id},
                                                 {"terms", put_members},
                                                 {"bytes", put_bytes},
                                                 {"similarity", put_similarity}};
    static const struct column of_clusters[] = {
        {"size", put_size}, {"listed", put_listed}, {"identical", put_identical}};
    put_text(page, ",\"documents\":{");
    put_columns(page, of_documents, sizeof of_documents / sizeof *of_documents,
                listing->choice->document_count, listing);
    put_text(page, "},\n\"clusters\":{");
    put_columns(page, of_clusters, sizeof of_clusters / sizeof *of_clusters,
                listing->choice->cluster_count, listing);
    put_text(page, "}");
}

/* ---- Pairs, references, boilerplate, texts --------------------------------------------------- */

static void put_pair(struct page *page, const void *context, size_t i) {
    const struct report_pair *pair = &((const struct report_pairs *)context)->pairs[i];
    page_check(page, buffer_printf(&page->json, "[%u,%u,%llu]", pair->a, pair->b,
                                   (unsigned long long)millionths((double)pair->similarity)));
}

static void put_reference(struct page *page, const struct listing *listing,
                          const struct report_pair *pair) {
    const struct duplicate_rows *rows = listing->rows;
    put_text(page, "[");
    put_row_id(page, rows, rows->append_reference_id, pair->a);
    page_check(page,
               buffer_printf(&page->json, ",%u,%llu,%d,%u]", pair->b,
                             (unsigned long long)millionths((double)pair->similarity),
                             rows->rows[listing->choice->documents[pair->b]].identical, pair->a));
}

static void put_removed_reference(struct page *page, const void *context, size_t i) {
    const struct listing *listing = context;
    put_reference(page, listing, &listing->choice->references.pairs[i]);
}

static void put_below_reference(struct page *page, const void *context, size_t i) {
    const struct listing *listing = context;
    put_reference(page, listing, &listing->choice->below.pairs[i]);
}

static void put_pairs(struct page *page, const struct listing *listing) {
    const struct report_choice *choice = listing->choice;
    put_text(page, ",\n");
    put_count(page, "belowFound", choice->below.found);
    put_count(page, "sampleFound", choice->sample.found);
    put_count(page, "referencesFound", choice->references.found);
    put_count(page, "hasReference", duplicate_rows_have_reference(listing->rows));
    if (duplicate_rows_have_reference(listing->rows))
        put_array(page, "below", choice->below.count, listing, put_below_reference);
    else
        put_array(page, "below", choice->below.count, &choice->below, put_pair);
    put_text(page, ",");
    put_array(page, "sample", choice->sample.count, &choice->sample, put_pair);
    put_text(page, ",");
    put_array(page, "references", choice->references.count, listing, put_removed_reference);
}

static void put_boilerplate(struct page *page, const void *context, size_t i) {
    const struct shared_passage *item = &((const struct shared_passage *)context)[i];
    put_text(page, "[");
    put_string(page, item->text);
    page_check(page, buffer_printf(&page->json, ",%llu]", (unsigned long long)item->documents));
}

/* Writes [number, size of the whole text, text] for the texts in the page. The number is a
 * position, or a row if `numbers` has rows. */
static void put_texts(struct page *page, const char *name, const struct report_texts *texts,
                      size_t count, const uint32_t *numbers) {
    const char *before = "[";
    page_check(page, buffer_printf(&page->json, ",\n\"%s\":[", name));
    for (size_t i = 0; i < count; i++) {
        const struct report_text *text = &texts->items[i];
        if (!text->found)
            continue;
        page_check(page, buffer_printf(&page->json, "%s%zu,%zu,", before,
                                       numbers ? (size_t)numbers[i] : i, text->whole_size));
        put_string(page, view_of(texts->bytes.data + text->at, text->size));
        put_text(page, "]");
        before = ",\n[";
    }
    put_text(page, "]");
}

static cog_status write_page(const cog_documents *documents, const struct listing *listing,
                             const struct totals *totals, const char *path, cog_error *error) {
    const struct duplicate_rows *rows = listing->rows;
    struct page page = {.error = error};
    size_t boilerplate =
        rows->boilerplate_count < BOILERPLATE_MOST ? rows->boilerplate_count : BOILERPLATE_MOST;
    page.status = output_open(path, &page.output, error);
    THEN(page.status, output_write(page.output, report_page_front, report_page_front_size, error));
    put_text(&page, "{");
    put_totals(&page, documents, rows, totals);
    put_documents(&page, listing);
    put_pairs(&page, listing);
    put_text(&page, ",\n");
    put_array(&page, "boilerplate", boilerplate, rows->boilerplate, put_boilerplate);
    put_texts(&page, "texts", listing->texts, listing->choice->document_count, NULL);
    put_texts(&page, "referenceTexts", listing->reference_texts, listing->choice->reference_count,
              listing->choice->reference_rows);
    put_text(&page, "}");
    page_flush(&page);
    THEN(page.status, output_write(page.output, report_page_back, report_page_back_size, error));
    THEN(page.status, output_commit(page.output, error));
    output_close(page.output);
    buffer_free(&page.json);
    buffer_free(&page.id);
    return page.status;
}

static cog_status read_texts(cog_documents *documents, const struct duplicate_rows *rows,
                             const struct report_choice *choice, const cog_run_options *run,
                             cog_report *report, struct report_texts *texts, cog_error *error) {
    struct wanted_text *wanted;
    size_t count = 0;
    TAKE(wanted, choice->document_count, "the texts of the report", error);
    for (uint32_t i = 0; i < choice->document_count; i++)
        if (choice->has_text[i])
            wanted[count++] = (struct wanted_text){rows->rows[choice->documents[i]].record, i};
    cog_status status = report_texts_read(documents, wanted, count, choice->document_count, run,
                                          report, texts, error);
    free(wanted);
    return status;
}

/* The counts in the report are those of the input, so this pass adds nothing to it. */
static cog_status read_reference_texts(const struct duplicate_rows *rows,
                                       const struct report_choice *choice,
                                       const cog_run_options *run, struct report_texts *texts,
                                       cog_error *error) {
    struct wanted_text *wanted;
    const size_t count = choice->reference_count;
    TAKE(wanted, count, "the texts of the report", error);
    for (uint32_t i = 0; i < count; i++)
        wanted[i] = (struct wanted_text){
            rows->reference_record(rows->id_context, choice->reference_rows[i]), i};
    cog_status status =
        report_texts_read(rows->reference, wanted, count, count, run, NULL, texts, error);
    free(wanted);
    return status;
}

cog_status report_page_write(cog_documents *documents, const struct duplicate_rows *rows,
                             const char *path, const cog_run_options *run, cog_report *report,
                             cog_error *error) {
    struct report_choice choice = {0};
    struct report_texts texts = {0}, reference_texts = {0};
    struct totals *totals = NULL;
    const struct listing listing = {rows, &choice, &texts, &reference_texts};
    cog_status status = TAKEN(totals, 1, "the report", error);
    THEN(status, report_choice_make(rows, &choice, error));
    THEN(status, read_texts(documents, rows, &choice, run, report, &texts, error));
    if (choice.reference_count)
        THEN(status, read_reference_texts(rows, &choice, run, &reference_texts, error));
    if (status == COG_OK) {
        count_rows(rows, totals);
        status = write_page(documents, &listing, totals, path, error);
    }
    free(totals);
    report_choice_free(&choice);
    report_texts_free(&texts);
    report_texts_free(&reference_texts);
    return status;
}
