/* Joins that are stopped again and again, and go on from their checkpoints, end with the result of
 * an undisturbed one. */
#include "join/sets/join_checkpoint.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../vector/set_data.h"
#include "base/threads.h"
#include "join/sets/set_join.h"
#include "test.h"

enum { DOCUMENTS = 9000, PARTS = 8 }; /* blocks of a join have 4096 */

/* Half are changed copies of the document before the last; some share a few frequent members. */
static struct set_data make_data(void) {
    enum { MEMBERS = 12 };
    struct random random = random_seeded(3);
    struct set_data data = {0};
    uint64_t terms[MEMBERS], words[2];
    for (size_t row = 0; row < DOCUMENTS; row++) {
        for (size_t i = 0; i < MEMBERS; i++)
            if (row % 2 == 0 || random_below(&random, 8) == 0)
                terms[i] = member_of_hash(hash_mix(random_below(&random, i < 2 ? 50 : 300000)));
        words[0] = member_of_hash(hash_mix(1000000 + random_below(&random, 5000)));
        words[1] = member_of_hash(hash_mix(1000000 + random_below(&random, 40)));
        set_data_add(&data, terms, row % 7 ? MEMBERS : 0, words, row % 7 < 2 ? 2 : 0);
    }
    set_data_write(&data);
    return data;
}

/* ---- Stops ----------------------------------------------------------------------------------- */

/* Ends a job before a piece of its work. */
struct stop {
    long left; /* pieces until then; atomic */
};

static bool stops(void *context, uint64_t done, uint64_t total) {
    struct stop *stop = context;
    (void)done;
    (void)total;
    return __atomic_sub_fetch(&stop->left, 1, __ATOMIC_RELAXED) < 0;
}

static cog_status run_join(const struct set_data *data, const uint32_t *order,
                           const struct set_join_options *options, unsigned threads, long pieces,
                           struct set_join_result *result, cog_error *error) {
    const cog_run_options run = {.threads = threads};
    struct stop stop = {pieces};
    const struct threads_watch watch = {.stops = stops, .context = &stop};
    struct job job;
    threads_watch_set(&watch);
    job_begin(&job, &run, NULL);
    cog_status status = set_join_run(&data->file, order, data->count, options, &job, result, error);
    job_end(&job);
    threads_watch_set(NULL);
    return status;
}

/* ---- Folders --------------------------------------------------------------------------------- */

/* The files of a folder, by calls of `each`; returns their number. */
static size_t each_file(const char *folder, void (*each)(const char *path)) {
    size_t count = 0;
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        char path[300];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (each)
            each(path);
        count++;
    }
    if (entries)
        closedir(entries);
    return count;
}

/* Changes a byte in the middle of a checkpoint. */
static void damage_file(const char *path) {
    FILE *file = fopen(path, "r+b");
    fseek(file, 0, SEEK_END);
    const long middle = ftell(file) / 2;
    fseek(file, middle, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, middle, SEEK_SET);
    fputc(byte ^ 0x55, file);
    fclose(file);
}

/* The file of prefixes alone, a byte in 97: members, and sizes of prefixes. */
static size_t damaged_prefixes; /* bytes */
static void damage_prefixes(const char *path) {
    FILE *file = strstr(path, "-prefixes") ? fopen(path, "r+b") : NULL;
    for (long at = 0; file && fseek(file, at, SEEK_SET) == 0; at += 97) {
        const int byte = fgetc(file);
        if (byte == EOF)
            break;
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 0x55, file);
        damaged_prefixes++;
    }
    if (file)
        fclose(file);
}

/* ---- Joins ----------------------------------------------------------------------------------- */

static bool same_arrays(const void *a, const void *b, size_t size) {
    return !a == !b && (!a || memcmp(a, b, size) == 0);
}

static bool same_results(const struct set_join_result *a, const struct set_join_result *b) {
    return same_arrays(a->partner, b->partner, DOCUMENTS * sizeof *a->partner) &&
           same_arrays(a->similarity, b->similarity, DOCUMENTS * sizeof *a->similarity) &&
           same_arrays(a->nearest, b->nearest, DOCUMENTS * sizeof *a->nearest) &&
           same_arrays(a->nearest_similarity, b->nearest_similarity,
                       DOCUMENTS * sizeof *a->nearest_similarity) &&
           a->members == b->members;
}

/* Runs a join to its end in as many jobs as it takes, of a few pieces each: counting and sorting
 * have more pieces than the first jobs, and joining more than the later ones. Returns the number of
 * jobs, 0 if one failed. damage: of the files that job number damage_at leaves; NULL: none. */
enum { SHORT_JOBS = 16 };
static size_t run_in_jobs(const struct set_data *data, const uint32_t *order,
                          const struct set_join_options *options, void (*damage)(const char *path),
                          size_t damage_at, struct set_join_result *result) {
    enum { JOBS_MOST = 200, SHORT_PIECES = 12, LONG_PIECES = 300 };
    for (size_t jobs = 1; jobs < JOBS_MOST; jobs++) {
        const unsigned threads = 1 + (unsigned)(jobs % 3);
        cog_error error = {0};
        cog_status status =
            run_join(data, order, options, threads, jobs <= SHORT_JOBS ? SHORT_PIECES : LONG_PIECES,
                     result, &error);
        if (status == COG_OK)
            return jobs;
        set_join_result_free(result);
        if (status != COG_ERR_CANCELLED) {
            printf("  %s\n", error.message);
            return 0;
        }
        if (damage && jobs == damage_at)
            each_file(options->work->folder, damage);
    }
    return 0;
}

static const struct set_join_options cases[] = {
    {.mode = SET_JOIN_REPRESENTATIVES, .measure = {false, 0.6}},
    {.mode = SET_JOIN_REPRESENTATIVES, .measure = {false, 0.6}, .floor = 0.3},
    {.mode = SET_JOIN_REPRESENTATIVES, .measure = {false, 0.7}, .reference = 5000, .floor = 0.5},
    {.mode = SET_JOIN_REPRESENTATIVES, .measure = {false, 0.6}, .memory_bytes = 300000},
    {.mode = SET_JOIN_CONNECTED, .measure = {false, 0.6}},
    {.mode = SET_JOIN_CONNECTED, .measure = {false, 0.6}, .memory_bytes = 340000},
    {.mode = SET_JOIN_REPRESENTATIVES, .measure = {true, 0.7}, .reference = 6000},
};
enum { CASES = sizeof cases / sizeof *cases };

/* What stays when the join is done is its result, which answers without any work. */
static void check_kept(const struct set_data *data, const uint32_t *order,
                       const struct set_join_options *options,
                       const struct set_join_result *whole) {
    struct set_join_result again = {0};
    CHECK(each_file(options->work->folder, NULL) == 1);
    CHECK_OK(run_join(data, order, options, 2, 0, &again, error));
    CHECK(same_results(whole, &again));
    CHECK(again.comparisons == whole->comparisons || options->memory_bytes);
    set_join_result_free(&again);
}

/* Damage to the prefixes, at whatever moment, costs time alone. The moments take turns from case to
 * case. */
static void join_again(const struct set_data *data, const uint32_t *order, size_t number,
                       const struct set_join_options *options,
                       const struct set_join_result *whole) {
    struct set_join_result found = {0};
    for (size_t damage_at = 6 + 3 * (number % 3); damage_at <= SHORT_JOBS + 2; damage_at += 9) {
        char path[300];
        snprintf(path, sizeof path, "%s/join-result", options->work->folder);
        unlink(path);
        CHECK(run_in_jobs(data, order, options, damage_prefixes, damage_at, &found) > 10);
        CHECK_MSG(same_results(whole, &found), "prefixes damaged after job %zu", damage_at);
        set_join_result_free(&found);
    }
}

static void check_case(const struct set_data *data, const uint32_t *order, size_t number,
                       const struct join_folder *work) {
    struct set_join_options options = cases[number];
    struct set_join_result whole = {0}, found = {0};
    options.near_path = "-";
    CHECK_OK(run_join(data, order, &options, 2, LONG_MAX, &whole, error));
    CHECK(whole.rounds > 1 || !options.memory_bytes);
    options.work = work;
    size_t jobs = run_in_jobs(data, order, &options, NULL, 0, &found);
    CHECK_MSG(jobs > 10 && jobs < 100, "case %zu: %zu jobs", number, jobs);
    CHECK_MSG(same_results(&whole, &found), "case %zu", number);
    check_kept(data, order, &options, &whole);
    set_join_result_free(&found);
    /* Files of another question do not count, and damaged ones neither. */
    options.measure.threshold += 0.05;
    set_join_result_free(&whole);
    struct set_join_options plain = options;
    plain.work = NULL;
    CHECK_OK(run_join(data, order, &plain, 2, LONG_MAX, &whole, error));
    jobs = run_in_jobs(data, order, &options, damage_file, SHORT_JOBS + 2, &found);
    CHECK_MSG(jobs > 10, "case %zu: %zu jobs", number, jobs);
    CHECK_MSG(same_results(&whole, &found), "case %zu, damaged", number);
    set_join_result_free(&found);
    join_again(data, order, number, &options, &whole);
    set_join_result_free(&whole);
}

TEST(join_checkpoints_let_a_stopped_join_go_on_within_its_stages) {
    const char *folder = test_path("checkpoints");
    struct set_data data = make_data();
    uint32_t *order = malloc(data.count * sizeof *order);
    CHECK(mkdir(folder, 0777) == 0);
    for (uint32_t row = 0; row < data.count; row++)
        order[row] = row;
    const struct join_folder work = {folder, "join", 0, data.file.size_bytes / PARTS + 1};
    for (size_t i = 0; i < CASES; i++)
        check_case(&data, order, i, &work);
    CHECK_MSG(damaged_prefixes >= 250 * CASES, "%zu", damaged_prefixes);
    free(order);
    set_data_free(&data);
}
