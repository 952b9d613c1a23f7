#include "jobs/dedup/report/verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "input/documents/json_parser.h"
#include "input/parallel/line_source.h"

enum verdict_kind { VERDICT_KEEP, VERDICT_DIFFERENT, VERDICT_DUPLICATE };

/* A document named by a verdict. The id is a range of verdicts.ids. */
struct named_document {
    size_t id_at, id_size;
    uint32_t given_row; /* as given in the verdict, or NO_ROW */
};

struct verdict {
    enum verdict_kind kind;
    uint64_t line;
    struct named_document documents[2]; /* keep uses one */
};

struct verdicts {
    char *path;
    struct verdict *items;
    size_t count, capacity;
    struct buffer ids;
};

void verdicts_free(struct verdicts *verdicts) {
    if (!verdicts)
        return;
    free(verdicts->path);
    free(verdicts->items);
    buffer_free(&verdicts->ids);
    free(verdicts);
}

size_t verdicts_count(const struct verdicts *verdicts) {
    return verdicts->count;
}

static size_t document_count(const struct verdict *verdict) {
    return verdict->kind == VERDICT_KEEP ? 1 : 2;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The current line, and what is needed to read it. */
struct verdict_line {
    const char *path;
    uint64_t number;
    struct buffer text; /* followed by padding */
    size_t size;
    struct json_parser *parser;
};

static cog_status bad_line(const struct verdict_line *line, const char *problem, const char *name,
                           cog_error *error) {
    return error_set_at(error, COG_ERR_INPUT, line->number, "%s:%llu: %s%s%s", line->path,
                        (unsigned long long)line->number, problem, name ? ": " : "",
                        name ? name : "");
}

static cog_status find_fields(const struct verdict_line *line, struct json_field *fields,
                              size_t count, cog_error *error) {
    const char *problem = NULL;
    enum parse_result result =
        json_parser_find(line->parser, line->text.data, line->size, fields, count, &problem);
    if (result == PARSE_OUT_OF_MEMORY)
        return error_memory(error, line->size, "a verdict");
    return result == PARSE_OK ? COG_OK : bad_line(line, "not a JSON object", problem, error);
}

static cog_status take_id(struct verdicts *verdicts, const struct verdict_line *line,
                          const struct json_field *field, struct named_document *document,
                          cog_error *error) {
    if (field->token.size == 0)
        return bad_line(line, "the verdict has no document; add the field", field->name.data,
                        error);
    struct bytes_view id = field->token;
    struct buffer decoded = {0};
    enum parse_result result =
        json_token_is_number(id) ? PARSE_OK : json_string_decode(id, &decoded, &id);
    document->id_at = verdicts->ids.size;
    document->id_size = id.size;
    bool fits = result != PARSE_OUT_OF_MEMORY && buffer_append(&verdicts->ids, id.data, id.size);
    buffer_free(&decoded);
    if (!fits)
        return error_memory(error, field->token.size, "the ids of verdicts");
    return result == PARSE_OK ? COG_OK
                              : bad_line(line, "an id must be a string or a number, in the field",
                                         field->name.data, error);
}

static cog_status take_row(const struct verdict_line *line, const struct json_field *field,
                           struct named_document *document, cog_error *error) {
    double number = NO_ROW;
    bool given = field->token.size && !view_equals(field->token, view_of("null", 4));
    bool whole = !given || (number_parse(field->token, &number) && number >= 0 && number < NO_ROW &&
                            number == (double)(uint32_t)number);
    if (!whole)
        return bad_line(line, "a row must be a whole number of 0 or more, in the field",
                        field->name.data, error);
    document->given_row = (uint32_t)number;
    return COG_OK;
}

#define FIELD(text)                                                                                \
    {                                                                                              \
        .name = {(text), sizeof(text) - 1 }                                                        \
    }

static cog_status take_documents(struct verdicts *verdicts, const struct verdict_line *line,
                                 struct verdict *verdict, cog_error *error) {
    struct json_field one[] = {FIELD("id"), FIELD("row")};
    struct json_field two[] = {FIELD("a"), FIELD("a_row"), FIELD("b"), FIELD("b_row")};
    size_t count = document_count(verdict);
    struct json_field *fields = count == 1 ? one : two;
    TRY(find_fields(line, fields, 2 * count, error));
    for (size_t i = 0; i < count; i++) {
        TRY(take_id(verdicts, line, &fields[2 * i], &verdict->documents[i], error));
        TRY(take_row(line, &fields[2 * i + 1], &verdict->documents[i], error));
    }
    return COG_OK;
}

static cog_status take_kind(const struct verdict_line *line, enum verdict_kind *kind,
                            cog_error *error) {
    static const char *const names[] = {"\"keep\"", "\"different\"", "\"duplicate\""};
    struct json_field field = FIELD("verdict");
    TRY(find_fields(line, &field, 1, error));
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (view_is(field.token, names[i])) {
            *kind = (enum verdict_kind)i;
            return COG_OK;
        }
    return bad_line(line,
                    "not a verdict; the field \"verdict\" must be \"keep\", \"different\" or "
                    "\"duplicate\"",
                    NULL, error);
}

static cog_status take_line(struct verdicts *verdicts, struct verdict_line *line,
                            struct bytes_view text, cog_error *error) {
    text = line->number == 1 ? without_mark(text) : text;
    while (text.size && is_one_of(text.data[text.size - 1], " \t"))
        text.size--;
    if (text.size == 0)
        return COG_OK;
    if (!utf8_is_valid(text.data, text.size))
        return bad_line(line, "not valid UTF-8", NULL, error);
    buffer_reset(&line->text);
    if (!buffer_reserve(&line->text, text.size + JSON_PADDING_BYTES))
        return error_memory(error, text.size, "a verdict");
    memcpy(line->text.data, text.data, text.size);
    memset(line->text.data + text.size, 0, JSON_PADDING_BYTES);
    line->size = text.size;
    GROW(verdicts->items, verdicts->capacity, verdicts->count + 1, "verdicts", error);
    struct verdict *verdict = &verdicts->items[verdicts->count];
    *verdict = (struct verdict){.line = line->number};
    TRY(take_kind(line, &verdict->kind, error));
    TRY(take_documents(verdicts, line, verdict, error));
    verdicts->count++;
    return COG_OK;
}

static cog_status read_lines(struct verdicts *verdicts, struct verdict_line *line,
                             cog_error *error) {
    struct line_source source = {0};
    struct bytes_view text;
    bool end = false;
    cog_status status = line_source_open(&source, line->path, error);
    while (status == COG_OK && !end) {
        status = line_source_next(&source, &text, &end, error);
        line->number = source.line;
        if (status == COG_OK && !end)
            status = take_line(verdicts, line, text, error);
    }
    line_source_close(&source);
    return status;
}

cog_status verdicts_read(const char *path, struct verdicts **result, cog_error *error) {
    struct verdicts *verdicts;
    TAKE_ZEROED(verdicts, 1, "verdicts", error);
    verdicts->path = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
    struct verdict_line line = {.path = path, .parser = json_parser_create()};
    cog_status status = verdicts->path && line.parser
                            ? read_lines(verdicts, &line, error)
                            : error_memory(error, sizeof *verdicts, "verdicts");
    json_parser_free(line.parser);
    buffer_free(&line.text);
    return HAND_OUT(status, verdicts, verdicts_free, result);
}

/* ---- Applying -------------------------------------------------------------------------------- */

/* Groups are the clusters being built. A row is in group group_of[row], or NO_ROW if it is alone
 * and in no verdict yet. A group merged into another points to it. */
struct row_group {
    uint32_t part_of; /* itself if not merged */
    uint32_t survivor;
};

/* The rows with an id that a verdict names: an open-addressing table. */
struct named_id {
    struct bytes_view id; /* data NULL: free */
    uint32_t first_row;   /* NO_ROW: no document has the id */
    uint32_t count;       /* number of documents with the id */
    uint32_t *rows;       /* all of them, if more than one */
    size_t row_capacity;
};

enum notice_kind { NOTICE_UNKNOWN, NOTICE_CONTRADICTED, NOTICE_FAR, NOTICE_KINDS };
enum { NOTICES_MOST = 10 };

struct applying {
    const struct verdicts *verdicts;
    struct duplicate_rows *rows;
    cog_report *report;
    uint32_t *group_of;
    struct row_group *groups;
    size_t group_count, group_capacity;
    uint32_t *stays_by; /* by row: 1 + the verdict that keeps it, or 0 */
    struct named_id *ids;
    size_t id_slots;
    uint8_t *overruled; /* by verdict: a later one is about the same two documents */
    size_t notices[NOTICE_KINDS];
};

static struct bytes_view id_of(const struct verdicts *verdicts,
                               const struct named_document *document) {
    return view_of(verdicts->ids.data + document->id_at, document->id_size);
}

static bool may_notice(struct applying *applying, enum notice_kind kind) {
    return applying->notices[kind]++ < NOTICES_MOST;
}

/* ---- Documents by their ids ---- */

static struct named_id *id_slot(const struct applying *applying, struct bytes_view id) {
    size_t at;
    HASH_PROBE(at, hash_bytes(id.data, id.size), applying->id_slots,
               !applying->ids[at].id.data || view_equals(applying->ids[at].id, id));
    return &applying->ids[at];
}

static cog_status note_row(struct named_id *named, uint32_t row, cog_error *error) {
    if (named->count++ == 0) {
        named->first_row = row;
        return COG_OK;
    }
    GROW(named->rows, named->row_capacity, named->count, "repeated ids", error);
    named->rows[0] = named->first_row;
    named->rows[named->count - 1] = row;
    return COG_OK;
}

static cog_status list_ids(struct applying *applying, cog_error *error) {
    const struct verdicts *verdicts = applying->verdicts;
    applying->id_slots = hash_slots(2 * verdicts->count, 16);
    TAKE_ZEROED(applying->ids, applying->id_slots, "the ids of verdicts", error);
    for (size_t i = 0; i < verdicts->count; i++)
        for (size_t d = 0; d < document_count(&verdicts->items[i]); d++) {
            struct bytes_view id = id_of(verdicts, &verdicts->items[i].documents[d]);
            struct named_id *named = id_slot(applying, id);
            *named = (struct named_id){.id = id, .first_row = NO_ROW};
        }
    return COG_OK;
}

static cog_status find_rows(struct applying *applying, cog_error *error) {
    struct buffer id = {0};
    cog_status status = COG_OK;
    for (uint32_t row = 0; row < applying->rows->count && status == COG_OK; row++) {
        struct bytes_view view;
        status = duplicate_row_id(applying->rows, row, &id, &view, error);
        struct named_id *named = status == COG_OK ? id_slot(applying, view) : NULL;
        if (named && named->id.data)
            status = note_row(named, row, error);
    }
    buffer_free(&id);
    return status;
}

/* The row named by a verdict; NO_ROW, with a notice, if there is none. */
static uint32_t row_of(struct applying *applying, const struct verdict *verdict, size_t which) {
    const struct verdicts *verdicts = applying->verdicts;
    const struct named_document *document = &verdict->documents[which];
    struct bytes_view id = id_of(verdicts, document);
    const struct named_id *named = id_slot(applying, id);
    if (named->count == 1)
        return named->first_row;
    for (uint32_t i = 0; i < named->count; i++)
        if (named->rows[i] == document->given_row)
            return document->given_row;
    int shown = id.size < 200 ? (int)id.size : 200;
    if (!may_notice(applying, NOTICE_UNKNOWN))
        return NO_ROW;
    if (named->count == 0)
        report_notice(applying->report,
                      "%s:%llu: verdict without effect: there is no document %.*s", verdicts->path,
                      (unsigned long long)verdict->line, shown, id.data);
    else
        report_notice(applying->report,
                      "%s:%llu: verdict without effect: %u documents have the id %.*s, and the "
                      "verdict does not give the row of one of them",
                      verdicts->path, (unsigned long long)verdict->line, named->count, shown,
                      id.data);
    return NO_ROW;
}

/* ---- Groups ---- */

static uint32_t group_root(struct applying *applying, uint32_t group) {
    struct row_group *groups = applying->groups;
    while (groups[group].part_of != group) {
        groups[group].part_of = groups[groups[group].part_of].part_of;
        group = groups[group].part_of;
    }
    return group;
}

/* Puts this row alone into a new group. */
static cog_status leave_group(struct applying *applying, uint32_t row, cog_error *error) {
    GROW(applying->groups, applying->group_capacity, applying->group_count + 1, "clusters", error);
    uint32_t group = (uint32_t)applying->group_count++;
    applying->groups[group] = (struct row_group){group, row};
    applying->group_of[row] = group;
    return COG_OK;
}

static cog_status group_of_row(struct applying *applying, uint32_t row, uint32_t *group,
                               cog_error *error) {
    if (applying->group_of[row] == NO_ROW)
        TRY(leave_group(applying, row, error));
    *group = group_root(applying, applying->group_of[row]);
    return COG_OK;
}

static cog_status make_groups(struct applying *applying, cog_error *error) {
    const struct duplicate_rows *rows = applying->rows;
    TAKE(applying->group_of, rows->count, "clusters", error);
    TAKE_ZEROED(applying->stays_by, rows->count, "clusters", error);
    GROW(applying->groups, applying->group_capacity,
         rows->cluster_count + 2 * applying->verdicts->count + 1, "clusters", error);
    applying->group_count = rows->cluster_count;
    for (uint32_t row = 0; row < rows->count; row++) {
        uint32_t cluster = rows->rows[row].cluster;
        applying->group_of[row] = cluster;
        if (cluster != NO_ROW)
            applying->groups[cluster] = (struct row_group){cluster, rows->rows[row].kept_row};
    }
    return COG_OK;
}

/* ---- Verdicts ---- */

static void mark_kept(struct applying *applying, const struct verdict *verdict, uint32_t row) {
    applying->stays_by[row] = (uint32_t)(verdict - applying->verdicts->items) + 1;
    struct duplicate_row *item = &applying->rows->rows[row];
    if (item->reference_row == NO_ROW)
        return;
    item->reference_row = NO_ROW;
    item->similarity = 1;
    item->identical = true;
}

/* The row is now removed; adds a notice if a verdict kept it. */
static void mark_removed(struct applying *applying, const struct verdict *verdict, uint32_t row) {
    uint32_t by = applying->stays_by[row];
    applying->stays_by[row] = 0;
    if (!by || !may_notice(applying, NOTICE_CONTRADICTED))
        return;
    report_notice(applying->report,
                  "%s:%llu: removes what line %llu keeps; the later verdict is used",
                  applying->verdicts->path, (unsigned long long)verdict->line,
                  (unsigned long long)applying->verdicts->items[by - 1].line);
}

static void make_survivor(struct applying *applying, const struct verdict *verdict, uint32_t group,
                          uint32_t row) {
    if (applying->groups[group].survivor != row)
        mark_removed(applying, verdict, applying->groups[group].survivor);
    applying->groups[group].survivor = row;
    mark_kept(applying, verdict, row);
}

static cog_status separate_pair(struct applying *applying, const struct verdict *verdict,
                                uint32_t a, uint32_t b, cog_error *error) {
    uint32_t of_a, of_b;
    TRY(group_of_row(applying, a, &of_a, error));
    TRY(group_of_row(applying, b, &of_b, error));
    if (of_a != of_b)
        return COG_OK;
    uint32_t leaves = applying->groups[of_b].survivor == b ? a : b;
    mark_kept(applying, verdict, leaves);
    return leave_group(applying, leaves, error);
}

static cog_status unite_pair(struct applying *applying, const struct verdict *verdict, uint32_t a,
                             uint32_t b, cog_error *error) {
    uint32_t of_a, of_b;
    TRY(group_of_row(applying, a, &of_a, error));
    TRY(group_of_row(applying, b, &of_b, error));
    make_survivor(applying, verdict, of_a, a);
    if (of_a == of_b)
        return COG_OK;
    if (applying->groups[of_b].survivor != b) {
        applying->group_of[b] = of_a;
        return COG_OK;
    }
    mark_removed(applying, verdict, b);
    applying->groups[of_b].part_of = of_a;
    return COG_OK;
}

static cog_status apply(struct applying *applying, const struct verdict *verdict,
                        cog_error *error) {
    uint32_t rows[2] = {NO_ROW, NO_ROW}, group;
    for (size_t i = 0; i < document_count(verdict); i++)
        if ((rows[i] = row_of(applying, verdict, i)) == NO_ROW)
            return COG_OK;
    if (rows[0] == rows[1])
        return COG_OK;
    if (verdict->kind == VERDICT_DIFFERENT)
        return separate_pair(applying, verdict, rows[0], rows[1], error);
    if (verdict->kind == VERDICT_DUPLICATE)
        return unite_pair(applying, verdict, rows[0], rows[1], error);
    TRY(group_of_row(applying, rows[0], &group, error));
    make_survivor(applying, verdict, group, rows[0]);
    return COG_OK;
}

/* A key of the two documents in either order. */
static uint64_t pair_key(const struct verdicts *verdicts, const struct verdict *verdict) {
    uint64_t keys[2];
    for (size_t i = 0; i < 2; i++) {
        struct bytes_view id = id_of(verdicts, &verdict->documents[i]);
        keys[i] = hash_pair(hash_bytes(id.data, id.size), verdict->documents[i].given_row);
    }
    return keys[0] < keys[1] ? hash_pair(keys[0], keys[1]) : hash_pair(keys[1], keys[0]);
}

/* Goes from the last verdict to the first: of several about the same two documents, the last is
 * applied. */
static cog_status overrule(struct applying *applying, cog_error *error) {
    const struct verdicts *verdicts = applying->verdicts;
    struct {
        uint64_t key;
        uint32_t verdict; /* 1 + its index; 0: free */
    } *slots = NULL;
    size_t slot_count = hash_slots(verdicts->count, 16), at;
    TAKE_ZEROED(applying->overruled, verdicts->count, "verdicts", error);
    TAKE_ZEROED(slots, slot_count, "verdicts", error);
    for (size_t i = verdicts->count; i-- > 0;) {
        const struct verdict *verdict = &verdicts->items[i];
        if (verdict->kind == VERDICT_KEEP)
            continue;
        uint64_t key = pair_key(verdicts, verdict);
        HASH_PROBE(at, key, slot_count, !slots[at].verdict || slots[at].key == key);
        applying->overruled[i] = slots[at].verdict != 0;
        if (!slots[at].verdict) {
            slots[at].key = key;
            slots[at].verdict = (uint32_t)i + 1;
            continue;
        }
        const struct verdict *later = &verdicts->items[slots[at].verdict - 1];
        if (later->kind != verdict->kind && may_notice(applying, NOTICE_CONTRADICTED))
            report_notice(
                applying->report, "%s:%llu: contradicts line %llu; the later verdict is used",
                verdicts->path, (unsigned long long)later->line, (unsigned long long)verdict->line);
    }
    free(slots);
    return COG_OK;
}

/* ---- The result ---- */

/* Updates a row that was removed and is now kept or vice versa, and its similarity. */
static cog_status update_row(struct applying *applying, uint32_t number,
                             duplicate_similarity *similarity, void *context, cog_error *error) {
    struct duplicate_row *row = &applying->rows->rows[number];
    uint32_t group = applying->group_of[number];
    if (group == NO_ROW)
        return COG_OK;
    group = group_root(applying, group);
    uint32_t kept = applying->groups[group].survivor;
    row->cluster = group;
    if (row->kept_row == kept)
        return COG_OK;
    if (kept == number) {
        row->nearest_row = row->kept_row;
        row->nearest_similarity = row->similarity;
        row->is_unknown = false;
        row->similarity = 1;
        row->identical = true;
    } else {
        TRY(similarity(context, number, kept, &row->similarity, &row->identical, error));
        applying->notices[NOTICE_FAR] += (double)row->similarity < applying->rows->threshold;
    }
    row->kept_row = kept;
    return COG_OK;
}

static cog_status update_rows(struct applying *applying, duplicate_similarity *similarity,
                              void *context, cog_error *error) {
    struct duplicate_rows *rows = applying->rows;
    for (uint32_t row = 0; row < rows->count; row++)
        TRY(update_row(applying, row, similarity, context, error));
    return duplicate_rows_complete(rows, applying->group_count, error);
}

static void report_verdicts(const struct applying *applying) {
    const size_t *notices = applying->notices;
    cog_report *report = applying->report;
    report_number(report, "verdicts", (double)applying->verdicts->count);
    report_number(report, "verdicts_unknown", (double)notices[NOTICE_UNKNOWN]);
    report_number(report, "verdicts_contradicted", (double)notices[NOTICE_CONTRADICTED]);
    report_number(report, "verdicts_far", (double)notices[NOTICE_FAR]);
    if (notices[NOTICE_UNKNOWN] > NOTICES_MOST)
        report_notice(report, "%s: %zu verdicts in total have no effect because of their ids",
                      applying->verdicts->path, notices[NOTICE_UNKNOWN]);
    if (notices[NOTICE_CONTRADICTED] > NOTICES_MOST)
        report_notice(report, "%s: %zu verdicts in total are contradicted by later ones",
                      applying->verdicts->path, notices[NOTICE_CONTRADICTED]);
    if (notices[NOTICE_FAR])
        report_notice(report,
                      "%s: %zu %s removed by verdicts, with a similarity to the survivor below the "
                      "threshold",
                      applying->verdicts->path, notices[NOTICE_FAR],
                      plural(notices[NOTICE_FAR], "document is", "documents are"));
}

static void applying_free(struct applying *applying) {
    for (size_t i = 0; applying->ids && i < applying->id_slots; i++)
        free(applying->ids[i].rows);
    FREE(applying->ids, applying->group_of, applying->groups, applying->stays_by,
         applying->overruled);
}

cog_status verdicts_apply(const struct verdicts *verdicts, struct duplicate_rows *rows,
                          duplicate_similarity *similarity, void *context, cog_report *report,
                          cog_error *error) {
    struct applying applying = {.verdicts = verdicts, .rows = rows, .report = report};
    cog_status status = list_ids(&applying, error);
    THEN(status, find_rows(&applying, error));
    THEN(status, make_groups(&applying, error));
    THEN(status, overrule(&applying, error));
    for (size_t i = 0; i < verdicts->count && status == COG_OK; i++)
        if (!applying.overruled[i])
            status = apply(&applying, &verdicts->items[i], error);
    THEN(status, update_rows(&applying, similarity, context, error));
    if (status == COG_OK)
        report_verdicts(&applying);
    applying_free(&applying);
    return status;
}
