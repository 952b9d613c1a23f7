#include "run/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/strings.h"

/* Seconds and bytes are those of a stage; bytes the most that was held until its end. */
enum field_kind { FIELD_PLAIN, FIELD_SECONDS, FIELD_BYTES };

struct field {
    char *name;
    char *text; /* NULL for a number */
    double number;
    enum field_kind kind;
};

struct cog_report {
    struct field *fields;
    size_t count, capacity;
    char **notices;
    size_t notice_count, notice_capacity;
    struct buffer json;
};

cog_status cog_report_create(cog_report **report, cog_error *error) {
    TRY(check_given(report, "report", error));
    return TAKEN_ZEROED(*report, 1, "a report", error);
}

void cog_report_free(cog_report *report) {
    if (!report)
        return;
    for (size_t i = 0; i < report->count; i++) {
        FREE(report->fields[i].name, report->fields[i].text);
    }
    for (size_t i = 0; i < report->notice_count; i++)
        free(report->notices[i]);
    FREE(report->fields, report->notices);
    buffer_free(&report->json);
    free(report);
}

static struct field *find_field(const cog_report *report, const char *name, enum field_kind kind) {
    for (size_t i = 0; i < report->count; i++)
        if (report->fields[i].kind == kind && strcmp(report->fields[i].name, name) == 0)
            return &report->fields[i];
    return NULL;
}

/* A report that runs out of memory loses a field, never the job. */
static struct field *want_field(cog_report *report, const char *name, enum field_kind kind) {
    struct field *field = find_field(report, name, kind);
    if (field)
        return field;
    char *copy = strdup(name);
    if (!copy || !memory_grow((void **)&report->fields, &report->capacity, report->count + 1,
                              sizeof *report->fields)) {
        free(copy);
        return NULL;
    }
    field = &report->fields[report->count++];
    *field = (struct field){.name = copy, .kind = kind};
    return field;
}

void report_number(cog_report *report, const char *name, double value) {
    struct field *field = report ? want_field(report, name, FIELD_PLAIN) : NULL;
    if (field)
        field->number = value;
}

void report_text(cog_report *report, const char *name, const char *value) {
    struct field *field = report ? want_field(report, name, FIELD_PLAIN) : NULL;
    if (!field)
        return;
    free(field->text);
    field->text = strdup(value);
}

void report_stage(cog_report *report, const char *name, double seconds) {
    struct field *field = report ? want_field(report, name, FIELD_SECONDS) : NULL;
    if (field)
        field->number += seconds;
    field = report ? want_field(report, name, FIELD_BYTES) : NULL;
    if (field)
        field->number = (double)memory_job_peak_bytes();
}

void report_peak(cog_report *report) {
    report_number(report, "peak_memory_bytes", (double)memory_job_peak_bytes());
    report_number(report, "process_peak_bytes", (double)memory_peak_bytes());
}

void report_notice(cog_report *report, const char *format, ...) {
    if (!report || !memory_grow((void **)&report->notices, &report->notice_capacity,
                                report->notice_count + 1, sizeof *report->notices))
        return;
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) >= 0)
        report->notices[report->notice_count++] = text;
    va_end(arguments);
}

static bool json_string(struct buffer *json, const char *text) {
    return json_append_string(json, view_of_text(text));
}

static bool json_number(struct buffer *json, double number) {
    if (!isfinite(number))
        return buffer_append_text(json, "null");
    bool is_whole = number == floor(number) && fabs(number) < 0x1p53;
    return buffer_printf(json, is_whole ? "%.0f" : "%.6g", number);
}

static bool json_fields(struct buffer *json, const cog_report *report, enum field_kind kind) {
    const char *indent = kind == FIELD_PLAIN ? "  " : "    ";
    bool done = true;
    for (size_t i = 0; i < report->count && done; i++) {
        const struct field *field = &report->fields[i];
        if (field->kind != kind)
            continue;
        done = buffer_append_text(json, json->data[json->size - 1] == '{' ? "\n" : ",\n") &&
               buffer_append_text(json, indent) && json_string(json, field->name) &&
               buffer_append_text(json, ": ") &&
               (field->text ? json_string(json, field->text) : json_number(json, field->number));
    }
    return done;
}

static bool json_notices(struct buffer *json, const cog_report *report) {
    bool done = true;
    for (size_t i = 0; i < report->notice_count && done; i++)
        done = buffer_append_text(json, i ? ",\n    " : "\n    ") &&
               json_string(json, report->notices[i]);
    return done && buffer_append_text(json, report->notice_count ? "\n  ]\n}\n" : "]\n}\n");
}

/* NULL when memory ran out. */
static const char *report_as_json(cog_report *report) {
    struct buffer *json = &report->json;
    buffer_reset(json);
    bool done = buffer_append_text(json, "{") && json_fields(json, report, FIELD_PLAIN) &&
                (json->size == 1 || buffer_append_text(json, ",")) &&
                buffer_append_text(json, "\n  \"seconds\": {") &&
                json_fields(json, report, FIELD_SECONDS) &&
                buffer_append_text(json, "\n  },\n  \"bytes\": {") &&
                json_fields(json, report, FIELD_BYTES) &&
                buffer_append_text(json, "\n  },\n  \"notices\": [") &&
                json_notices(json, report) && buffer_append(json, "", 1);
    return done ? json->data : NULL;
}

const char *cog_report_json(cog_report *report) {
    const char *json = report_as_json(report);
    return json ? json : "{}";
}

cog_status cog_report_write(cog_report *report, const char *path, cog_error *error) {
    TRY(check_given(report, "report", error));
    TRY(check_given(path, "path", error));
    const char *json = report_as_json(report);
    return json ? output_write_file(path, json, strlen(json), error)
                : error_memory(error, report->json.size, "a report");
}

double cog_report_number(const cog_report *report, const char *name) {
    if (!report)
        return 0;
    const struct field *field = find_field(report, name, FIELD_PLAIN);
    if (!field)
        field = find_field(report, name, FIELD_SECONDS);
    return field && !field->text ? field->number : 0;
}

size_t cog_report_notice_count(const cog_report *report) {
    return report->notice_count;
}

const char *cog_report_notice(const cog_report *report, size_t index) {
    return index < report->notice_count ? report->notices[index] : NULL;
}
