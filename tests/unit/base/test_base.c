#include <dirent.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io/files.h"
#include "base/io/output.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/threads.h"
#include "test.h"

TEST(base_log_agrees_with_libm) {
    struct random random = random_seeded(1);
    for (int i = 0; i < 100000; i++) {
        double x = exp((random_unit(&random) - 0.5) * 100);
        double expected = log(x);
        CHECK_MSG(fabs(portable_log(x) - expected) <= 1e-14 * fmax(1, fabs(expected)), "log(%g)",
                  x);
    }
    CHECK(portable_log(1) == 0);
}

TEST(base_portable_exp_and_cosine_agree_with_the_library) {
    for (int i = -7400; i <= 7000; i++) {
        double expected = exp(i / 10.0), found = portable_exp(i / 10.0);
        CHECK_MSG(fabs(found - expected) <= 1e-14 * expected + 0x1p-1074, "exp(%g)", i / 10.0);
    }
    CHECK(portable_exp(0) == 1 && portable_exp(-1e9) == 0 && isinf(portable_exp(1e9)));
    for (int i = 0; i <= 4096; i++)
        CHECK_MSG(fabs(portable_cos_pi(i / 4096.0) - cos(M_PI * i / 4096)) < 1e-15, "%d", i);
    CHECK(portable_cos_pi(0) == 1 && portable_cos_pi(0.5) == 0 && portable_cos_pi(1) == -1);
}

TEST(base_numbers_are_whole_fields) {
    static const char *const numbers[] = {"0", "-1.5", "1e3"};
    static const struct bytes_view others[] = {
        {"", 0}, {"1x", 2}, {"nan", 3}, {"1\0", 2}, {"1\0x", 3}};
    double number;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        CHECK_MSG(number_parse(view_of_text(numbers[i]), &number), "%s", numbers[i]);
    CHECK(number == 1000);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK_MSG(!number_parse(others[i], &number), "%s", others[i].data);
}

TEST(base_output_appears_only_on_commit) {
    const char *path = test_path("out");
    struct output *output = NULL;
    CHECK_OK(output_open(path, &output, error));
    CHECK_OK(output_write(output, "abc", 3, error));
    CHECK(access(path, F_OK) != 0);
    output_close(output);
    CHECK(access(path, F_OK) != 0);
    CHECK_OK(output_open(path, &output, error));
    CHECK_OK(output_write(output, "abc", 3, error));
    CHECK_OK(output_rewrite(output, 1, "X", 1, error));
    CHECK_OK(output_commit(output, error));
    output_close(output);
    struct mapping mapping;
    CHECK_OK(mapping_open(path, &mapping, error));
    CHECK(mapping.size == 3 && memcmp(mapping.data, "aXc", 3) == 0);
    mapping_close(&mapping);
}

static size_t names_in(const char *path) {
    DIR *folder = opendir(path);
    size_t names = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        names += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return names;
}

/* Leaves in the folder what is finished, begins more, and abandons it. */
static void write_and_abandon(const char *folder) {
    char path[4096];
    struct output *outputs[3];
    struct temporary *folders[3];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/file%d", folder, i);
        bool made = output_open(path, &outputs[i], NULL) == COG_OK &&
                    output_write(outputs[i], "abc", 3, NULL) == COG_OK;
        snprintf(path, sizeof path, "%s/folder%d", folder, i);
        made = made && (i == 1 ? temporary_folder_claim(path, &folders[i], NULL)
                               : temporary_folder_create(path, &folders[i], NULL)) == COG_OK;
        snprintf(path, sizeof path, "%s/inner", temporary_path(folders[i]));
        if (!made || mkdir(path, 0777) != 0)
            _exit(1);
        strcat(path, "/name");
        write_at(path, "", 0);
    }
    if (output_commit(outputs[1], NULL) != COG_OK)
        _exit(2);
    temporary_keep(folders[2]);
    cog_abandon_outputs();
    _exit(0);
}

TEST(base_abandoned_outputs_leave_nothing) {
    const char *folder = test_path("abandoned");
    int status = 0;
    CHECK(mkdir(folder, 0777) == 0);
    pid_t child = fork();
    if (child == 0)
        write_and_abandon(folder);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(names_in(folder) == 2);
    char path[4096];
    snprintf(path, sizeof path, "%s/file1", folder);
    CHECK(access(path, F_OK) == 0);
}

TEST(base_temporary_folders_go_with_what_is_in_them) {
    const char *path = test_path("claimed");
    struct temporary *made = NULL, *again = NULL;
    char inner[4096];
    CHECK_OK(temporary_folder_claim(path, &made, error));
    CHECK(made);
    CHECK_OK(temporary_folder_claim(path, &again, error));
    CHECK(!again);
    snprintf(inner, sizeof inner, "%s/inner", path);
    CHECK(mkdir(inner, 0777) == 0);
    temporary_remove(made);
    CHECK(access(path, F_OK) != 0);
    CHECK(temporary_folder_claim("/nowhere/claimed", &made, NULL) != COG_OK && !made);
}

TEST(base_full_disk_is_its_own_status) {
    struct output *output = NULL;
    cog_error failure = {0};
    CHECK_OK(output_open("/dev/full", &output, error));
    CHECK(output_write(output, "abc", 3, &failure) == COG_OK);
    CHECK(output_commit(output, &failure) == COG_ERR_DISK);
    CHECK(strstr(failure.message, "/dev/full"));
    output_close(output);
}

struct count_context {
    uint8_t seen[1000];
};

static cog_status count_piece(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)worker;
    (void)error;
    struct count_context *counts = context;
    for (size_t i = begin; i < end; i++)
        counts->seen[i]++;
    return COG_OK;
}

TEST(base_parallel_for_covers_the_range_once) {
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct count_context counts = {{0}};
        CHECK_OK(parallel_for(threads, 1000, 7, count_piece, &counts, error));
        for (int i = 0; i < 1000; i++)
            CHECK(counts.seen[i] == 1);
    }
}

struct line_context {
    int produced, total, fail_at;
    int next_expected;
};

static cog_status produce_number(void *context, void *batch, bool *end, cog_error *error) {
    (void)error;
    struct line_context *line = context;
    if (line->produced == line->total)
        *end = true;
    else
        *(int *)batch = line->produced++;
    return COG_OK;
}

static cog_status square_number(void *context, unsigned worker, void *batch, cog_error *error) {
    (void)worker;
    struct line_context *line = context;
    int *value = batch;
    if (*value == line->fail_at)
        return error_set(error, COG_ERR_INPUT, "batch %d", *value);
    *value = *value * *value;
    return COG_OK;
}

static cog_status check_number(void *context, void *batch, cog_error *error) {
    struct line_context *line = context;
    int expected = line->next_expected * line->next_expected;
    line->next_expected++;
    return *(int *)batch == expected ? COG_OK : error_set(error, COG_ERR_USAGE, "out of order");
}

TEST(base_pipeline_delivers_in_order) {
    for (unsigned threads = 1; threads <= 4; threads++) {
        int slots[9];
        void *batches[9];
        for (int i = 0; i < 9; i++)
            batches[i] = &slots[i];
        struct line_context line = {.total = 5000, .fail_at = -1};
        struct pipeline pipeline = {.produce = produce_number,
                                    .work = square_number,
                                    .consume = check_number,
                                    .context = &line,
                                    .batches = batches,
                                    .batch_count = 9};
        CHECK_OK(pipeline_run(&pipeline, threads, error));
        CHECK(line.next_expected == 5000);
        struct line_context failing = {.total = 5000, .fail_at = 700};
        pipeline.context = &failing;
        cog_error failure;
        CHECK(pipeline_run(&pipeline, threads, &failure) == COG_ERR_INPUT);
        CHECK(strcmp(failure.message, "batch 700") == 0);
    }
}

struct counted_pieces {
    size_t done;  /* atomic */
    bool outside; /* atomic: of the loop, as the watch was called */
    size_t allowed;
};

static bool stops_after_allowed(void *context, uint64_t done, uint64_t total) {
    struct counted_pieces *pieces = context;
    if (done >= total)
        __atomic_store_n(&pieces->outside, true, __ATOMIC_RELAXED);
    return __atomic_load_n(&pieces->done, __ATOMIC_RELAXED) >= pieces->allowed;
}

static cog_status count_watched(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    (void)worker, (void)error;
    struct counted_pieces *pieces = context;
    __atomic_fetch_add(&pieces->done, end - begin, __ATOMIC_RELAXED);
    return COG_OK;
}

TEST(base_parallel_loops_stop_when_their_watch_says_so) {
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct counted_pieces pieces = {.allowed = 10};
        struct threads_watch watch = {.stops = stops_after_allowed, .context = &pieces};
        cog_error error = {0};
        CHECK(threads_watch_set(&watch) == NULL);
        CHECK(parallel_for(threads, 100000, 1, count_watched, &pieces, &error) ==
              COG_ERR_CANCELLED);
        CHECK(threads_watch_set(NULL) == &watch);
        CHECK(pieces.done >= 10 && pieces.done < 10 + threads && !pieces.outside);
        CHECK(parallel_for(threads, 100, 1, count_watched, &pieces, &error) == COG_OK);
    }
}

TEST(numbers_in_decimal_are_those_of_printf) {
    const uint64_t numbers[] = {0, 7, 10, 99, 1000000, 18446744073709551615u};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char expected[32], digits[NUMBER_DIGITS_MOST];
        const int size =
            snprintf(expected, sizeof expected, "%llu", (unsigned long long)numbers[i]);
        CHECK(number_digits(numbers[i], digits) == (size_t)size);
        CHECK(memcmp(digits, expected, (size_t)size) == 0);
        uint64_t number = 1;
        const bool is_read = number_of_digits(view_of(digits, (size_t)size), &number);
        CHECK(is_read == (size <= 18) && (!is_read || number == numbers[i]));
    }
    static const char *const others[] = {"",   "01", "00", "-1",
                                         "1 ", "1a", "+1", "1234567890123456789"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        uint64_t number;
        CHECK_MSG(!number_of_digits(view_of_text(others[i]), &number), "%s", others[i]);
    }
}

TEST(sort_u64_sorts_few_and_many) {
    enum { MOST = 200 };
    uint64_t values[MOST], expected[MOST];
    struct random random = random_seeded(7);
    for (size_t count = 0; count <= MOST; count++) {
        for (size_t i = 0; i < count; i++)
            values[i] = expected[i] = random_next(&random) >> (i % 2 ? 0 : 60);
        qsort(expected, count, sizeof *expected, compare_u64);
        sort_u64(values, count);
        CHECK_MSG(memcmp(values, expected, count * sizeof *values) == 0, "%zu values", count);
    }
}
