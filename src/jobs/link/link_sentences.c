/* Sentence pairs of linked documents: sentences are linked as documents are, but only with those of
 * the partner document; each pair of texts is written once. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/word_table.h"
#include "crosslingual/sentence_splitter.h"
#include "jobs/link/link_job.h"

/* The sentences of one side's linked documents, in the order of the rows. */
struct linked_sentences {
    struct ingest *ingest;
    const struct corpus *corpus;
    uint8_t *wanted;     /* by row: 1 if it is linked */
    struct buffer text;  /* of all sentences */
    cog_document *items; /* text points to nothing until reading is over */
    size_t *row_ends;    /* by row: number of sentences up to and including its own */
    size_t count, item_capacity;
    struct sentence_splitter *splitter;
};

/* ---- Reading the texts again ----------------------------------------------------------------- */

struct sentence_batch {
    struct buffer text;
    struct text_span {
        size_t row, begin, size;
    } * spans;
    size_t count, capacity;
};

/* The row of a record; SIZE_MAX if the record is not a document. Rows are in the order of records.
 */
static size_t row_of_record(const struct corpus *corpus, uint64_t record) {
    size_t low;
    FIND_FIRST_NOT(low, 0, corpus->rows, corpus->items[low].record < record);
    return low < corpus->rows && corpus->items[low].record == record ? low : SIZE_MAX;
}

static cog_status keep_texts(void *context, unsigned worker, void *ingest_batch, cog_error *error) {
    const struct linked_sentences *side = context;
    struct sentence_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    for (;;) {
        struct ingested item;
        TRY(ingest_next(side->ingest, worker, ingest_batch, &item, error));
        if (!item.document)
            return COG_OK;
        size_t row = row_of_record(side->corpus, item.record);
        if (row == SIZE_MAX || !side->wanted[row])
            continue;
        struct bytes_view text = item.document->text;
        GROW(batch->spans, batch->capacity, batch->count + 1, "sentences", error);
        batch->spans[batch->count++] = (struct text_span){row, batch->text.size, text.size};
        if (!buffer_append(&batch->text, text.data, text.size))
            return error_memory(error, text.size, "sentences");
    }
}

static cog_status add_sentence(struct linked_sentences *side, struct bytes_view sentence,
                               cog_error *error) {
    GROW(side->items, side->item_capacity, side->count + 1, "sentences", error);
    side->items[side->count++] = (cog_document){.text_size = sentence.size};
    return buffer_append(&side->text, sentence.data, sentence.size)
               ? COG_OK
               : error_memory(error, sentence.size, "sentences");
}

static cog_status split_batch(void *context, void *ingest_batch, cog_error *error) {
    struct linked_sentences *side = context;
    struct sentence_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    cog_status status = ingest_settle(side->ingest, ingest_batch, error);
    for (size_t i = 0; i < batch->count && status == COG_OK; i++) {
        const struct text_span *span = &batch->spans[i];
        struct bytes_view text = view_of(batch->text.data + span->begin, span->size), sentence;
        status = sentence_splitter_start(side->splitter, text, error);
        while (status == COG_OK && sentence_splitter_next(side->splitter, &sentence))
            status = add_sentence(side, sentence, error);
        side->row_ends[span->row] = side->count;
    }
    buffer_reset(&batch->text);
    batch->count = 0;
    return status;
}

static cog_status read_sentences(struct linked_sentences *side, cog_documents *documents,
                                 const char *language, struct job *job, cog_error *error) {
    cog_status status = sentence_splitter_create(language, &side->splitter, error);
    THEN(status, ingest_open(documents, NULL, sizeof(struct sentence_batch), "reading sentences",
                             &job->run, NULL, true, &side->ingest, error));
    THEN(status, ingest_run(side->ingest, side, keep_texts, split_batch, error));
    for (size_t i = 0; side->ingest && i < side->ingest->batch_count; i++) {
        struct sentence_batch *batch = side->ingest->batches[i].result;
        buffer_free(&batch->text);
        free(batch->spans);
    }
    ingest_close(side->ingest);
    size_t offset = 0;
    for (size_t i = 0; i < side->count && status == COG_OK; i++) {
        side->items[i].text = side->text.data + offset;
        offset += side->items[i].text_size;
    }
    for (size_t row = 1; row < side->corpus->rows && status == COG_OK; row++)
        if (side->row_ends[row] < side->row_ends[row - 1])
            side->row_ends[row] = side->row_ends[row - 1];
    return status;
}

static void side_free(struct linked_sentences *side) {
    free(side->wanted);
    free(side->items);
    free(side->row_ends);
    buffer_free(&side->text);
    sentence_splitter_free(side->splitter);
}

static cog_status side_init(struct linked_sentences *side, const cog_links *links, int number,
                            cog_error *error) {
    side->corpus = &links->space.corpora[number];
    TAKE_ZEROED(side->wanted, side->corpus->rows, "sentences", error);
    TAKE_ZEROED(side->row_ends, side->corpus->rows, "sentences", error);
    for (size_t i = 0; i < links->count; i++)
        side->wanted[number ? links->items[i].to : links->items[i].from] = 1;
    return COG_OK;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

struct sentence_pairing {
    const cog_links *links;
    struct linked_sentences sides[2];
    struct link_space space; /* of the sentences */
    double threshold;
    struct link *candidates; /* of one pair of documents */
    size_t candidate_capacity;
    struct word_table seen; /* the pairs written, by hash alone */
    struct buffer lines;
    uint64_t written, repeated;
};

static void sentence_range(const struct linked_sentences *side, uint32_t row, size_t *begin,
                           size_t *end) {
    *begin = row ? side->row_ends[row - 1] : 0;
    *end = side->row_ends[row];
}

static cog_status write_pair(struct sentence_pairing *pairing, const struct link *document,
                             const struct link *pair, cog_error *error) {
    const cog_document *from = &pairing->sides[0].items[pair->from];
    const cog_document *to = &pairing->sides[1].items[pair->to];
    struct bytes_view texts[2] = {view_of(from->text, from->text_size),
                                  view_of(to->text, to->text_size)};
    uint64_t hash = hash_pair(hash_bytes(texts[0].data, texts[0].size),
                              hash_bytes(texts[1].data, texts[1].size));
    uint32_t number;
    TRY(word_table_add(&pairing->seen, hash, view_of("", 0), 1, &number, error));
    if (number < pairing->written) {
        pairing->repeated++;
        return COG_OK;
    }
    pairing->written++;
    struct buffer *lines = &pairing->lines;
    bool enough =
        escape_append(lines, texts[0]) && buffer_append(lines, "\t", 1) &&
        escape_append(lines, texts[1]) &&
        buffer_printf(lines, "\t%.6f\t", (double)pair->similarity) &&
        escape_append(lines, corpus_id(&pairing->links->space.corpora[0], document->from)) &&
        buffer_append(lines, "\t", 1) &&
        escape_append(lines, corpus_id(&pairing->links->space.corpora[1], document->to)) &&
        buffer_append(lines, "\n", 1);
    return enough ? COG_OK : error_memory(error, lines->size, "sentence pairs");
}

static cog_status pair_documents(struct sentence_pairing *pairing, const struct link *document,
                                 cog_error *error) {
    size_t begins[2], ends[2], count = 0;
    sentence_range(&pairing->sides[0], document->from, &begins[0], &ends[0]);
    sentence_range(&pairing->sides[1], document->to, &begins[1], &ends[1]);
    for (size_t a = begins[0]; a < ends[0]; a++)
        for (size_t b = begins[1]; b < ends[1]; b++) {
            double cosine =
                sparse_row_dot(&pairing->space.vectors[0], a, &pairing->space.vectors[1], b);
            if (cosine < pairing->threshold)
                continue;
            GROW(pairing->candidates, pairing->candidate_capacity, count + 1, "sentence pairs",
                 error);
            pairing->candidates[count++] = (struct link){.from = (uint32_t)(a - begins[0]),
                                                         .to = (uint32_t)(b - begins[1]),
                                                         .similarity = (float)cosine,
                                                         .contrast = (float)cosine};
        }
    if (count == 0)
        return COG_OK;
    cog_status status = links_one_to_one(pairing->candidates, &count, ends[0] - begins[0],
                                         ends[1] - begins[1], error);
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        struct link pair = pairing->candidates[i];
        pair.from += (uint32_t)begins[0];
        pair.to += (uint32_t)begins[1];
        status = write_pair(pairing, document, &pair, error);
    }
    return status;
}

static cog_status pair_all(struct sentence_pairing *pairing, const char *path, cog_error *error) {
    struct output *output = NULL;
    cog_status status = output_open(path, &output, error);
    buffer_append_text(&pairing->lines, "from\tto\tsimilarity\tfrom_id\tto_id\n");
    for (size_t i = 0; i < pairing->links->count && status == COG_OK; i++) {
        status = pair_documents(pairing, &pairing->links->items[i], error);
        if (status == COG_OK && pairing->lines.size > 1 << 16) {
            status = output_write(output, pairing->lines.data, pairing->lines.size, error);
            buffer_reset(&pairing->lines);
        }
    }
    THEN(status, output_write(output, pairing->lines.data, pairing->lines.size, error));
    THEN(status, output_commit(output, error));
    output_close(output);
    return status;
}

/* Sentences are documents of a collection of their own: their idf is that of sentences. What is
 * reported of documents is not reported of sentences. */
static cog_status build_space(struct sentence_pairing *pairing, const cog_run_options *run,
                              cog_error *error) {
    struct job job;
    cog_documents *documents[2] = {NULL, NULL};
    cog_status status = COG_OK;
    for (int i = 0; i < 2 && status == COG_OK; i++) {
        struct document_table *table = NULL;
        status = document_table_of_items(pairing->sides[i].items, pairing->sides[i].count, &table,
                                         error);
        THEN(status, documents_of_table(table, false, &documents[i], error));
    }
    job_begin(&job, run, NULL);
    THEN(status,
         link_space_read(&pairing->space, &job, pairing->links->space.lexicon, documents, error));
    THEN(status, link_space_build(&pairing->space, &job, &pairing->links->space.options, error));
    job_end(&job);
    documents_close(documents[0]);
    documents_close(documents[1]);
    return status;
}

cog_status links_write_sentences(const cog_links *links, struct job *job,
                                 cog_documents *const documents[2], double threshold,
                                 const char *path, cog_error *error) {
    struct sentence_pairing pairing = {.links = links, .threshold = threshold};
    cog_status status = COG_OK;
    job_stage(job, "pairing sentences");
    for (int i = 0; i < 2 && status == COG_OK; i++) {
        status = side_init(&pairing.sides[i], links, i, error);
        THEN(status, read_sentences(&pairing.sides[i], documents[i], links->space.terms[i].language,
                                    job, error));
    }
    THEN(status, build_space(&pairing, &job->run, error));
    THEN(status, pair_all(&pairing, path, error));
    job_stage(job, NULL);
    report_number(job->report, "sentence_pairs", (double)pairing.written);
    report_number(job->report, "repeated_sentence_pairs", (double)pairing.repeated);
    side_free(&pairing.sides[0]);
    side_free(&pairing.sides[1]);
    link_space_free(&pairing.space);
    free(pairing.candidates);
    word_table_free(&pairing.seen);
    buffer_free(&pairing.lines);
    return status;
}
