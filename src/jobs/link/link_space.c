#include "jobs/link/link_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strings.h"
#include "jobs/link/link_side.h"
#include "jobs/link/link_vectors.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Bytes on disk per byte of text: terms and vectors. */
static const double DISK_OF_PROJECTION = 3;
/* Statistics of both sides, and the terms that words become, as multiples of the statistics of all
 * text. */
static const double VOCABULARIES = 2;

static double text_bytes(cog_documents *const documents[2]) {
    return (double)ingest_text_bytes(documents[0]) + (double)ingest_text_bytes(documents[1]);
}

double link_space_predicted_bytes(cog_documents *const documents[2]) {
    return MEMORY_BASE_BYTES + text_bytes(documents) * MEMORY_OF_PROJECTION;
}

cog_status link_space_choose_place(struct link_space *space, struct job *job,
                                   cog_documents *const documents[2], cog_error *error) {
    const double whole = link_space_predicted_bytes(documents), text = text_bytes(documents);
    const double budget = (double)job->run.memory_bytes;
    bool has_pipe = reader_has_pipe(documents[0]->source) || reader_has_pipe(documents[1]->source);
    space->is_on_disk = budget > 0 && (whole > budget || has_pipe);
    if (!space->is_on_disk)
        return job_check_memory(job, whole, error);
    memory_budget_announce(budget, &job->run, job->report);
    disk_announce(text * DISK_OF_PROJECTION, &job->run, job->report);
    return memory_budget_keep(MEMORY_BASE_BYTES + VOCABULARIES * memory_of_statistics(text, 1),
                              &job->run, error);
}

/* ---- Documents ------------------------------------------------------------------------------- */

static cog_status read_sides(struct link_space *space, struct link_side sides[2], struct job *job,
                             cog_documents *const documents[2], cog_error *error) {
    for (int i = 0; i < 2; i++) {
        TRY(link_side_init(&sides[i], space->lexicon, i, job->threads, error));
        space->terms[i] = sides[i].terms;
        if (space->is_on_disk)
            TRY(bag_spool_create("-", &space->spools[i], error));
    }
    for (int i = 0; i < 2; i++)
        TRY(link_side_read(&sides[i], documents[i], space->spools[i], &job->run, &space->corpora[i],
                           job->report, error));
    for (int i = 0; i < 2; i++)
        TRY(link_tally_judge(&sides[i].tally, i, job->report, error));
    for (unsigned i = 0; i < sides[0].worker_count; i++)
        TRY(link_words_add(&space->unknown, &space->terms[1], &sides[0].workers[i].unknown, error));
    return COG_OK;
}

cog_status link_space_read(struct link_space *space, struct job *job, const struct lexicon *lexicon,
                           cog_documents *const documents[2], cog_error *error) {
    struct link_side sides[2] = {{0}};
    space->lexicon = lexicon;
    cog_status status = read_sides(space, sides, job, documents, error);
    link_side_free(&sides[0]);
    link_side_free(&sides[1]);
    return status;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

/* Builds the vectors of one side in two passes over its documents: the first measures rows, the
 * second fills them. */
struct vector_building {
    struct link_space *space;
    struct job *job;
    int side;
    struct link_weigher weigher;
    const struct corpus *part; /* the current documents; all if they are in memory */
    size_t first;              /* row of the part's first document */
    double *lengths;           /* by row: the sum of tf or tf* */
};

static cog_status building_init(struct vector_building *building,
                                const cog_projection_options *options, cog_error *error) {
    struct link_space *space = building->space;
    struct sparse_matrix *vectors = &space->vectors[building->side];
    vectors->rows = space->corpora[building->side].rows;
    vectors->column_count = term_numbers_count(space->projection->targets);
    TAKE_ZEROED(vectors->offsets, vectors->rows + 1, "vectors", error);
    TAKE(building->lengths, vectors->rows, "vectors", error);
    return link_weigher_init(&building->weigher, space->projection, building->side, options,
                             (const struct statistics *const *)space->statistics,
                             building->job->threads, error);
}

/* After the first pass: computes the mean length and allocates the rows. */
static cog_status make_room(struct vector_building *building, cog_error *error) {
    struct sparse_matrix *vectors = &building->space->vectors[building->side];
    float **lengths = &building->space->lengths[building->side];
    double sum = 0;
    TAKE(*lengths, vectors->rows, "lengths", error);
    for (size_t row = 0; row < vectors->rows; row++) {
        sum += building->lengths[row];
        (*lengths)[row] = link_length(building->lengths[row]);
        building->space->short_documents += vectors->offsets[row + 1] < LINK_SHORT_TERMS;
        vectors->offsets[row + 1] += vectors->offsets[row];
    }
    building->weigher.mean_length = sum > 0 ? sum / (double)vectors->rows : 1;
    if (building->space->is_on_disk)
        return vector_files_open(&building->space->files[building->side], error);
    uint64_t total = vectors->offsets[vectors->rows];
    TAKE(vectors->columns, total, "vectors", error);
    return TAKEN(vectors->values, total, "vectors", error);
}

/* ---- Passes over the documents --------------------------------------------------------------- */

typedef cog_status part_work(struct vector_building *building, cog_error *error);

/* Processes all documents of the side, part by part if they are on disk. */
static cog_status for_parts(struct vector_building *building, part_work *work, cog_error *error) {
    enum { PART_TERMS = 1 << 20 };
    struct link_space *space = building->space;
    struct bag_spool *spool = space->spools[building->side];
    struct corpus part = {0};
    cog_status status = COG_OK;
    building->first = 0;
    building->part = &space->corpora[building->side];
    if (!spool)
        return work(building, error);
    bag_spool_rewind(spool);
    do {
        status = corpus_next_spooled(&part, spool, PART_TERMS, error);
        building->part = &part;
        job_part(building->job, building->first, space->corpora[building->side].rows);
        THEN(status, work(building, error));
        building->first += part.rows;
    } while (part.rows && status == COG_OK);
    corpus_free(&part);
    return status;
}

static cog_status count_part(struct vector_building *building, cog_error *error) {
    return corpus_count(building->part, building->job->threads,
                        building->space->statistics[building->side], error);
}

static cog_status measure_part(struct vector_building *building, cog_error *error) {
    uint64_t *offsets = building->space->vectors[building->side].offsets;
    return link_rows_measure(&building->weigher, building->part,
                             building->lengths + building->first, offsets + 1 + building->first,
                             error);
}

static cog_status fill_part(struct vector_building *building, cog_error *error) {
    struct link_space *space = building->space;
    const struct sparse_matrix *vectors = &space->vectors[building->side];
    const uint64_t *offsets = vectors->offsets + building->first;
    const double *lengths = building->lengths + building->first;
    const size_t count = offsets[building->part->rows] - offsets[0];
    if (!space->is_on_disk)
        return link_rows_fill(&building->weigher, building->part, lengths, offsets,
                              vectors->columns, vectors->values, error);
    uint32_t *columns;
    float *values = NULL;
    TAKE(columns, count, "vectors", error);
    cog_status status = TAKEN(values, count, "vectors", error);
    THEN(status, link_rows_fill(&building->weigher, building->part, lengths, offsets, columns,
                                values, error));
    THEN(status, vector_files_add(&space->files[building->side], columns, values, count, error));
    free(columns);
    free(values);
    return status;
}

static cog_status build_side(struct link_space *space, int side, struct job *job,
                             const cog_projection_options *options, cog_error *error) {
    struct vector_building building = {.space = space, .job = job, .side = side};
    cog_status status = building_init(&building, options, error);
    THEN(status, for_parts(&building, measure_part, error));
    THEN(status, make_room(&building, error));
    THEN(status, for_parts(&building, fill_part, error));
    if (status == COG_OK && space->is_on_disk)
        status = vector_files_lend(&space->files[side], &space->vectors[side], error);
    link_weigher_free(&building.weigher);
    free(building.lengths);
    return status;
}

static cog_status count_side(struct link_space *space, int side, struct job *job,
                             cog_error *error) {
    struct vector_building building = {.space = space, .job = job, .side = side};
    TRY(statistics_create(&space->statistics[side], error));
    return for_parts(&building, count_part, error);
}

static void report_space(const struct link_space *space, cog_report *report) {
    report_number(report, "from_documents", (double)space->corpora[0].rows);
    report_number(report, "to_documents", (double)space->corpora[1].rows);
    link_projection_report(space->projection, report);
    size_t too_short = space->short_documents;
    report_number(report, "short_documents", (double)too_short);
    if (too_short)
        report_notice(report, "%zu document%s fewer than %d weighted terms: %s links are weak",
                      too_short, plural(too_short, " has", "s have"), LINK_SHORT_TERMS,
                      plural(too_short, "its", "their"));
}

cog_status link_space_build(struct link_space *space, struct job *job,
                            const cog_projection_options *options, cog_error *error) {
    job_stage(job, "projecting");
    space->options = *options;
    space->options.linkers = options->linkers ? strdup(options->linkers) : NULL;
    if (options->linkers && !space->options.linkers)
        return error_memory(error, strlen(options->linkers), "linkers");
    cog_status status = COG_OK;
    for (int side = 0; side < 2 && status == COG_OK; side++)
        status = count_side(space, side, job, error);
    THEN(status, link_projection_create(space->lexicon, options,
                                        (const struct statistics *const *)space->statistics,
                                        &space->unknown, &space->projection, error));
    for (int side = 0; side < 2 && status == COG_OK; side++)
        status = build_side(space, side, job, options, error);
    for (int side = 0; side < 2; side++) { /* free the disk space, no longer needed */
        bag_spool_free(space->spools[side]);
        space->spools[side] = NULL;
    }
    job_stage(job, NULL);
    if (status == COG_OK)
        report_space(space, job->report);
    return status;
}

static cog_status move_side(struct link_space *space, int side, cog_error *error) {
    struct sparse_matrix *vectors = &space->vectors[side], none = {0};
    struct vector_files files;
    cog_status status = vector_files_open(&files, error);
    THEN(status, vector_files_add(&files, vectors->columns, vectors->values,
                                  vectors->offsets[vectors->rows], error));
    if (status != COG_OK) {
        vector_files_close(&files, &none);
        return status;
    }
    FREE(vectors->columns, vectors->values);
    vectors->columns = NULL;
    vectors->values = NULL;
    corpus_free_terms(&space->corpora[side]);
    space->files[side] = files;
    return vector_files_lend(&space->files[side], vectors, error);
}

cog_status link_space_move_to_disk(struct link_space *space, struct job *job, cog_error *error) {
    double bytes = 0;
    for (int side = 0; side < 2; side++) {
        const struct sparse_matrix *vectors = &space->vectors[side];
        bytes += (double)vectors->offsets[vectors->rows] *
                 (sizeof *vectors->columns + sizeof *vectors->values);
    }
    disk_announce(bytes, &job->run, job->report);
    space->is_on_disk = true;
    for (int side = 0; side < 2; side++)
        TRY(move_side(space, side, error));
    return COG_OK;
}

void link_space_free(struct link_space *space) {
    for (int side = 0; side < 2; side++) {
        vector_files_close(&space->files[side], &space->vectors[side]);
        bag_spool_free(space->spools[side]);
        corpus_free(&space->corpora[side]);
        statistics_free(space->statistics[side]);
        sparse_matrix_free(&space->vectors[side]);
        free(space->lengths[side]);
    }
    unknown_words_free(&space->unknown);
    projection_free(space->projection);
    free((void *)space->options.linkers);
    *space = (struct link_space){0};
}

uint64_t link_space_memory_bytes(const struct link_space *space) {
    uint64_t bytes = 0;
    for (int side = 0; side < 2; side++) {
        const struct sparse_matrix *vectors = &space->vectors[side];
        uint64_t entries =
            vectors->offsets && !space->is_on_disk ? vectors->offsets[vectors->rows] : 0;
        bytes += corpus_memory_bytes(&space->corpora[side]) +
                 entries * (sizeof *vectors->columns + sizeof *vectors->values) +
                 vectors->rows * sizeof *space->lengths[side];
    }
    return bytes;
}
