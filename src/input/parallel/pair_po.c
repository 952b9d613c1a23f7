/* gettext catalogues. An entry pairs msgid with msgstr (or msgstr[0]) and msgid_plural with
 * msgstr[1]; fuzzy and obsolete entries are left out. The header entry (empty msgid) names the
 * language of the translations. A lone accelerator mark (_File, &File) is no part of the word. */
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "input/parallel/pair_reader.h"

enum po_field { PO_NONE, PO_ID, PO_PLURAL, PO_STR, PO_STR_1, PO_OTHER, PO_CONTEXT, PO_FIELDS };

struct po_parser {
    struct buffer fields[PO_FIELDS];
    enum po_field current;
    bool fuzzy, any;
    bool translation_is_to; /* the header says that the translations are of the target language */
};

cog_status po_parser_open(struct pair_reader *reader, cog_error *error) {
    TAKE_ZEROED(reader->po, 1, "a catalogue", error);
    return line_source_open(&reader->from, pair_reader_path(reader), error);
}

void po_parser_close(struct po_parser *parser) {
    if (!parser)
        return;
    for (int i = 0; i < PO_FIELDS; i++)
        buffer_free(&parser->fields[i]);
    free(parser);
}

/* The code of the header's line "Language:"; empty if it has none. */
static void find_language(const struct buffer *header, char code[LANGUAGE_CODE_BYTES]) {
    static const char key[] = "Language:";
    const char *at = header->data, *end = header->data + header->size;
    code[0] = 0;
    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        next = next ? next : end;
        if ((size_t)(next - at) >= sizeof key && memcmp(at, key, sizeof key - 1) == 0) {
            for (at += sizeof key - 1; at < next && *at == ' ';)
                at++;
            const char *stop = memchr(at, ' ', (size_t)(next - at));
            language_canonical(view_of(at, (size_t)((stop ? stop : next) - at)), code);
            return;
        }
        at = next + (next < end);
    }
}

static cog_status read_header(struct pair_reader *reader, cog_error *error) {
    const char *from_name = reader->options.from_language, *to_name = reader->options.to_language;
    char code[LANGUAGE_CODE_BYTES], from[LANGUAGE_CODE_BYTES], to[LANGUAGE_CODE_BYTES];
    find_language(&reader->po->fields[PO_STR], code);
    language_canonical(view_of_text(from_name), from);
    language_canonical(view_of_text(to_name), to);
    reader->po->translation_is_to = code[0] && strcmp(code, to) == 0;
    if (!code[0] || strcmp(code, to) == 0 || strcmp(code, from) == 0)
        return COG_OK;
    return error_set(error, COG_ERR_INPUT,
                     "%s: its translations are in the language %s, not in %s or %s: leave this "
                     "catalogue out",
                     pair_reader_path(reader), code, from_name, to_name);
}

/* Takes out the mark where there is exactly one in the text. */
static void drop_accelerator(struct buffer *text, char mark) {
    char *first = text->size ? memchr(text->data, mark, text->size) : NULL;
    if (!first || first + 1 == text->data + text->size || first[1] == ' ' ||
        memchr(first + 1, mark, text->size - (size_t)(first + 1 - text->data)))
        return;
    memmove(first, first + 1, text->size - (size_t)(first + 1 - text->data));
    text->size--;
}

static cog_status add_strings(struct pair_reader *reader, struct pair_batch *batch,
                              enum po_field id, enum po_field translation, cog_error *error) {
    struct buffer *original = &reader->po->fields[id], *other = &reader->po->fields[translation];
    if (original->size == 0 || other->size == 0)
        return COG_OK;
    for (const char *mark = "_&"; *mark; mark++)
        if (memchr(original->data, *mark, original->size) &&
            memchr(other->data, *mark, other->size)) {
            drop_accelerator(original, *mark);
            drop_accelerator(other, *mark);
        }
    struct bytes_view a = buffer_view(other), b = buffer_view(original);
    return pair_reader_add(reader, batch, reader->po->translation_is_to ? b : a,
                           reader->po->translation_is_to ? a : b, reader->from.line, error);
}

static cog_status finish_entry(struct pair_reader *reader, struct pair_batch *batch,
                               cog_error *error) {
    struct po_parser *parser = reader->po;
    cog_status status = COG_OK;
    if (parser->any && parser->fields[PO_ID].size == 0)
        status = read_header(reader, error);
    else if (parser->any && !parser->fuzzy)
        status = add_strings(reader, batch, PO_ID, PO_STR, error);
    if (status == COG_OK && !parser->fuzzy)
        status = add_strings(reader, batch, PO_PLURAL, PO_STR_1, error);
    for (int i = 0; i < PO_FIELDS; i++)
        buffer_reset(&parser->fields[i]);
    parser->any = parser->fuzzy = false;
    parser->current = PO_NONE;
    return status;
}

/* The text between the first and the last quote of a line, escapes undone. */
static bool append_quoted(struct buffer *buffer, struct bytes_view line) {
    const char *at = memchr(line.data, '"', line.size);
    const char *end = at ? memrchr(line.data, '"', line.size) : NULL;
    if (!at || end == at)
        return true;
    for (at++; at < end; at++) {
        char letter = *at;
        if (letter == '\\' && at + 1 < end) {
            at++;
            letter = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at;
        }
        if (!buffer_append(buffer, &letter, 1))
            return false;
    }
    return true;
}

static enum po_field field_of(struct bytes_view line) {
    static const struct {
        const char *word;
        enum po_field field;
    } words[] = {{"msgid_plural", PO_PLURAL}, {"msgid", PO_ID},      {"msgstr[0]", PO_STR},
                 {"msgstr[1]", PO_STR_1},     {"msgstr[", PO_OTHER}, {"msgstr", PO_STR},
                 {"msgctxt", PO_CONTEXT}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (view_begins_with(line, words[i].word))
            return words[i].field;
    return PO_NONE;
}

static cog_status take_line(struct pair_reader *reader, struct pair_batch *batch,
                            struct bytes_view line, cog_error *error) {
    struct po_parser *parser = reader->po;
    cog_status status = COG_OK;
    bool comment = view_begins_with(line, "#");
    enum po_field field = comment ? PO_NONE : field_of(line);
    bool begins = line.size == 0 || comment || field == PO_CONTEXT ||
                  (field == PO_ID && parser->current != PO_CONTEXT);
    if (begins && parser->any)
        status = finish_entry(reader, batch, error);
    if (comment) {
        parser->fuzzy |= view_begins_with(line, "#,") && memmem(line.data, line.size, "fuzzy", 5);
        return status;
    }
    if (field != PO_NONE) {
        parser->current = field;
        parser->any |= field == PO_ID;
    } else if (!view_begins_with(line, "\"")) {
        return status;
    }
    if (status == COG_OK && !append_quoted(&parser->fields[parser->current], line))
        status = error_memory(error, line.size, "a catalogue");
    return status;
}

cog_status po_parser_fill(struct pair_reader *reader, struct pair_batch *batch, bool *done,
                          cog_error *error) {
    cog_status status = COG_OK;
    while (status == COG_OK && !*done && batch->text.size < PAIR_BATCH_BYTES) {
        struct bytes_view line;
        status = line_source_next(&reader->from, &line, done, error);
        THEN(status,
             *done ? finish_entry(reader, batch, error) : take_line(reader, batch, line, error));
    }
    return status;
}
