/* Query logs from Arrow streams: the answer is that of a file with the same rows. */
#include "base/hash.h"
#include "cognate.h"
#include "test.h"

enum { ROWS = 3000, QUERIES = 80, URLS = 25, COLUMNS = 3, LEAD = 5 };

/* NULL: null. Clicks below 0 are null. */
struct click_row {
    const char *query, *url;
    double clicks;
};

/* ---- A producer of streams ------------------------------------------------------------------- */

struct log_stream {
    const struct click_row *rows;
    size_t count, next, chunk; /* rows per array */
    const char *names[COLUMNS];
    const char *count_format; /* "g", "f", "l" or "S"; NULL: there is no column of clicks */
};

static int live_arrays;

static void release_log_schema(struct ArrowSchema *schema) {
    free(schema->children[0]);
    free(schema->children);
    schema->release = NULL;
}

static int log_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    const struct log_stream *log = stream->private_data;
    struct ArrowSchema *columns = calloc(COLUMNS, sizeof *columns);
    const int64_t count = log->count_format ? COLUMNS : COLUMNS - 1;
    *out = (struct ArrowSchema){.format = "+s", .n_children = count, .release = release_log_schema};
    out->children = calloc(COLUMNS, sizeof *out->children);
    for (int i = 0; i < count; i++) {
        columns[i] =
            (struct ArrowSchema){.format = i < 2 ? "u" : log->count_format, .name = log->names[i]};
        out->children[i] = &columns[i];
    }
    return 0;
}

static void release_log_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++) {
        for (int64_t j = 0; j < array->children[i]->n_buffers; j++)
            free((void *)(uintptr_t)array->children[i]->buffers[j]);
        free(array->children[i]->buffers);
        free(array->children[i]);
    }
    free(array->children);
    free(array->buffers);
    array->release = NULL;
    live_arrays--;
}

/* Whole numbers are small enough for their format. */
static void put_number(char *place, const char *format, double value) {
    if (format[0] == 'g') {
        memcpy(place, &value, sizeof value);
    } else if (format[0] == 'f') {
        const float single = (float)value;
        memcpy(place, &single, sizeof single);
    } else if (format[0] == 'l') {
        const int64_t whole = (int64_t)value;
        memcpy(place, &whole, sizeof whole);
    } else {
        const uint16_t narrow = (uint16_t)(int64_t)value;
        memcpy(place, &narrow, sizeof narrow);
    }
}

static size_t number_width(const char *format) {
    return format[0] == 'S' ? sizeof(uint16_t) : format[0] == 'f' ? sizeof(float) : sizeof(double);
}

/* A column behind LEAD null values, which the offset of the whole array passes over. */
static struct ArrowArray *log_column(const struct log_stream *log, const struct click_row *rows,
                                     size_t count, int column) {
    struct ArrowArray *array = calloc(1, sizeof *array);
    uint8_t *validity = calloc(1, (count + LEAD) / 8 + 1);
    enum { WIDEST = sizeof(double), LONGEST = 64 };
    char *values = calloc(count + LEAD + 1, WIDEST), *texts = calloc(count + 1, LONGEST);
    int32_t used = 0;
    array->length = (int64_t)(count + LEAD);
    array->n_buffers = column < 2 ? 3 : 2;
    array->null_count = -1; /* not counted */
    array->buffers = calloc(3, sizeof *array->buffers);
    for (size_t i = 0; i < count; i++) {
        const char *text = column ? rows[i].url : rows[i].query;
        const size_t at = i + LEAD;
        if (column == 2 ? rows[i].clicks >= 0 : text != NULL)
            validity[at / 8] |= (uint8_t)(1u << at % 8);
        if (column == 2) {
            put_number(values + at * number_width(log->count_format), log->count_format,
                       rows[i].clicks);
            continue;
        }
        memcpy(texts + used, text ? text : "", text ? strlen(text) : 0);
        used += text ? (int32_t)strlen(text) : 0;
        memcpy(values + (at + 1) * sizeof used, &used, sizeof used);
    }
    array->buffers[0] = validity;
    array->buffers[1] = values;
    array->buffers[2] = texts;
    if (column == 2)
        free(texts);
    return array;
}

static int log_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    struct log_stream *log = stream->private_data;
    const size_t left = log->count - log->next, count = left < log->chunk ? left : log->chunk;
    *out = (struct ArrowArray){0};
    if (!count)
        return 0;
    *out = (struct ArrowArray){.length = (int64_t)count,
                               .offset = LEAD,
                               .n_buffers = 1,
                               .n_children = log->count_format ? COLUMNS : COLUMNS - 1,
                               .release = release_log_array};
    out->buffers = calloc(1, sizeof *out->buffers);
    out->children = calloc(COLUMNS, sizeof *out->children);
    for (int64_t i = 0; i < out->n_children; i++)
        out->children[i] = log_column(log, log->rows + log->next, count, (int)i);
    log->next += count;
    live_arrays++;
    return 0;
}

static const char *log_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return NULL;
}

static void release_log(struct ArrowArrayStream *stream) {
    stream->release = NULL;
}

static cog_status open_log(struct log_stream *log, cog_documents **documents, cog_error *error) {
    struct ArrowArrayStream stream = {log_schema, log_next, log_error, release_log, log};
    cog_input_options options;
    cog_input_options_init(&options);
    options.format = COG_FORMAT_QUERYLOG;
    cog_status status = cog_documents_from_arrow(&stream, &options, documents, error);
    return stream.release || live_arrays ? COG_ERR_BUSY : status; /* everything is released */
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Rows, some of them bad, of queries that share URLs; `first` has the first row of each query. */
static void make_rows(struct click_row *rows, int64_t first[QUERIES]) {
    static char queries[QUERIES][16], urls[URLS][16];
    struct random random = random_seeded(3);
    for (int i = 0; i < QUERIES; i++) {
        snprintf(queries[i], sizeof queries[i], "query %d", i);
        first[i] = -1;
    }
    for (int i = 0; i < URLS; i++)
        snprintf(urls[i], sizeof urls[i], "url/%d", i);
    for (int i = 0; i < ROWS; i++) {
        const unsigned query = (unsigned)random_below(&random, QUERIES);
        const unsigned kind = (unsigned)random_below(&random, 40);
        rows[i] = (struct click_row){queries[query],
                                     urls[(query + (unsigned)random_below(&random, 9)) % URLS],
                                     (double)random_below(&random, 6)};
        if (kind == 0)
            rows[i].query = NULL;
        else if (kind == 1)
            rows[i].url = NULL;
        else if (kind == 2)
            rows[i].clicks = -1;
        else if (kind == 3)
            rows[i].query = "";
        const bool bad = kind == 0 || kind == 2 || kind == 3;
        if (!bad && first[query] < 0)
            first[query] = i;
    }
}

/* The same rows as lines: a null is a bad line, or a row without a URL. */
static const char *write_rows(const struct click_row *rows) {
    char *text = malloc(ROWS * 48);
    size_t at = 0;
    for (int i = 0; i < ROWS; i++) {
        at += (size_t)sprintf(text + at, "%s\t%s\t", rows[i].query ? rows[i].query : "",
                              rows[i].url ? rows[i].url : "");
        at += (size_t)sprintf(text + at, rows[i].clicks < 0 ? "none\n" : "%.0f\n", rows[i].clicks);
    }
    const char *path = write_file("rows.tsv", text, at);
    free(text);
    return path;
}

static cog_status related_of(cog_documents *documents, cog_measure measure, cog_pairs **pairs,
                             cog_error *error) {
    cog_related_options options;
    cog_related_options_init(&options);
    options.pairs.measure = measure;
    options.pairs.threshold = 0.6;
    return cog_related_find(documents, &options, NULL, pairs, NULL, error);
}

static void check_id(const cog_pairs *pairs, const cog_pairs *expected, int side, uint32_t row,
                     const int64_t first[QUERIES]) {
    size_t size, other_size;
    const char *id = cog_pairs_id(pairs, side, row, &size);
    const char *other = cog_pairs_id(expected, side, row, &other_size);
    CHECK(size == other_size && memcmp(id, other, size) == 0);
    CHECK(cog_pairs_position(pairs, side, row) == (uint64_t)first[atoi(id + 6)]);
}

static void check_pairs(const cog_pairs *pairs, const cog_pairs *expected,
                        const int64_t first[QUERIES]) {
    CHECK(cog_pairs_count(expected) > 20 && cog_pairs_count(pairs) == cog_pairs_count(expected));
    for (size_t i = 0; i < cog_pairs_count(pairs); i++) {
        const cog_pair found = cog_pairs_get(pairs, i), wanted = cog_pairs_get(expected, i);
        CHECK(found.a == wanted.a && found.b == wanted.b && found.similarity == wanted.similarity);
        check_id(pairs, expected, 0, found.a, first);
        check_id(pairs, expected, 1, found.b, first);
    }
}

TEST(arrow_log_answers_as_a_file) {
    static struct click_row rows[ROWS];
    static const char *const formats[] = {"l", "g", "f", "S"};
    int64_t first[QUERIES];
    make_rows(rows, first);
    const char *path = write_rows(rows);
    for (size_t i = 0; i < 8; i++) {
        const cog_measure measure = i % 2 ? COG_MEASURE_JACCARD : COG_MEASURE_COSINE;
        struct log_stream log = {.rows = rows,
                                 .count = ROWS,
                                 .chunk = i < 4 ? ROWS : 7,
                                 .names = {"Query", "URL", "clicks"},
                                 .count_format = formats[i / 2]};
        cog_input_options options;
        cog_documents *file = NULL, *table = NULL;
        cog_pairs *expected = NULL, *pairs = NULL;
        const uint64_t *skipped;
        cog_input_options_init(&options);
        options.format = COG_FORMAT_QUERYLOG;
        CHECK_OK(cog_documents_open(&options, &path, 1, &file, error));
        CHECK_OK(open_log(&log, &table, error));
        CHECK_OK(related_of(file, measure, &expected, error));
        CHECK_OK(related_of(table, measure, &pairs, error));
        check_pairs(pairs, expected, first);
        const size_t count = cog_documents_skipped(table, &skipped);
        CHECK(count > 50 && count == cog_documents_skipped(file, NULL));
        for (size_t j = 0; j < count; j++) {
            const struct click_row *row = &rows[skipped[j]];
            CHECK(!row->query || !row->query[0] || row->clicks < 0);
            CHECK(j == 0 || skipped[j] > skipped[j - 1]);
        }
        cog_pairs_free(pairs);
        cog_pairs_free(expected);
        cog_documents_close(file);
        cog_documents_close(table);
    }
}

TEST(arrow_log_without_clicks_counts_rows) {
    const struct click_row rows[] = {{"a", "u", 0},  {"b", "u", 0}, {"a", "v", 0}, {"b", "v", 0},
                                     {"c", NULL, 0}, {"a", "v", 0}, {"b", "v", 0}};
    struct log_stream log = {
        .rows = rows, .count = 7, .chunk = 2, .names = {"Query", "ClickURL", NULL}};
    cog_documents *documents = NULL;
    cog_related_options options;
    cog_report *report = NULL;
    cog_pairs *pairs = NULL;
    CHECK_OK(open_log(&log, &documents, error));
    CHECK_OK(cog_report_create(&report, error));
    cog_related_options_init(&options);
    options.min_urls = 1;
    CHECK_OK(cog_related_find(documents, &options, NULL, &pairs, report, error));
    CHECK(cog_pairs_count(pairs) == 1 && near(cog_pairs_get(pairs, 0).similarity, 1, 1e-6));
    CHECK(cog_report_number(report, "documents") == 3);
    CHECK(cog_report_number(report, "left_out_queries") == 1);
    cog_pairs_free(pairs);
    cog_report_free(report);
    cog_documents_close(documents);
}

static void refuse_log(struct log_stream log, const char *message) {
    cog_documents *documents = NULL;
    cog_error error = {0};
    CHECK(open_log(&log, &documents, &error) == COG_ERR_USAGE && !documents);
    CHECK_MSG(strstr(error.message, message), "%s", error.message);
}

TEST(arrow_log_columns_that_are_missing_or_wrong) {
    const struct click_row row = {"a", "u", 1};
    struct log_stream log = {
        .rows = &row, .count = 1, .chunk = 1, .names = {"query", "page", "clicks"}};
    refuse_log(log, "no column \"url\": a query log has the columns query, url and clicks, or "
                    "AOL's Query and ClickURL; there are \"query\", \"page\"");
    log.names[1] = "url";
    log.names[0] = "text";
    refuse_log(log, "no column \"query\"");
    log.names[0] = "query";
    log.count_format = "u";
    refuse_log(log, "\"clicks\" has the format \"u\": cast it to an integer or a double");
    log.count_format = "tdD";
    refuse_log(log, "\"clicks\" has the format \"tdD\"");
}

TEST(arrow_log_bad_rows_are_named) {
    const struct click_row rows[] = {{"a", "u", 1},    {NULL, "u", 1},   {"b\xff", "u", 1},
                                     {"c", "u", 2e30}, {"d", "\xc0", 1}, {"e", "u", -1}};
    static const char *const problems[] = {"row 1: the query is null", "row 2: not valid UTF-8",
                                           "row 3: the clicks are not a number from 0 on",
                                           "row 4: not valid UTF-8", "row 5: the clicks are null"};
    struct log_stream log = {.rows = rows,
                             .count = 6,
                             .chunk = 6,
                             .names = {"query", "url", "clicks"},
                             .count_format = "g"};
    cog_documents *documents = NULL;
    cog_report *report = NULL;
    cog_statistics *statistics = NULL;
    cog_term_options terms;
    cog_term_options_init(&terms);
    CHECK_OK(open_log(&log, &documents, error));
    CHECK_OK(cog_report_create(&report, error));
    CHECK_OK(cog_statistics_collect(documents, &terms, NULL, &statistics, report, error));
    CHECK(cog_statistics_documents(statistics) == 1);
    CHECK(cog_report_notice_count(report) == 5);
    for (size_t i = 0; i < 5; i++)
        CHECK_MSG(strstr(cog_report_notice(report, i), problems[i]), "%s",
                  cog_report_notice(report, i));
    cog_statistics_free(statistics);
    cog_report_free(report);
    cog_documents_close(documents);
}

TEST(arrow_log_of_bad_rows_alone) {
    const struct click_row rows[] = {{NULL, "u", 1}};
    struct log_stream log = {.rows = rows,
                             .count = 1,
                             .chunk = 1,
                             .names = {"query", "url", "clicks"},
                             .count_format = "g"};
    cog_documents *documents = NULL;
    cog_related_options options;
    cog_pairs *pairs = NULL;
    const uint64_t *skipped = NULL;
    cog_related_options_init(&options);
    CHECK_OK(open_log(&log, &documents, error));
    CHECK_OK(cog_related_find(documents, &options, NULL, &pairs, NULL, error));
    CHECK(cog_pairs_count(pairs) == 0);
    CHECK(cog_documents_skipped(documents, &skipped) == 1 && skipped[0] == 0);
    cog_pairs_free(pairs);
    cog_documents_close(documents);
}
