/* Documents that are read twice, whose ids repeat, or that come through a pipe. */
#include <unistd.h>

#include "cognate.h"
#include "test.h"

static cog_status dedup(const cog_input_options *input, const char *path, cog_measure measure,
                        const char *kept, const cog_run_options *run, cog_clusters **clusters,
                        cog_error *error) {
    cog_documents *documents = NULL;
    cog_dedup_options options;
    cog_dedup_options_init(&options);
    cog_pairs_options_init(&options.pairs, measure);
    options.pairs.threshold = 0.9;
    options.pairs.sign.weights.min_collection_frequency = 0;
    cog_dedup_outputs outputs = {.kept = kept};
    cog_status status = cog_documents_open(input, &path, 1, &documents, error);
    if (status == COG_OK)
        status = cog_dedup(documents, &options, &outputs, run, clusters, NULL, error);
    cog_documents_close(documents);
    return status;
}

static bool file_is(const char *path, const char *text) {
    char data[4096] = "";
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(data, 1, sizeof data - 1, file) : 0;
    if (file)
        fclose(file);
    return size == strlen(text) && memcmp(data, text, size) == 0;
}

TEST(dedup_keeps_documents_whose_id_repeats) {
    const char *text = "{\"id\":\"x\",\"text\":\"one two three four five\"}\n"
                       "{\"id\":\"x\",\"text\":\"six seven eight nine ten\"}\n"
                       "{\"id\":\"x\",\"text\":\"one two three four five\"}\n";
    cog_input_options input;
    cog_clusters *clusters = NULL;
    const char *kept = test_path("kept.jsonl");
    cog_input_options_init(&input);
    CHECK_OK(dedup(&input, write_text("repeated.jsonl", text), COG_MEASURE_JACCARD, kept, NULL,
                   &clusters, error));
    CHECK(cog_clusters_document_count(clusters) == 3 && cog_clusters_member_count(clusters) == 2);
    CHECK(file_is(kept, "{\"id\":\"x\",\"text\":\"one two three four five\"}\n"
                        "{\"id\":\"x\",\"text\":\"six seven eight nine ten\"}\n"));
    cog_clusters_free(clusters);
}

TEST(dedup_of_a_query_log_tells_clicks_apart_that_round_to_the_same) {
    char log[1024] = "query\turl\tclicks\n";
    for (int query = 0; query < 6; query++) /* the last three are other queries with other URLs */
        for (int url = 0; url < 6; url++)
            sprintf(log + strlen(log), "%c\tu%d%d\t%s\n", 'a' + query, url, query < 3 ? 0 : query,
                    (url < 3) == (query == 1) ? "0.1" : "1.4");
    cog_input_options input;
    cog_clusters *clusters = NULL;
    cog_input_options_init(&input);
    input.format = COG_FORMAT_QUERYLOG;
    CHECK_OK(dedup(&input, write_text("clicks.tsv", log), COG_MEASURE_COSINE, NULL, NULL, &clusters,
                   error));
    CHECK(cog_clusters_is_kept(clusters, 0) && cog_clusters_is_kept(clusters, 1));
    CHECK(!cog_clusters_is_kept(clusters, 2) && cog_clusters_member_count(clusters) == 2);
    cog_clusters_free(clusters);
}

/* Exchanges two lines of the file as soon as the job writes: the sizes stay the same. */
static bool change_file(void *context, const cog_progress *progress) {
    if (strcmp(progress->stage, "reading") != 0)
        write_at(context, "{\"text\":\"d e f\"}\n{\"text\":\"a b c\"}\n", 34);
    return true;
}

TEST(dedup_refuses_an_input_that_changes_between_its_passes) {
    const char *path = write_text("changing.jsonl", "{\"text\":\"a b c\"}\n{\"text\":\"d e f\"}\n");
    const char *kept = test_path("changed.jsonl");
    cog_run_options run = {.threads = 1, .progress = change_file, .progress_context = (void *)path};
    cog_input_options input;
    cog_clusters *clusters = NULL;
    cog_error failure = {0};
    cog_input_options_init(&input);
    CHECK(dedup(&input, path, COG_MEASURE_JACCARD, kept, &run, &clusters, &failure) ==
          COG_ERR_INPUT);
    CHECK_MSG(strstr(failure.message, "changing.jsonl: changed"), "%s", failure.message);
    CHECK(access(kept, F_OK) != 0);
}

/* A job of one pass works where no scratch file can be made; dedup with an output needs one. */
TEST(jobs_of_one_pass_do_not_copy_a_pipe) {
    int ends[2], saved = dup(STDIN_FILENO);
    const char *text = "{\"text\":\"a b c\"}\n", *old = getenv("TMPDIR");
    char *folder = old ? strdup(old) : NULL;
    cog_input_options input;
    cog_clusters *clusters = NULL;
    setenv("TMPDIR", test_path("missing_folder"), 1);
    cog_input_options_init(&input);
    input.read_once = true;
    cog_status statuses[2];
    for (int i = 0; i < 2; i++) {
        CHECK(pipe(ends) == 0 && write(ends[1], text, strlen(text)) == (ssize_t)strlen(text));
        close(ends[1]);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        statuses[i] = dedup(&input, "-", COG_MEASURE_COSINE,
                            i ? test_path("from_pipe.jsonl") : NULL, NULL, &clusters, NULL);
        if (statuses[i] == COG_OK)
            cog_clusters_free(clusters);
    }
    if (folder)
        setenv("TMPDIR", folder, 1);
    else
        unsetenv("TMPDIR");
    free(folder);
    dup2(saved, STDIN_FILENO);
    close(saved);
    CHECK(statuses[0] == COG_OK && statuses[1] != COG_OK);
}
