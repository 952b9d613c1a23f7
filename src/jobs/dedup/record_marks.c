#include "jobs/dedup/record_marks.h"

#include <stdlib.h>

#include "base/strings.h"

#define NONE UINT32_MAX

struct record_marks {
    const struct duplicates *duplicates;
    struct buffer name; /* the field as a JSON string */
    uint32_t *rows;     /* of a record, or NONE */
    uint32_t *clusters; /* of a row, or NONE */
    size_t record_count;
};

cog_status record_marks_check(const char *field, const cog_documents *documents, cog_error *error) {
    const struct reader *reader = documents->reader;
    if (!*field)
        return error_about(error, COG_ERR_USAGE, "mark", "the field for marks has no name");
    for (uint32_t file = 0; reader && file < reader_file_count(reader); file++)
        if (reader_file_format(reader, file) != INPUT_JSONL &&
            reader_file_format(reader, file) != INPUT_AUTO)
            return error_about(error, COG_ERR_USAGE, "mark",
                               "%s: only JSON records take marks; ask for the clusters instead",
                               reader_file_name(reader, file));
    return COG_OK;
}

static cog_status fill(struct record_marks *marks, const char *field,
                       const cog_cluster_member *members, size_t member_count, cog_error *error) {
    const struct duplicates *duplicates = marks->duplicates;
    const size_t count = duplicates->count;
    marks->record_count = count ? (size_t)duplicates_record(duplicates, count - 1) + 1 : 0;
    if (!json_append_string(&marks->name, view_of(field, strlen(field))))
        return error_memory(error, strlen(field), "marks");
    TAKE(marks->rows, marks->record_count, "marks", error);
    TAKE(marks->clusters, count, "marks", error);
    for (size_t record = 0; record < marks->record_count; record++)
        marks->rows[record] = NONE;
    for (uint32_t row = 0; row < count; row++) {
        marks->rows[duplicates_record(duplicates, row)] = row;
        marks->clusters[row] = NONE;
    }
    for (size_t i = 0; i < member_count; i++)
        marks->clusters[members[i].row] = members[i].cluster;
    return COG_OK;
}

cog_status record_marks_create(const char *field, const struct duplicates *duplicates,
                               const cog_cluster_member *members, size_t member_count,
                               struct record_marks **result, cog_error *error) {
    struct record_marks *marks;
    TAKE_ZEROED(marks, 1, "marks", error);
    marks->duplicates = duplicates;
    cog_status status = fill(marks, field, members, member_count, error);
    return HAND_OUT(status, marks, record_marks_free, result);
}

void record_marks_free(struct record_marks *marks) {
    if (!marks)
        return;
    buffer_free(&marks->name);
    free(marks->rows);
    free(marks->clusters);
    free(marks);
}

/* The object of a row, in front of the brace that ends its record. */
static cog_status append_mark(const struct record_marks *marks, uint32_t row, struct buffer *bytes,
                              cog_error *error) {
    const struct duplicates *duplicates = marks->duplicates;
    const bool is_kept = duplicates_keeps(duplicates, row);
    struct buffer twin = {0};
    bool fits = buffer_append(bytes, ",", 1) &&
                buffer_append(bytes, marks->name.data, marks->name.size) &&
                buffer_append_text(bytes, ":{");
    if (marks->clusters[row] != NONE)
        fits = fits && buffer_printf(bytes, "\"cluster\":%u,", marks->clusters[row]);
    fits = fits && buffer_printf(bytes, "\"kept\":%s", is_kept ? "true" : "false");
    if (!is_kept) {
        TRY(duplicates_id(duplicates, duplicates->twin[row], duplicates->by_reference, &twin,
                          error));
        fits = fits && buffer_append_text(bytes, ",\"twin\":") &&
               json_append_string(bytes, view_of(twin.data, twin.size)) &&
               buffer_printf(bytes, ",\"similarity\":%.6f,\"reason\":\"%s\"",
                             (double)duplicates->similarity[row],
                             duplicate_reason_name(duplicates->reason[row]));
        buffer_free(&twin);
    }
    fits = fits && buffer_append(bytes, "}", 1);
    return fits ? COG_OK : error_memory(error, bytes->size, "marks");
}

/* Whether the record has the field's name in front of a colon: in the object itself, or in an
 * object or string inside it, which nobody looks at closer. */
static bool has_field(const struct record_marks *marks, struct bytes_view raw) {
    const char *at = raw.data, *end = raw.data + raw.size;
    while ((at = memmem(at, (size_t)(end - at), marks->name.data, marks->name.size))) {
        at += marks->name.size;
        const char *next = at;
        while (next < end && (*next == ' ' || *next == '\t'))
            next++;
        if (next < end && *next == ':')
            return true;
    }
    return false;
}

cog_status record_marks_append(const struct record_marks *marks, uint64_t record,
                               struct bytes_view raw, struct buffer *bytes, cog_error *error) {
    if (record >= marks->record_count || marks->rows[record] == NONE)
        return COG_OK;
    const char *brace = memrchr(raw.data, '}', raw.size);
    if (!brace || has_field(marks, raw))
        return error_about(error, COG_ERR_INPUT, "mark",
                           "record %llu has a field %.*s already: choose another name for marks",
                           (unsigned long long)record + 1, (int)marks->name.size, marks->name.data);
    const size_t front = (size_t)(brace - raw.data);
    if (!buffer_append(bytes, raw.data, front))
        return error_memory(error, raw.size, "marks");
    TRY(append_mark(marks, marks->rows[record], bytes, error));
    return buffer_append(bytes, brace, raw.size - front) ? COG_OK
                                                         : error_memory(error, raw.size, "marks");
}
