/* Jobs stopped by their callback, at each of the first calls and at some of the later ones: the job
 * ends with COG_ERR_CANCELLED and without a result, or it was over and the result is complete. */
#include "api/made_documents.h"
#include "cognate.h"
#include "test.h"

/* So many documents that the build of an index measures its recall. */
enum { DOCUMENTS = 2100, STOPS = 1000 };

struct stopping {
    int calls_left;
};

static bool count_down(void *context, const cog_progress *progress) {
    (void)progress;
    return ((struct stopping *)context)->calls_left-- > 0;
}

struct world {
    struct made_document made[DOCUMENTS];
    cog_document items[DOCUMENTS];
    cog_documents *documents;
    cog_index *index;
};

static struct world *make_world(cog_error *error) {
    struct world *world = calloc(1, sizeof *world);
    make_documents(DOCUMENTS, world->made, world->items);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        world->items[i].lang = "en";
        world->items[i].lang_size = 2;
    }
    if (cog_documents_from_memory(world->items, DOCUMENTS, &world->documents, error) != COG_OK)
        abort();
    return world;
}

static void free_world(struct world *world) {
    cog_index_close(world->index);
    cog_documents_close(world->documents);
    free(world);
}

/* Runs a job; what it made is counted, and given back. */
typedef cog_status job(struct world *world, const cog_run_options *run, size_t *made,
                       cog_error *error);

static cog_status build(struct world *world, const cog_run_options *run, size_t *made,
                        cog_error *error) {
    cog_index *index = NULL;
    cog_index_options options;
    cog_index_options_init(&options);
    options.method = COG_METHOD_SLICES;
    cog_status status = cog_index_build(world->documents, &options, run, &index, NULL, error);
    if (index) {
        cog_index_info info;
        cog_index_describe(index, &info);
        *made = info.rows;
    }
    cog_index_close(index);
    return status;
}

static cog_status search(struct world *world, const cog_run_options *run, size_t *made,
                         cog_error *error) {
    cog_hits *hits = NULL;
    cog_search_options options;
    cog_search_options_init(&options);
    cog_status status =
        cog_index_search(world->index, world->documents, &options, run, &hits, NULL, error);
    *made = hits ? cog_hits_count(hits) : 0;
    cog_hits_free(hits);
    return status;
}

static cog_status find_pairs(struct world *world, const cog_run_options *run, size_t *made,
                             cog_error *error) {
    cog_pairs *pairs = NULL;
    cog_pairs_options options;
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    cog_status status = cog_pairs_find(world->documents, NULL, &options, run, &pairs, NULL, error);
    *made = pairs ? cog_pairs_count(pairs) : 0;
    cog_pairs_free(pairs);
    return status;
}

/* How often the job was stopped before it came to its end; -1 where a stop went wrong. */
static int stop_at_many_calls(struct world *world, job *run_job, unsigned threads) {
    size_t whole = 0;
    cog_error error = {0};
    cog_run_options free_run = {.threads = threads};
    if (run_job(world, &free_run, &whole, &error) != COG_OK || whole == 0)
        return -1;
    for (int stop = 0; stop < STOPS; stop += 1 + stop / 2) {
        struct stopping stopping = {stop};
        cog_run_options run = {
            .threads = threads, .progress = count_down, .progress_context = &stopping};
        size_t made = 0;
        cog_status status = run_job(world, &run, &made, &error);
        if (status == COG_OK)
            return made == whole ? stop : -1;
        if (status != COG_ERR_CANCELLED || made)
            return -1;
    }
    return -1;
}

TEST(jobs_end_when_they_are_told_to_stop) {
    job *const jobs[] = {build, search, find_pairs};
    cog_error fault = {0};
    struct world *world = make_world(&fault);
    cog_index_options options;
    cog_index_options_init(&options);
    CHECK_OK(cog_index_build(world->documents, &options, NULL, &world->index, NULL, error));
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            int stops = stop_at_many_calls(world, jobs[i], threads);
            CHECK_MSG(stops > 1, "job %zu on %u threads: %d", i, threads, stops);
        }
    free_world(world);
}
