#include "test.h"

#include <ftw.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TESTS = 2000, MAX_PATHS = 4000 };
static const double slow_seconds = 0.1; /* of the processor; the time of such a test is printed */

static struct {
    const char *name, *file;
    test_body *body;
} tests[MAX_TESTS];
static int test_count;
static const char *skip_reason;
static bool failed;
static char folder[64];
static char *paths[MAX_PATHS];
static int path_count;

void test_register(const char *name, const char *file, test_body *body) {
    if (test_count == MAX_TESTS)
        abort();
    tests[test_count].name = name;
    tests[test_count].file = file;
    tests[test_count++].body = body;
}

void test_fail(const char *file, int line, const char *format, ...) {
    va_list arguments;
    printf("  %s:%d: ", file, line);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    failed = true;
}

void test_skip(const char *reason) {
    skip_reason = reason;
}

const char *test_path(const char *name) {
    if (!folder[0]) {
        strcpy(folder, "/tmp/cognate-unit-XXXXXX");
        if (!mkdtemp(folder))
            abort();
    }
    char *path = NULL;
    if (path_count == MAX_PATHS || asprintf(&path, "%s/%d-%s", folder, path_count, name) < 0)
        abort();
    return paths[path_count++] = path;
}

void write_at(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || (size && fwrite(data, 1, size, file) != size) || fclose(file) != 0)
        abort();
}

const char *write_file(const char *name, const void *data, size_t size) {
    const char *path = test_path(name);
    write_at(path, data, size);
    return path;
}

const char *write_text(const char *name, const char *text) {
    return write_file(name, text, strlen(text));
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int main(int argc, char **argv) {
    int passed = 0, failures = 0, skipped = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    qsort(tests, (size_t)test_count, sizeof tests[0], by_name);
    for (int i = 0; i < test_count; i++) {
        const char *place = strstr(tests[i].file, "tests/unit/");
        if (argc > 1 && !strstr(tests[i].name, argv[1]) && !(place && strstr(place + 11, argv[1])))
            continue;
        failed = false;
        skip_reason = NULL;
        double start = processor_seconds();
        tests[i].body();
        double seconds = processor_seconds() - start;
        if (failed) {
            failures++;
            printf("FAIL %s\n", tests[i].name);
        } else if (skip_reason) {
            skipped++;
            printf("skip %s: %s\n", tests[i].name, skip_reason);
        } else {
            passed++;
            printf(seconds < slow_seconds ? "ok   %s\n" : "ok   %s (%.1f s)\n", tests[i].name,
                   seconds);
        }
    }
    if (folder[0])
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    for (int i = 0; i < path_count; i++)
        free(paths[i]);
    printf("%d passed, %d failed, %d skipped\n", passed, failures, skipped);
    return failures != 0;
}
