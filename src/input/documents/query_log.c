#include "input/documents/query_log.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"
#include "input/documents/csv_row.h"
#include "input/documents/text_bytes.h"

struct text_place {
    size_t offset, size; /* in query_log.texts */
    uint64_t line;
    uint32_t file;
};

struct click {
    uint64_t url;
    double weight;
    uint32_t query;
};

struct query_log {
    struct buffer texts; /* queries and bad rows */
    struct text_place *queries, *bad_rows;
    const char **problems; /* of bad rows; constants */
    size_t query_count, query_capacity, bad_count, bad_capacity, problem_capacity;
    uint32_t *slots; /* query number + 1, by hash; 0 is free */
    size_t slot_count;
    struct click *clicks;
    size_t click_count, click_capacity;
    struct given_term *terms; /* after query_log_finish: of query q, [starts[q], starts[q + 1]) */
    size_t *starts;
};

static const uint64_t BAD_ROW = UINT64_MAX;

enum { MAX_COLUMNS = 6 };

/* The fields of a line, and how many there are (counting stops at MAX_COLUMNS). */
static size_t split(struct bytes_view line, struct bytes_view fields[MAX_COLUMNS]) {
    struct csv_cursor cursor = csv_row_fields(line, TABS);
    size_t count = 0;
    while (count < MAX_COLUMNS && csv_next_field(&cursor, NULL, &fields[count]))
        count++;
    return count;
}

static bool is_digits(struct bytes_view field) {
    for (size_t i = 0; i < field.size; i++)
        if (field.data[i] < '0' || field.data[i] > '9')
            return false;
    return field.size > 0;
}

/* Such as 2006-03-01 07:17:12. */
static bool is_time(struct bytes_view field) {
    return field.size > 10 && is_digits(view_of(field.data, 4)) && field.data[4] == '-' &&
           is_digits(view_of(field.data + 5, 2)) && field.data[7] == '-';
}

static bool is_word(struct bytes_view field, const char *word) {
    return field.size == strlen(word) && strncasecmp(field.data, word, field.size) == 0;
}

static bool starts_with_id(struct bytes_view line) {
    return line.size >= 7 && memcmp(line.data, "AnonID\t", 7) == 0;
}

bool query_is_header(struct bytes_view line) {
    struct bytes_view fields[MAX_COLUMNS];
    if (line.size < 6 || strncasecmp(line.data, "query\t", 6) != 0)
        return starts_with_id(line);
    return split(line, fields) == 3 && is_word(fields[1], "url") && is_word(fields[2], "clicks");
}

/* A row without a click may have three columns, of which the last is the time. */
enum query_columns query_columns_of(struct bytes_view line) {
    struct bytes_view fields[MAX_COLUMNS];
    size_t count = split(line, fields);
    bool has_user = count > 0 && is_digits(fields[0]);
    return starts_with_id(line) || (has_user && (count == 5 || (count == 3 && is_time(fields[2]))))
               ? QUERY_COLUMNS_AOL
               : QUERY_COLUMNS_CLICKS;
}

/* Digits with an optional fraction; the C library's functions would heed the locale. */
static bool parse_clicks(struct bytes_view field, double *clicks) {
    double value = 0, unit = 0;
    size_t digits = 0;
    for (size_t i = 0; i < field.size; i++) {
        char c = field.data[i];
        if (c == '.' && unit == 0) {
            unit = 1;
        } else if (c >= '0' && c <= '9') {
            digits++;
            value = value * 10 + (c - '0');
            unit *= 10;
        } else {
            return false;
        }
    }
    *clicks = unit > 1 ? value / unit : value;
    return digits > 0 && digits <= 30;
}

/* NULL, or the problem with the row (a constant). */
static const char *query_row_parse(struct bytes_view line, enum query_columns columns,
                                   struct query_row *row) {
    struct bytes_view fields[MAX_COLUMNS];
    size_t count = split(line, fields);
    *row = (struct query_row){.clicks = 1};
    if (!utf8_is_valid(line.data, line.size))
        return "not valid UTF-8";
    if (columns == QUERY_COLUMNS_AOL) {
        if (count != 3 && count != 5)
            return "not the columns AnonID, Query, QueryTime, ItemRank, ClickURL";
        row->query = fields[1];
        row->url = count == 5 ? fields[4] : view_of("", 0);
    } else {
        if (count != 3)
            return "not the columns query, url, clicks";
        row->query = fields[0];
        row->url = fields[1];
        if (!parse_clicks(fields[2], &row->clicks))
            return "the clicks are not a number";
    }
    return row->query.size ? NULL : "the query is empty";
}

struct query_log *query_log_create(void) {
    return calloc(1, sizeof(struct query_log));
}

void query_log_free(struct query_log *log) {
    if (!log)
        return;
    buffer_free(&log->texts);
    FREE(log->queries, log->bad_rows, log->problems, log->slots, log->clicks, log->terms,
         log->starts, log);
}

static bool keep_text(struct query_log *log, struct bytes_view text, struct text_place **places,
                      size_t *count, size_t *capacity, uint32_t file, uint64_t line) {
    if (!memory_grow((void **)places, capacity, *count + 1, sizeof **places))
        return false;
    size_t offset = log->texts.size;
    if (!buffer_append(&log->texts, text.data, text.size))
        return false;
    (*places)[(*count)++] = (struct text_place){offset, text.size, line, file};
    return true;
}

static struct bytes_view query_text(const struct query_log *log, size_t query) {
    return view_of(log->texts.data + log->queries[query].offset, log->queries[query].size);
}

/* The slot of a query: its own, or the free one where it belongs. */
static uint32_t *find_slot(const struct query_log *log, struct bytes_view query) {
    size_t at;
    HASH_PROBE(at, hash_bytes(query.data, query.size), log->slot_count,
               !log->slots[at] || view_equals(query_text(log, log->slots[at] - 1), query));
    return &log->slots[at];
}

/* Room for one more query than there are. */
static bool grow_slots(struct query_log *log) {
    if (log->query_count < log->slot_count / 2)
        return true;
    const size_t count = hash_slots(log->query_count + 1, 1024);
    uint32_t *slots = memory_zeroed_array(count, sizeof *slots);
    if (!slots)
        return false;
    free(log->slots);
    log->slots = slots;
    log->slot_count = count;
    for (size_t i = 0; i < log->query_count; i++)
        *find_slot(log, query_text(log, i)) = (uint32_t)i + 1;
    return true;
}

static bool add_row(struct query_log *log, const struct query_row *row, uint32_t file,
                    uint64_t line) {
    if (!grow_slots(log) || log->query_count >= UINT32_MAX - 1)
        return false;
    uint32_t *slot = find_slot(log, row->query);
    if (*slot == 0) {
        if (!keep_text(log, row->query, &log->queries, &log->query_count, &log->query_capacity,
                       file, line))
            return false;
        *slot = (uint32_t)log->query_count;
    }
    if (row->url.size == 0 || row->clicks == 0)
        return true;
    if (!memory_grow((void **)&log->clicks, &log->click_capacity, log->click_count + 1,
                     sizeof *log->clicks))
        return false;
    log->clicks[log->click_count++] =
        (struct click){hash_bytes(row->url.data, row->url.size), row->clicks, *slot - 1};
    return true;
}

static bool add_bad_row(struct query_log *log, struct bytes_view text, const char *problem,
                        uint32_t file, uint64_t line) {
    if (!memory_grow((void **)&log->problems, &log->problem_capacity, log->bad_count + 1,
                     sizeof *log->problems))
        return false;
    log->problems[log->bad_count] = problem;
    return keep_text(log, text, &log->bad_rows, &log->bad_count, &log->bad_capacity, file, line);
}

static cog_status kept_or_full(const struct query_log *log, bool kept, cog_error *error) {
    return kept ? COG_OK : error_memory(error, log->texts.size, "the queries of a log");
}

cog_status query_log_add_row(struct query_log *log, const struct query_row *row,
                             const char *problem, uint32_t file, uint64_t line_number,
                             cog_error *error) {
    return kept_or_full(log,
                        problem ? add_bad_row(log, row->query, problem, file, line_number)
                                : add_row(log, row, file, line_number),
                        error);
}

cog_status query_log_add(struct query_log *log, struct bytes_view line, enum query_columns columns,
                         uint32_t file, uint64_t line_number, cog_error *error) {
    struct query_row row;
    const char *problem = query_row_parse(line, columns, &row);
    return kept_or_full(log,
                        problem ? add_bad_row(log, line, problem, file, line_number)
                                : add_row(log, &row, file, line_number),
                        error);
}

/* By weight too, so that sums do not depend on the order of rows. */
static int by_url(const void *a, const void *b) {
    const struct click *x = a, *y = b;
    return x->url != y->url ? ORDER(x->url, y->url) : ORDER(x->weight, y->weight);
}

/* Sorts the clicks by query (counting), each query's by URL, and sums those on the same URL. */
static void group_clicks(struct query_log *log, struct click *sorted) {
    size_t *starts = log->starts;
    for (size_t i = 0; i < log->click_count; i++)
        starts[log->clicks[i].query + 1]++;
    for (size_t q = 0; q < log->query_count; q++)
        starts[q + 1] += starts[q];
    for (size_t i = 0; i < log->click_count; i++)
        sorted[starts[log->clicks[i].query]++] = log->clicks[i];
    size_t begin = 0, kept = 0;
    for (size_t q = 0; q < log->query_count; q++) {
        size_t end = starts[q]; /* filling has moved each start to its end */
        qsort(sorted + begin, end - begin, sizeof *sorted, by_url);
        starts[q] = kept;
        for (size_t i = begin; i < end;) {
            double weight = 0;
            uint64_t url = sorted[i].url;
            for (; i < end && sorted[i].url == url; i++)
                weight += sorted[i].weight;
            memset(&log->terms[kept], 0, sizeof log->terms[kept]);
            log->terms[kept].hash = url;
            log->terms[kept++].weight = (float)weight;
        }
        begin = end;
    }
    starts[log->query_count] = kept;
}

cog_status query_log_finish(struct query_log *log, cog_error *error) {
    struct click *sorted = memory_array(log->click_count, sizeof *sorted);
    log->starts = memory_zeroed_array(log->query_count + 1, sizeof *log->starts);
    log->terms = memory_array(log->click_count, sizeof *log->terms);
    if (!sorted || !log->starts || !log->terms) {
        free(sorted);
        return error_memory(error, log->click_count * sizeof *sorted, "the clicks of a query log");
    }
    group_clicks(log, sorted);
    FREE(sorted, log->clicks, log->slots);
    log->clicks = NULL;
    log->slots = NULL;
    log->slot_count = 0;
    return COG_OK;
}

uint64_t query_log_bytes(const struct query_log *log) {
    return log->texts.size + log->starts[log->query_count] * sizeof *log->terms;
}

cog_status query_log_index(struct query_log *log, cog_error *error) {
    return grow_slots(log) ? COG_OK
                           : error_memory(error, log->query_count * 2 * sizeof *log->slots,
                                          "the queries of a log");
}

uint64_t query_log_record_of(const struct query_log *log, struct bytes_view line,
                             enum query_columns columns) {
    struct query_row row;
    if (log->slot_count == 0 || query_row_parse(line, columns, &row))
        return UINT64_MAX;
    const uint32_t number = *find_slot(log, row.query);
    return number ? log->bad_count + number - 1 : UINT64_MAX;
}

size_t query_log_count(const struct query_log *log) {
    return log->bad_count + log->query_count;
}

size_t query_log_record_at(const struct query_log *log, uint64_t line,
                           struct query_log_cursor *cursor) {
    if (cursor->bad_rows < log->bad_count && log->bad_rows[cursor->bad_rows].line == line)
        return cursor->bad_rows++;
    if (cursor->queries < log->query_count && log->queries[cursor->queries].line == line)
        return log->bad_count + cursor->queries++;
    return SIZE_MAX;
}

/* A count, then the terms of a query or the problem of a bad row, then its text. */
static bool append_record(const struct query_log *log, const struct text_place *place,
                          uint64_t count, const void *head, size_t head_bytes, struct buffer *bytes,
                          struct record *record) {
    static const char zeros[8];
    const size_t offset = (bytes->size + 7) / 8 * 8;
    /* Without any text there is no buffer of texts. */
    const char *text = place->size ? log->texts.data + place->offset : NULL;
    if (!buffer_append(bytes, zeros, offset - bytes->size) ||
        !buffer_append(bytes, &count, sizeof count) || !buffer_append(bytes, head, head_bytes) ||
        !buffer_append(bytes, text, place->size))
        return false;
    *record = (struct record){
        .offset = offset, .size = bytes->size - offset, .line = place->line, .file = place->file};
    return true;
}

bool query_log_append(const struct query_log *log, size_t index, struct buffer *bytes,
                      struct record *record) {
    if (index < log->bad_count)
        return append_record(log, &log->bad_rows[index], BAD_ROW, &log->problems[index],
                             sizeof *log->problems, bytes, record);
    const size_t query = index - log->bad_count, first = log->starts[query];
    const size_t terms = log->starts[query + 1] - first;
    return append_record(log, &log->queries[query], terms, log->terms + first,
                         terms * sizeof *log->terms, bytes, record);
}

struct query_record query_record_view(const char *data, size_t size) {
    uint64_t count;
    memcpy(&count, data, sizeof count);
    struct query_record record = {
        .terms = (const struct given_term *)(const void *)(data + sizeof count)};
    const char *text = data + sizeof count;
    if (count == BAD_ROW) {
        memcpy(&record.problem, text, sizeof record.problem);
        text += sizeof record.problem;
    } else {
        record.term_count = (size_t)count;
        text += record.term_count * sizeof *record.terms;
    }
    record.text = view_of(text, (size_t)(data + size - text));
    return record;
}
