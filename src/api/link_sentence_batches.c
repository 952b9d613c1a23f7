/* Batches: the public functions of cognate_batch.h that find sentence pairs of links in steps. */
#include <stdlib.h>

#include "api/arrow_table.h"
#include "api/number_rows.h"
#include "base/arguments.h"
#include "collection/foreign_documents.h"
#include "collection/options.h"
#include "jobs/lexicon/lexicon_job.h"
#include "jobs/link/link_side.h"
#include "jobs/link/sentences/sentence_output.h"
#include "jobs/link/sentences/sentence_pairs.h"
#include "jobs/link/sentences/sentence_reading.h"

/* ---- Splitting ------------------------------------------------------------------------------- */

static cog_status export_sentences(const struct linked_sentences *sentences,
                                   struct ArrowArrayStream *stream, cog_error *error) {
    struct arrow_table table = {.rows = sentences->count};
    int64_t *rows = arrow_table_int64(&table, "row");
    struct arrow_table_column *texts = arrow_table_text(&table, "text");
    for (size_t i = 0; i < table.rows && texts; i++)
        arrow_table_append(&table, texts,
                           view_of(sentences->items[i].text, sentences->items[i].text_size));
    int32_t *joined = arrow_table_int32(&table, "joined");
    size_t at = 0;
    for (size_t row = 0; row < sentences->rows && joined; row++)
        for (; at < sentences->row_ends[row]; at++) {
            rows[at] = (int64_t)row;
            joined[at] = sentences->joined[at];
        }
    return arrow_table_finish(&table, stream, error);
}

cog_status cog_sentences_split(cog_documents *documents, const cog_lexicon *lexicon, int side,
                               const cog_run_options *run, struct ArrowArrayStream *stream,
                               cog_error *error) {
    struct linked_sentences sentences = {0};
    struct term_options terms;
    struct job job;
    TRY(check_given(documents, "documents", error));
    TRY(check_given(lexicon, "lexicon", error));
    TRY(check_given(stream, "stream", error));
    TRY(link_side_check(side, error));
    TRY(lexicon_terms(&lexicon->table, side == 0, &terms, error));
    job_begin(&job, run, NULL);
    cog_status status =
        linked_sentences_read(&sentences, documents, NULL, NULL, terms.language, &job, error);
    THEN(status, export_sentences(&sentences, stream, error));
    linked_sentences_free(&sentences);
    job_end(&job);
    return status;
}

/* ---- Alignment ------------------------------------------------------------------------------- */

/* A sentence pair of a link. */
struct linked_pair {
    size_t link;
    struct sentence_pair pair;
};

struct alignment {
    const cog_sentence_rows *sides[2];
    const int64_t *documents[2]; /* by link */
    struct sparse_matrix vectors[2];
    struct linked_sentences sentences[2];
    struct sentence_pairing pairing;
    struct linked_pair *pairs;
    size_t count, capacity;
    uint64_t compared;
};

static cog_status check_rows(const cog_sentence_rows *rows, const char *name, cog_error *error) {
    TRY(check_given(rows, name, error));
    TRY(options_check_reserved(rows->reserved, 2, "sentence_rows", error));
    TRY(number_rows_check(&rows->vectors, name, error));
    if (rows->documents == 0)
        return COG_OK;
    TRY(offsets_check(rows->offsets, rows->documents, name, error));
    if ((uint64_t)rows->offsets[rows->documents] != rows->vectors.count)
        return error_set(error, COG_ERR_USAGE, "%s: %lld sentences and %zu vectors: give one each",
                         name, (long long)rows->offsets[rows->documents], rows->vectors.count);
    if (rows->vectors.count == 0)
        return COG_OK;
    TRY(offsets_check(rows->text_offsets, rows->vectors.count, name, error));
    TRY(check_given(rows->text, name, error));
    return check_given(rows->joined, name, error);
}

/* The texts of a side as linked sentences, which borrow them. */
static cog_status take_texts(const cog_sentence_rows *rows, struct linked_sentences *sentences,
                             cog_error *error) {
    sentences->count = rows->vectors.count;
    TAKE(sentences->items, sentences->count, "sentences", error);
    TAKE(sentences->joined, sentences->count, "sentences", error);
    for (size_t i = 0; i < sentences->count; i++) {
        sentences->items[i] = (cog_document){
            .text = rows->text + rows->text_offsets[i],
            .text_size = (size_t)(rows->text_offsets[i + 1] - rows->text_offsets[i])};
        sentences->joined[i] = rows->joined[i];
    }
    return COG_OK;
}

static cog_status take_sides(struct alignment *work, cog_error *error) {
    static const char *const names[] = {"from", "to"};
    for (int side = 0; side < 2; side++) {
        TRY(vectors_take(&work->sides[side]->vectors, names[side], &work->vectors[side], error));
        TRY(take_texts(work->sides[side], &work->sentences[side], error));
    }
    vectors_share_columns(work->vectors);
    return sentence_pairing_init(&work->pairing, work->vectors[0].column_count, error);
}

static cog_status align_link(struct alignment *work, size_t link, double threshold,
                             cog_error *error) {
    struct sentence_sides sides = {.vectors = work->vectors};
    for (int side = 0; side < 2; side++) {
        const cog_sentence_rows *rows = work->sides[side];
        const int64_t document = work->documents[side][link];
        if (document < 0 || (uint64_t)document >= rows->documents)
            return error_set(error, COG_ERR_USAGE, "link %zu has a document that is not there",
                             link);
        sides.begins[side] = (size_t)rows->offsets[document];
        sides.counts[side] = (uint32_t)(rows->offsets[document + 1] - rows->offsets[document]);
    }
    TRY(sentence_pairs_find(&work->pairing, &sides, threshold, false, error));
    work->compared += work->pairing.singles.count;
    GROW(work->pairs, work->capacity, work->count + work->pairing.count, "sentence pairs", error);
    for (size_t i = 0; i < work->pairing.count; i++)
        work->pairs[work->count++] = (struct linked_pair){link, work->pairing.pairs[i]};
    return COG_OK;
}

/* The texts of both sentences of a pair. */
static cog_status texts_of(const struct alignment *work, const struct linked_pair *pair,
                           struct buffer texts[2], cog_error *error) {
    const struct sentence_cell *cell = &pair->pair.cell;
    const uint32_t firsts[2] = {cell->from, cell->to};
    const uint8_t more[2] = {cell->from_more, cell->to_more};
    for (int side = 0; side < 2; side++) {
        const int64_t document = work->documents[side][pair->link];
        const size_t begin = (size_t)work->sides[side]->offsets[document];
        TRY(linked_sentences_text(&work->sentences[side], begin + firsts[side],
                                  (size_t)more[side] + 1, &texts[side], error));
    }
    return COG_OK;
}

static cog_status export_texts(const struct alignment *work, struct arrow_table *table,
                               struct arrow_table_column *columns[2], int64_t *hashes,
                               cog_error *error) {
    struct buffer texts[2] = {{0}};
    cog_status status = COG_OK;
    for (size_t i = 0; i < work->count && status == COG_OK; i++) {
        status = texts_of(work, &work->pairs[i], texts, error);
        if (status != COG_OK)
            break;
        const struct bytes_view views[2] = {view_of(texts[0].data, texts[0].size),
                                            view_of(texts[1].data, texts[1].size)};
        hashes[i] = (int64_t)sentence_pair_hash(views);
        arrow_table_append(table, columns[0], views[0]);
        arrow_table_append(table, columns[1], views[1]);
    }
    buffer_free(&texts[0]);
    buffer_free(&texts[1]);
    return status;
}

static cog_status export_pairs(const struct alignment *work, struct ArrowArrayStream *stream,
                               cog_error *error) {
    struct arrow_table table = {.rows = work->count};
    int64_t *links = arrow_table_int64(&table, "link");
    const size_t first = table.count;
    arrow_table_text(&table, "from");
    arrow_table_text(&table, "to");
    double *similarities = arrow_table_double(&table, "similarity");
    double *scores = arrow_table_double(&table, "score");
    int64_t *hashes = arrow_table_int64(&table, "hash");
    struct arrow_table_column *columns[2] = {&table.columns[first], &table.columns[first + 1]};
    for (size_t i = 0; i < work->count && hashes; i++) {
        links[i] = (int64_t)work->pairs[i].link;
        similarities[i] = (double)work->pairs[i].pair.cell.cosine;
        scores[i] = (double)work->pairs[i].pair.score;
    }
    cog_status status = hashes ? export_texts(work, &table, columns, hashes, error) : COG_OK;
    if (status == COG_OK)
        return arrow_table_finish(&table, stream, error);
    arrow_table_discard(&table);
    return status;
}

static void alignment_free(struct alignment *work) {
    for (int side = 0; side < 2; side++) {
        sparse_matrix_free(&work->vectors[side]);
        linked_sentences_free(&work->sentences[side]);
    }
    sentence_pairing_free(&work->pairing);
    free(work->pairs);
}

cog_status cog_sentences_align(const cog_sentence_rows *from, const cog_sentence_rows *to,
                               const int64_t *a, const int64_t *b, size_t count,
                               const cog_sentence_options *options, struct ArrowArrayStream *stream,
                               uint64_t *compared, cog_error *error) {
    struct alignment work = {.sides = {from, to}, .documents = {a, b}};
    TRY(check_rows(from, "from", error));
    TRY(check_rows(to, "to", error));
    TRY(check_given(options, "options", error));
    TRY(options_check_reserved(options->reserved, 4, "sentence", error));
    TRY(check_given(stream, "stream", error));
    if (count) {
        TRY(check_given(a, "a", error));
        TRY(check_given(b, "b", error));
    }
    cog_status status = take_sides(&work, error);
    for (size_t i = 0; i < count && status == COG_OK; i++)
        status = align_link(&work, i, options->threshold, error);
    THEN(status, export_pairs(&work, stream, error));
    if (compared)
        *compared = work.compared;
    alignment_free(&work);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

struct cog_sentence_writer {
    struct sentence_output output;
    struct term_options terms[2]; /* for the languages */
    bool is_open;
};

static cog_status writer_open(cog_sentence_writer *writer, const cog_lexicon *lexicon,
                              cog_sentence_format format, const char *path, cog_error *error) {
    const char *languages[2];
    for (int side = 0; side < 2; side++) {
        TRY(lexicon_terms(&lexicon->table, side == 0, &writer->terms[side], error));
        languages[side] = writer->terms[side].language;
    }
    writer->is_open = true;
    return sentence_output_open(&writer->output, format, path, languages, error);
}

cog_status cog_sentence_writer_open(const cog_lexicon *lexicon, cog_sentence_format format,
                                    const char *path, cog_sentence_writer **result,
                                    cog_error *error) {
    cog_sentence_writer *writer;
    TRY(check_given(lexicon, "lexicon", error));
    TRY(check_given(path, "path", error));
    TRY(check_given(result, "writer", error));
    TRY(check_enum(format, COG_SENTENCES_TMX + 1, "sentence format", error));
    TAKE_ZEROED(writer, 1, "sentence pairs", error);
    cog_status status = writer_open(writer, lexicon, format, path, error);
    return HAND_OUT(status, writer, cog_sentence_writer_free, result);
}

cog_status cog_sentence_writer_add(cog_sentence_writer *writer, const cog_sentence_item *item,
                                   cog_error *error) {
    TRY(check_given(writer, "writer", error));
    TRY(check_given(item, "item", error));
    const struct written_sentences pair = {
        .texts = {view_of(item->from, item->from_size), view_of(item->to, item->to_size)},
        .ids = {view_of(item->from_id, item->from_id_size), view_of(item->to_id, item->to_id_size)},
        .similarity = (float)item->similarity,
        .score = (float)item->score};
    return sentence_output_add(&writer->output, &pair, error);
}

cog_status cog_sentence_writer_finish(cog_sentence_writer *writer, cog_error *error) {
    TRY(check_given(writer, "writer", error));
    if (!writer->is_open)
        return error_set(error, COG_ERR_USAGE, "the file of sentence pairs is complete already");
    writer->is_open = false;
    return sentence_output_close(&writer->output, COG_OK, error);
}

void cog_sentence_writer_free(cog_sentence_writer *writer) {
    cog_error error = {0};
    if (!writer)
        return;
    if (writer->is_open)
        sentence_output_close(&writer->output, COG_ERR_CANCELLED, &error);
    free(writer);
}
