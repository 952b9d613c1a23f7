/* Every job, with a callback that sees every call: each stage has a name and a total, and is never
 * further than that. */
#include "api/made_documents.h"
#include "cognate.h"
#include "run/job.h"
#include "test.h"

enum { DOCUMENTS = 1500, PARALLEL = 400, BITS = 256 };

struct world {
    struct made_document made[DOCUMENTS];
    cog_document items[DOCUMENTS];
    cog_documents *documents, *others;
    uint8_t signatures[DOCUMENTS][BITS / 8];
    cog_signatures *rows;
    cog_index *index;
    cog_lexicon *lexicon;
    const char *pairs, *lines, *log;
};

struct seen {
    unsigned calls;
    char wrong[120];
};

static bool see(void *context, const cog_progress *progress) {
    struct seen *seen = context;
    seen->calls++;
    if ((progress->total == 0 || progress->done > progress->total || !*progress->stage) &&
        !*seen->wrong)
        snprintf(seen->wrong, sizeof seen->wrong, "%.60s: %llu of %llu", progress->stage,
                 (unsigned long long)progress->done, (unsigned long long)progress->total);
    return true;
}

typedef cog_status job(struct world *world, const cog_run_options *run, cog_error *error);

static cog_status sign(struct world *world, const cog_run_options *run, cog_error *error) {
    cog_sign_options options;
    cog_sign_options_init(&options, COG_SIGNATURE_RP);
    options.signature.bits = BITS;
    cog_sign_buffers buffers = {.rows = DOCUMENTS, .signatures = world->signatures[0]};
    return cog_sign_rows(world->documents, &options, NULL, &buffers, run, NULL, error);
}

static cog_status pairs_by(struct world *world, cog_measure measure, cog_method method,
                           cog_documents *against, const cog_run_options *run, cog_error *error) {
    cog_pairs *pairs = NULL;
    cog_pairs_options options;
    cog_pairs_options_init(&options, measure);
    options.method = method;
    cog_status status =
        cog_pairs_find(world->documents, against, &options, run, &pairs, NULL, error);
    cog_pairs_free(pairs);
    return status;
}

static cog_status pairs(struct world *world, const cog_run_options *run, cog_error *error) {
    return pairs_by(world, COG_MEASURE_COSINE, COG_METHOD_EXACT, NULL, run, error);
}

static cog_status pairs_by_lists(struct world *world, const cog_run_options *run,
                                 cog_error *error) {
    return pairs_by(world, COG_MEASURE_COSINE, COG_METHOD_LISTS, NULL, run, error);
}

static cog_status pairs_by_flat(struct world *world, const cog_run_options *run, cog_error *error) {
    return pairs_by(world, COG_MEASURE_COSINE, COG_METHOD_FLAT, NULL, run, error);
}

static cog_status pairs_by_windows(struct world *world, const cog_run_options *run,
                                   cog_error *error) {
    return pairs_by(world, COG_MEASURE_COSINE, COG_METHOD_WINDOW, NULL, run, error);
}

static cog_status pairs_by_lsh(struct world *world, const cog_run_options *run, cog_error *error) {
    return pairs_by(world, COG_MEASURE_JACCARD, COG_METHOD_LSH, NULL, run, error);
}

static cog_status pairs_of_sets(struct world *world, const cog_run_options *run, cog_error *error) {
    return pairs_by(world, COG_MEASURE_JACCARD, COG_METHOD_EXACT, NULL, run, error);
}

static cog_status pairs_against(struct world *world, const cog_run_options *run, cog_error *error) {
    return pairs_by(world, COG_MEASURE_CONTAINMENT, COG_METHOD_EXACT, world->others, run, error);
}

static cog_status pairs_of_signatures(struct world *world, const cog_run_options *run,
                                      cog_error *error) {
    cog_pairs *found = NULL;
    cog_pairs_options options;
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    cog_status status =
        cog_pairs_find_signatures(world->rows, NULL, 8, &options, run, &found, NULL, error);
    cog_pairs_free(found);
    return status;
}

static cog_status related(struct world *world, const cog_run_options *run, cog_error *error) {
    cog_pairs *found = NULL;
    cog_documents *log = NULL;
    const char *path = world->log;
    cog_input_options input;
    cog_related_options options;
    cog_input_options_init(&input);
    input.format = COG_FORMAT_QUERYLOG;
    cog_related_options_init(&options);
    options.min_urls = 1;
    cog_status status = cog_documents_open(&input, &path, 1, &log, error);
    if (status == COG_OK)
        status = cog_related_find(log, &options, run, &found, NULL, error);
    cog_pairs_free(found);
    cog_documents_close(log);
    return status;
}

static cog_status dedup_by(struct world *world, cog_measure measure, cog_documents *against,
                           const cog_dedup_outputs *outputs, const cog_run_options *run,
                           cog_error *error) {
    cog_clusters *clusters = NULL;
    cog_documents *lines = NULL;
    const char *path = world->lines;
    cog_input_options input;
    cog_dedup_options options;
    cog_input_options_init(&input);
    cog_dedup_options_init(&options);
    cog_pairs_options_init(&options.pairs, measure);
    options.against = against;
    cog_status status = cog_documents_open(&input, &path, 1, &lines, error);
    if (status == COG_OK)
        status = cog_dedup(lines, &options, outputs, run, &clusters, NULL, error);
    cog_clusters_free(clusters);
    cog_documents_close(lines);
    return status;
}

static cog_status dedup(struct world *world, const cog_run_options *run, cog_error *error) {
    const cog_dedup_outputs outputs = {.kept = test_path("kept.jsonl"),
                                       .report = test_path("page.html")};
    return dedup_by(world, COG_MEASURE_JACCARD, NULL, &outputs, run, error);
}

static cog_status dedup_by_cosine(struct world *world, const cog_run_options *run,
                                  cog_error *error) {
    return dedup_by(world, COG_MEASURE_COSINE, NULL, NULL, run, error);
}

static cog_status dedup_against(struct world *world, const cog_run_options *run, cog_error *error) {
    return dedup_by(world, COG_MEASURE_CONTAINMENT, world->others, NULL, run, error);
}

static cog_status build_and_change(struct world *world, const cog_run_options *run,
                                   cog_error *error) {
    cog_index *index = NULL;
    cog_index_options options;
    cog_index_options_init(&options);
    options.method = COG_METHOD_SLICES;
    cog_status status = cog_index_build(world->documents, &options, run, &index, NULL, error);
    if (status == COG_OK)
        status = cog_index_add(index, world->others, run, NULL, error);
    if (status == COG_OK)
        status = cog_index_compact(index, run, NULL, error);
    cog_index_close(index);
    return status;
}

static cog_status search(struct world *world, const cog_run_options *run, cog_error *error) {
    cog_hits *hits = NULL;
    cog_search_options options;
    cog_search_options_init(&options);
    cog_status status =
        cog_index_search(world->index, world->documents, &options, run, &hits, NULL, error);
    cog_hits_free(hits);
    return status;
}

static cog_status train(struct world *world, const cog_run_options *run, cog_error *error) {
    const char *path = world->pairs;
    cog_lexicon_options options;
    cog_lexicon_options_init(&options);
    options.from = "de";
    options.to = "en";
    cog_lexicon_free(world->lexicon);
    world->lexicon = NULL;
    return cog_lexicon_train(&path, 1, &options, run, &world->lexicon, NULL, error);
}

static cog_status link_documents(struct world *world, const cog_run_options *run,
                                 cog_error *error) {
    cog_links *links = NULL;
    cog_link_options options;
    cog_link_options_init(&options);
    cog_status status = cog_link(world->documents, world->others, world->lexicon, &options, run,
                                 &links, NULL, error);
    cog_sentence_options sentences;
    cog_sentence_options_init(&sentences);
    sentences.threshold = 0.3;
    if (status == COG_OK)
        status = cog_links_sentences(links, world->documents, world->others, &sentences,
                                     test_path("sentences.tsv"), run, NULL, error);
    cog_links_free(links);
    return status;
}

static cog_status verify(struct world *world, const cog_run_options *run, cog_error *error) {
    const int64_t a[] = {0, 1, 2}, b[] = {1, 2, 3};
    double similarities[3];
    cog_verify_options options;
    cog_verify_options_init(&options, COG_MEASURE_JACCARD);
    return cog_verify_pairs(world->documents, NULL, a, b, 3, &options, run, similarities, NULL,
                            error);
}

static cog_status evaluate(struct world *world, const cog_run_options *run, cog_error *error) {
    cog_signature_error result;
    cog_sign_options options;
    cog_sign_options_init(&options, COG_SIGNATURE_RP);
    return cog_evaluate_signatures(world->documents, &options, &options.signature, 1, 100, 1, run,
                                   &result, NULL, error);
}

static void write_files(struct world *world) {
    world->pairs = test_path("pairs.tsv");
    world->lines = test_path("lines.jsonl");
    world->log = test_path("log.tsv");
    FILE *pairs_file = fopen(world->pairs, "w"), *lines = fopen(world->lines, "w");
    FILE *log = fopen(world->log, "w");
    if (!pairs_file || !lines || !log)
        abort();
    for (size_t i = 0; i < PARALLEL; i++)
        fprintf(pairs_file, "%.69s\t%.69s\n", world->made[i].text, world->made[i].text);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        fprintf(lines, "{\"id\": \"%zu\", \"text\": \"%s\"}\n", i, world->made[i].text);
        fprintf(log, "query %zu\thttp://a.org/%zu\t%zu\n", i, i % 50, i % 7 + 1);
    }
    fclose(pairs_file);
    fclose(lines);
    fclose(log);
}

static struct world *make_world(cog_error *error) {
    struct world *world = calloc(1, sizeof *world);
    make_documents(DOCUMENTS, world->made, world->items);
    write_files(world);
    if (cog_documents_from_memory(world->items, DOCUMENTS, &world->documents, error) != COG_OK ||
        cog_documents_from_memory(world->items, 300, &world->others, error) != COG_OK ||
        cog_signatures_from_memory(world->signatures[0], DOCUMENTS, BITS, &world->rows, error) !=
            COG_OK)
        abort();
    return world;
}

static void free_world(struct world *world) {
    cog_index_close(world->index);
    cog_lexicon_free(world->lexicon);
    cog_signatures_free(world->rows);
    cog_documents_close(world->documents);
    cog_documents_close(world->others);
    free(world);
}

TEST(every_stage_of_every_job_has_a_total) {
    static const struct {
        const char *name;
        job *run;
    } jobs[] = {{"sign", sign},
                {"pairs", pairs},
                {"pairs by lists", pairs_by_lists},
                {"pairs by flat", pairs_by_flat},
                {"pairs by windows", pairs_by_windows},
                {"pairs by lsh", pairs_by_lsh},
                {"pairs of sets", pairs_of_sets},
                {"pairs against", pairs_against},
                {"pairs of signatures", pairs_of_signatures},
                {"related", related},
                {"dedup", dedup},
                {"dedup by cosine", dedup_by_cosine},
                {"dedup against", dedup_against},
                {"build", build_and_change},
                {"search", search},
                {"train", train},
                {"link", link_documents},
                {"verify", verify},
                {"evaluate", evaluate}};
    cog_error fault = {0};
    struct world *world = make_world(&fault);
    cog_index_options options;
    cog_index_options_init(&options);
    CHECK_OK(cog_index_build(world->documents, &options, NULL, &world->index, NULL, error));
    progress_show_every_call(true);
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            struct seen seen = {0};
            cog_run_options run = {.threads = threads, .progress = see, .progress_context = &seen};
            cog_error failure = {0};
            cog_status status = jobs[i].run(world, &run, &failure);
            CHECK_MSG(status == COG_OK, "%s: %s", jobs[i].name, failure.message);
            CHECK_MSG(seen.calls > 0, "%s calls nobody", jobs[i].name);
            CHECK_MSG(!*seen.wrong, "%s, %u threads: %s", jobs[i].name, threads, seen.wrong);
        }
    progress_show_every_call(false);
    free_world(world);
}
