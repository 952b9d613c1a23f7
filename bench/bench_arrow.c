/* Deduplication of texts in Arrow by the C API, for comparison with the same call from Python
 * (python_speed.py runs both). Each line of the file is a text; the texts become one large_string
 * column in memory, which is not measured. Measured are cog_documents_from_arrow, cog_dedup and the
 * three tables of its result.
 *
 * bench_arrow FILE [RUNS]
 *
 * Prints one line per run: seconds of processor time of all threads, the number of kept rows, and
 * the bytes that the run added to the resident memory at its peak. */
#include <stdio.h>
#include <string.h>

#include "bench_timing.h"
#include "cognate.h"

enum { DEFAULT_RUNS = 1 };

/* A column of texts, and a stream that hands it out once. */
struct texts {
    char *data;
    int64_t *offsets;
    int64_t count;
    bool is_taken;
};

static void fail(const char *what) {
    fprintf(stderr, "bench_arrow: %s\n", what);
    exit(1);
}

static void require(cog_status status, const cog_error *error) {
    if (status != COG_OK)
        fail(error->message);
}

/* ---- The column ------------------------------------------------------------------------------ */

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail("the file of texts cannot be read");
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size + 1);
    if (!data || fread(data, 1, *size, file) != *size)
        fail("the file of texts cannot be read");
    fclose(file);
    return data;
}

/* Closes the gaps of the line ends, so that the texts are contiguous, as Arrow needs them. */
static void read_texts(const char *path, struct texts *texts) {
    size_t size, to = 0;
    *texts = (struct texts){.data = read_file(path, &size)};
    for (size_t i = 0; i < size; i++)
        texts->count += texts->data[i] == '\n';
    texts->offsets = malloc(((size_t)texts->count + 1) * sizeof *texts->offsets);
    if (!texts->offsets)
        fail("no memory for the texts");
    int64_t row = 0;
    texts->offsets[0] = 0;
    for (size_t i = 0; i < size; i++)
        if (texts->data[i] == '\n')
            texts->offsets[++row] = (int64_t)to;
        else
            texts->data[to++] = texts->data[i];
}

static void schema_release(struct ArrowSchema *schema) {
    schema->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    (void)stream;
    *out = (struct ArrowSchema){.format = "U", .name = "text", .release = schema_release};
    return 0;
}

static void array_release(struct ArrowArray *array) {
    free(array->buffers);
    array->release = NULL;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    struct texts *texts = stream->private_data;
    *out = (struct ArrowArray){0};
    if (texts->is_taken)
        return 0;
    texts->is_taken = true;
    const void **buffers = malloc(3 * sizeof *buffers);
    if (!buffers)
        fail("no memory for an array");
    buffers[0] = NULL;
    buffers[1] = texts->offsets;
    buffers[2] = texts->data;
    *out = (struct ArrowArray){
        .length = texts->count, .n_buffers = 3, .buffers = buffers, .release = array_release};
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return NULL;
}

static void stream_release(struct ArrowArrayStream *stream) {
    stream->release = NULL;
}

/* ---- One run --------------------------------------------------------------------------------- */

/* Reads a result to its end, as a program that uses it would; returns its rows. */
static long long drain(struct ArrowArrayStream *stream) {
    struct ArrowArray array = {0};
    long long rows = 0;
    while (stream->get_next(stream, &array) == 0 && array.release) {
        rows += array.length;
        array.release(&array);
    }
    stream->release(stream);
    return rows;
}

static long long dedup_texts(struct texts *texts) {
    struct ArrowArrayStream in = {get_schema, get_next, get_last_error, stream_release, texts};
    struct ArrowArrayStream kept, all, removed;
    cog_documents *documents = NULL;
    cog_clusters *clusters = NULL;
    cog_report *report = NULL;
    cog_dedup_options options;
    cog_error error = {0};
    texts->is_taken = false;
    cog_dedup_options_init(&options);
    options.keep = COG_KEEP_FIRST;
    require(cog_report_create(&report, &error), &error);
    require(cog_documents_from_arrow(&in, NULL, &documents, &error), &error);
    require(cog_dedup(documents, &options, NULL, NULL, &clusters, report, &error), &error);
    require(cog_clusters_kept_to_arrow(clusters, &kept, &error), &error);
    require(cog_clusters_to_arrow(clusters, false, &all, &error), &error);
    require(cog_clusters_removed_to_arrow(clusters, &removed, &error), &error);
    cog_clusters_free(clusters);
    cog_documents_close(documents);
    cog_report_free(report);
    drain(&all);
    drain(&removed);
    return drain(&kept);
}

/* VmRSS: now; VmHWM: the most since forget_peak. In bytes. */
static long long memory_bytes(const char *field) {
    char line[256];
    long long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            kilobytes = strtoll(line + strlen(field) + 1, NULL, 10);
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

static void forget_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
}

int main(int argc, char **argv) {
    struct texts texts;
    if (argc < 2)
        fail("usage: bench_arrow FILE [RUNS]");
    const int runs = argc > 2 ? atoi(argv[2]) : DEFAULT_RUNS;
    read_texts(argv[1], &texts);
    for (int i = 0; i < runs; i++) {
        forget_peak();
        const long long before = memory_bytes("VmRSS");
        const double start = bench_process_seconds();
        const long long kept = dedup_texts(&texts);
        const double seconds = bench_process_seconds() - start;
        printf("%.6f %lld %lld\n", seconds, kept, memory_bytes("VmHWM") - before);
    }
    free(texts.data);
    free(texts.offsets);
    return 0;
}
