/* Sentence pairs of linked documents. The sentences of all linked documents are brought into one
 * space, like documents, and aligned link by link. Links are distributed over all threads; pairs
 * are written in the order of the links, so the result does not depend on the number of threads. */
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/link/link_job.h"
#include "jobs/link/sentences/sentence_output.h"
#include "jobs/link/sentences/sentence_pairs.h"
#include "jobs/link/sentences/sentence_reading.h"

enum {
    /* Number of links whose pairs are in memory until they are written. */
    LINKS_PER_BLOCK = 4096,
    /* Bytes of memory per byte of the linked documents' text: 9 and 12 were measured on 3 MB of
     * debates, in a hundred documents and in one. */
    MEMORY_OF_SENTENCES = 13,
    /* The same if the vectors of sentences are on disk. */
    MEMORY_OF_SPOOLED_SENTENCES = 5
};

struct sentence_job {
    const cog_links *links;
    struct job *job;
    double threshold;
    struct linked_sentences sides[2];
    struct link_space space;          /* of the sentences */
    struct sentence_pairing *workers; /* one per thread */
    struct aligned_link {
        struct sentence_pair *pairs;
        size_t count, compared;
    } * aligned;  /* of the current block */
    size_t block; /* its first link */
    uint64_t compared;
    struct sentence_output output;
};

/* ---- Reading --------------------------------------------------------------------------------- */

static cog_status read_side(struct sentence_job *work, int number, cog_documents *documents,
                            cog_error *error) {
    const cog_links *links = work->links;
    const struct corpus *corpus = &links->space.corpora[number];
    uint8_t *wanted;
    TAKE_ZEROED(wanted, corpus->rows, "sentences", error);
    for (size_t i = 0; i < links->count; i++)
        wanted[number ? links->items[i].to : links->items[i].from] = 1;
    cog_status status =
        linked_sentences_read(&work->sides[number], documents, corpus, wanted,
                              links->space.terms[number].language, work->job, error);
    free(wanted);
    return status;
}

/* Puts the vectors of sentences on disk if the budget does not hold them in addition to the links.
 * COG_ERR_MEMORY if it does not hold the texts. */
static cog_status check_memory(struct sentence_job *work, cog_error *error) {
    double text = (double)work->sides[0].text.size + (double)work->sides[1].text.size;
    double others = MEMORY_BASE_BYTES + (double)link_space_memory_bytes(&work->links->space);
    double budget = (double)work->job->run.memory_bytes;
    work->space.is_on_disk = budget > 0 && others + text * MEMORY_OF_SENTENCES > budget;
    return memory_budget_keep(others + text * (work->space.is_on_disk ? MEMORY_OF_SPOOLED_SENTENCES
                                                                      : MEMORY_OF_SENTENCES),
                              &work->job->run, error);
}

/* Treats sentences as documents of a separate collection, so their idf is that of sentences.
 * Reports nothing, as reports are about documents. */
static cog_status build_space(struct sentence_job *work, cog_error *error) {
    struct job job;
    cog_documents *documents[2] = {NULL, NULL};
    cog_status status = COG_OK;
    for (int i = 0; i < 2 && status == COG_OK; i++) {
        struct document_table *table = NULL;
        status = document_table_of_items(work->sides[i].items, work->sides[i].count, &table, error);
        THEN(status, documents_of_table(table, false, &documents[i], error));
    }
    job_begin(&job, &work->job->run, NULL);
    THEN(status, link_space_read(&work->space, &job, work->links->space.lexicon, documents, error));
    THEN(status, link_space_build(&work->space, &job, &work->links->space.options, error));
    job_end(&job);
    documents_close(documents[0]);
    documents_close(documents[1]);
    return status;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static cog_status align_links(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    struct sentence_job *work = context;
    struct sentence_pairing *pairing = &work->workers[worker];
    for (size_t i = begin; i < end; i++) {
        const struct link *link = &work->links->items[work->block + i];
        struct aligned_link *aligned = &work->aligned[i];
        struct sentence_sides sides = {.vectors = work->space.vectors};
        for (int side = 0; side < 2; side++) {
            size_t last;
            linked_sentences_of(&work->sides[side], side ? link->to : link->from,
                                &sides.begins[side], &last);
            sides.counts[side] = (uint32_t)(last - sides.begins[side]);
        }
        TRY(sentence_pairs_find(pairing, &sides, work->threshold, false, error));
        TAKE(aligned->pairs, pairing->count, "sentence pairs", error);
        if (pairing->count)
            memcpy(aligned->pairs, pairing->pairs, pairing->count * sizeof *aligned->pairs);
        aligned->count = pairing->count;
        aligned->compared = pairing->singles.count;
    }
    return COG_OK;
}

static cog_status write_link(struct sentence_job *work, size_t at, struct buffer texts[2],
                             cog_error *error) {
    const struct link *link = &work->links->items[work->block + at];
    const struct aligned_link *aligned = &work->aligned[at];
    const struct corpus *corpora = work->links->space.corpora;
    size_t begins[2], end;
    linked_sentences_of(&work->sides[0], link->from, &begins[0], &end);
    linked_sentences_of(&work->sides[1], link->to, &begins[1], &end);
    work->compared += aligned->compared;
    for (size_t p = 0; p < aligned->count; p++) {
        const struct sentence_cell *cell = &aligned->pairs[p].cell;
        TRY(linked_sentences_text(&work->sides[0], begins[0] + cell->from,
                                  (size_t)cell->from_more + 1, &texts[0], error));
        TRY(linked_sentences_text(&work->sides[1], begins[1] + cell->to, (size_t)cell->to_more + 1,
                                  &texts[1], error));
        struct written_sentences pair = {
            .texts = {view_of(texts[0].data, texts[0].size), view_of(texts[1].data, texts[1].size)},
            .ids = {corpus_id(&corpora[0], link->from), corpus_id(&corpora[1], link->to)},
            .similarity = cell->cosine,
            .score = aligned->pairs[p].score};
        TRY(sentence_output_add(&work->output, &pair, error));
    }
    return COG_OK;
}

static cog_status pair_block(struct sentence_job *work, size_t count, struct buffer texts[2],
                             cog_error *error) {
    job_part(work->job, work->block, work->links->count);
    cog_status status = parallel_for(work->job->threads, count, 1, align_links, work, error);
    for (size_t i = 0; i < count && status == COG_OK; i++)
        status = write_link(work, i, texts, error);
    for (size_t i = 0; i < count; i++) {
        free(work->aligned[i].pairs);
        work->aligned[i] = (struct aligned_link){0};
    }
    return status;
}

static cog_status pair_all(struct sentence_job *work, cog_error *error) {
    struct buffer texts[2] = {{0}};
    unsigned threads = work->job->threads;
    cog_status status = COG_OK;
    TAKE_ZEROED(work->workers, threads, "sentence pairs", error);
    TAKE_ZEROED(work->aligned, LINKS_PER_BLOCK, "sentence pairs", error);
    for (unsigned i = 0; i < threads && status == COG_OK; i++)
        status =
            sentence_pairing_init(&work->workers[i], work->space.vectors[0].column_count, error);
    for (; work->block < work->links->count && status == COG_OK; work->block += LINKS_PER_BLOCK) {
        size_t left = work->links->count - work->block;
        status = pair_block(work, left < LINKS_PER_BLOCK ? left : LINKS_PER_BLOCK, texts, error);
    }
    buffer_free(&texts[0]);
    buffer_free(&texts[1]);
    return status;
}

static void sentence_job_free(struct sentence_job *work) {
    for (unsigned i = 0; work->workers && i < work->job->threads; i++)
        sentence_pairing_free(&work->workers[i]);
    FREE(work->workers, work->aligned);
    linked_sentences_free(&work->sides[0]);
    linked_sentences_free(&work->sides[1]);
    link_space_free(&work->space);
}

static void report_sentences(const struct sentence_job *work) {
    cog_report *report = work->job->report;
    report_number(report, "from_sentences", (double)work->sides[0].count);
    report_number(report, "to_sentences", (double)work->sides[1].count);
    report_number(report, "compared_sentences", (double)work->compared);
    report_number(report, "sentence_pairs", (double)work->output.written);
    report_number(report, "repeated_sentence_pairs", (double)work->output.repeated);
}

cog_status links_write_sentences(const cog_links *links, struct job *job,
                                 cog_documents *const documents[2],
                                 const cog_sentence_options *options, const char *path,
                                 cog_error *error) {
    struct sentence_job work = {.links = links, .job = job, .threshold = options->threshold};
    const char *const languages[2] = {links->space.terms[0].language,
                                      links->space.terms[1].language};
    job_stage(job, "pairing sentences");
    cog_status status = read_side(&work, 0, documents[0], error);
    THEN(status, read_side(&work, 1, documents[1], error));
    THEN(status, check_memory(&work, error));
    THEN(status, build_space(&work, error));
    THEN(status, sentence_output_open(&work.output, options->format, path, languages, error));
    THEN(status, pair_all(&work, error));
    status = sentence_output_close(&work.output, status, error);
    job_stage(job, NULL);
    report_sentences(&work);
    sentence_job_free(&work);
    return status;
}
