#include "test_input_support.h"

#include <sys/stat.h>

#include "base/memory.h"
#include "test.h"

static char *copy(const char *data, size_t size) {
    char *result = malloc(size + 1);
    if (!result)
        abort();
    if (size)
        memcpy(result, data, size);
    result[size] = 0;
    return result;
}

static void take_document(struct read_item *item, const struct document *document) {
    item->id = copy(document->id.data, document->id.size);
    item->id_size = document->id.size;
    item->lang = copy(document->lang.data, document->lang.size);
    item->text = copy(document->text.data, document->text.size);
    item->text_size = document->text.size;
    item->raw = copy(document->raw.data, document->raw.size);
    item->raw_size = document->raw.size;
    if (document->extra.data)
        item->extra = copy(document->extra.data, document->extra.size);
    item->file = document->file;
    item->line = document->line;
    item->term_count = document->term_count;
    if (document->terms)
        item->terms = (struct given_term *)copy((const char *)document->terms,
                                                document->term_count * sizeof *document->terms);
}

static cog_status take_batch(struct record_parser *parser, const struct record_batch *batch,
                             struct read_result *result) {
    for (size_t i = 0; i < batch->count; i++) {
        if (!memory_grow((void **)&result->items, &result->capacity, result->count + 1,
                         sizeof *result->items))
            abort();
        struct read_item *item = &result->items[result->count++];
        *item = (struct read_item){0};
        struct document document = {0};
        struct bad_record bad = {0};
        if (batch->records[i].passed_over) {
            item->passed_over = true;
            item->line = batch->records[i].line;
            document.id = document.lang = document.text = view_of("", 0);
            document.raw =
                view_of(batch->bytes.data + batch->records[i].offset, batch->records[i].size);
            take_document(item, &document);
            continue;
        }
        cog_status status = reader_parse(parser, batch, i, &document, &bad, &result->error);
        item->bad = status != COG_OK;
        if (item->bad) {
            result->bad_count++;
            memcpy(item->message, bad.message, sizeof item->message);
            document.id = document.lang = document.text = view_of("", 0);
            document.extra = view_of(NULL, 0);
            document.terms = NULL;
        }
        take_document(item, &document);
        if (item->bad)
            item->line = bad.line;
        if (status != COG_OK && status != COG_ERR_INPUT)
            return status;
    }
    return COG_OK;
}

struct read_result read_all(struct reader *reader) {
    struct read_result result = {0};
    struct record_parser *parser = NULL;
    struct record_batch batch = {0};
    bool end = false;
    result.status = record_parser_create(reader, &parser, &result.error);
    while (result.status == COG_OK) {
        result.status = reader_fill(reader, &batch, &end, &result.error);
        if (result.status != COG_OK || end)
            break;
        if (batch.first_record != result.count)
            abort();
        if (batch.bytes.size > result.largest_batch_bytes)
            result.largest_batch_bytes = batch.bytes.size;
        result.status = take_batch(parser, &batch, &result);
    }
    record_batch_free(&batch);
    record_parser_free(parser);
    return result;
}

struct read_result read_paths(const struct reader_options *options, const char *const *paths,
                              size_t count) {
    struct reader *reader = NULL;
    struct read_result result = {0};
    result.status = reader_open(options, paths, count, &reader, &result.error);
    if (result.status == COG_OK)
        result = read_all(reader);
    reader_close(reader);
    return result;
}

struct read_result read_path(const struct reader_options *options, const char *path) {
    return read_paths(options, &path, 1);
}

void read_result_free(struct read_result *result) {
    for (size_t i = 0; i < result->count; i++) {
        struct read_item *item = &result->items[i];
        free(item->id);
        free(item->lang);
        free(item->text);
        free(item->raw);
        free(item->extra);
        free(item->terms);
    }
    free(result->items);
    *result = (struct read_result){0};
}

static bool items_equal(const struct read_item *a, const struct read_item *b) {
    return a->bad == b->bad && a->line == b->line && a->file == b->file &&
           strcmp(a->message, b->message) == 0 && a->id_size == b->id_size &&
           memcmp(a->id, b->id, a->id_size) == 0 && strcmp(a->lang, b->lang) == 0 &&
           a->text_size == b->text_size && memcmp(a->text, b->text, a->text_size) == 0 &&
           a->raw_size == b->raw_size && memcmp(a->raw, b->raw, a->raw_size) == 0 &&
           a->term_count == b->term_count &&
           (a->term_count == 0 ||
            memcmp(a->terms, b->terms, a->term_count * sizeof *a->terms) == 0);
}

bool read_results_equal(const struct read_result *a, const struct read_result *b) {
    if (a->count != b->count || a->status != b->status ||
        strcmp(a->error.message, b->error.message) != 0)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!items_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

struct reader_options default_options(void) {
    struct reader_options options;
    reader_options_init(&options);
    return options;
}

void write_below(const char *folder, const char *name, const char *text) {
    char path[4096];
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    write_at(path, text, strlen(text));
}
