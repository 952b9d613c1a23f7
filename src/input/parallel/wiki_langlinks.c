#include "input/parallel/wiki_langlinks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "input/documents/text_bytes.h"
#include "input/parallel/line_source.h"

/* Titles of a wiki have at most 255 bytes. */
enum { BLOCK_BYTES = 1 << 16, HEAD_BYTES = 256, FIELD_BYTES = 1024, END_OF_FILE = -1 };

enum row_result { ROW_GOOD, ROW_BAD, ROW_CUT, ROW_ENDED };

cog_status wiki_langlinks_open(struct wiki_langlinks *links, const char *path, cog_error *error) {
    links->path = path;
    links->line = 1;
    links->bytes.descriptor = -1;
    TAKE(links->block, BLOCK_BYTES, "language links", error);
    if (!buffer_reserve(&links->head, HEAD_BYTES) || !buffer_reserve(&links->code, FIELD_BYTES) ||
        !buffer_reserve(&links->title, FIELD_BYTES))
        return error_memory(error, FIELD_BYTES, "language links");
    return byte_source_open_path(&links->bytes, path, error);
}

void wiki_langlinks_close(struct wiki_langlinks *links) {
    if (links->block)
        byte_source_free(&links->bytes);
    free(links->block);
    buffer_free(&links->head);
    buffer_free(&links->code);
    buffer_free(&links->title);
}

/* Reads on if the block is used up. */
static cog_status fill_block(struct wiki_langlinks *links, cog_error *error) {
    if (links->at < links->size)
        return COG_OK;
    links->at = 0;
    return byte_source_read(&links->bytes, links->block, BLOCK_BYTES, &links->size, error);
}

static cog_status peek(struct wiki_langlinks *links, int *byte, cog_error *error) {
    TRY(fill_block(links, error));
    *byte = links->at < links->size ? (unsigned char)links->block[links->at] : END_OF_FILE;
    return COG_OK;
}

static cog_status take(struct wiki_langlinks *links, int *byte, cog_error *error) {
    TRY(peek(links, byte, error));
    links->at += *byte != END_OF_FILE;
    links->line += *byte == '\n';
    return COG_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The byte that a backslash and this one stand for. */
static char unescaped(int byte) {
    switch (byte) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case '0':
        return '\0';
    default:
        return (char)byte;
    }
}

/* A string behind its first quote, up to and including the last. A quote inside has a backslash or
 * another quote before it. Line ends are written \n, so a real one means that the row was cut. */
static cog_status take_string(struct wiki_langlinks *links, struct buffer *string,
                              enum row_result *result, cog_error *error) {
    buffer_reset(string);
    for (;;) {
        int byte, next = 0;
        TRY(take(links, &byte, error));
        if (byte == END_OF_FILE || byte == '\n') {
            *result = byte == '\n' ? ROW_CUT : ROW_ENDED;
            return COG_OK;
        }
        if (byte == '\'') {
            TRY(peek(links, &next, error));
            if (next != '\'')
                return COG_OK;
            links->at++;
        } else if (byte == '\\') {
            TRY(take(links, &next, error));
            if (next == END_OF_FILE || next == '\n') {
                *result = next == '\n' ? ROW_CUT : ROW_ENDED;
                return COG_OK;
            }
            byte = (unsigned char)unescaped(next);
        }
        if (string->size < FIELD_BYTES)
            string->data[string->size++] = (char)byte;
        else
            *result = ROW_BAD; /* but read on to its end */
    }
}

/* One byte that has to stand there. */
static cog_status expect(struct wiki_langlinks *links, char wanted, enum row_result *result,
                         cog_error *error) {
    int byte;
    if (*result == ROW_CUT || *result == ROW_ENDED)
        return COG_OK;
    TRY(peek(links, &byte, error));
    if (byte == END_OF_FILE)
        *result = ROW_ENDED;
    else if (byte != wanted)
        *result = ROW_CUT; /* not our kind of row: pass over the line */
    else
        links->at++;
    return COG_OK;
}

static cog_status take_number(struct wiki_langlinks *links, uint64_t *number,
                              enum row_result *result, cog_error *error) {
    int byte;
    unsigned digits = 0;
    *number = 0;
    for (;; links->at++, digits++) {
        TRY(peek(links, &byte, error));
        if (byte < '0' || byte > '9')
            break;
        if (*number > (UINT64_MAX - 9) / 10)
            *result = ROW_BAD;
        else
            *number = *number * 10 + (uint64_t)(byte - '0');
    }
    if (digits == 0)
        *result = byte == END_OF_FILE ? ROW_ENDED : ROW_CUT;
    return COG_OK;
}

/* A row behind its opening parenthesis. */
static cog_status take_row(struct wiki_langlinks *links, uint64_t *page, enum row_result *result,
                           cog_error *error) {
    struct buffer *const strings[2] = {&links->code, &links->title};
    *result = ROW_GOOD;
    TRY(take_number(links, page, result, error));
    for (int i = 0; i < 2; i++) {
        TRY(expect(links, ',', result, error));
        TRY(expect(links, '\'', result, error));
        if (*result == ROW_GOOD || *result == ROW_BAD)
            TRY(take_string(links, strings[i], result, error));
    }
    TRY(expect(links, ')', result, error));
    if (*result == ROW_GOOD && !(utf8_is_valid(links->code.data, links->code.size) &&
                                 utf8_is_valid(links->title.data, links->title.size)))
        *result = ROW_BAD;
    return COG_OK;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static cog_status skip_line(struct wiki_langlinks *links, cog_error *error) {
    links->in_rows = false;
    for (;;) {
        TRY(fill_block(links, error));
        size_t left = links->size - links->at;
        const char *newline = left ? memchr(links->block + links->at, '\n', left) : NULL;
        links->at = newline ? (size_t)(newline - links->block) + 1 : links->size;
        links->line += newline != NULL;
        if (newline || left == 0)
            return COG_OK;
    }
}

static bool has_text(const struct buffer *buffer, const char *text) {
    return buffer->size && memmem(buffer->data, buffer->size, text, strlen(text));
}

/* Reads the beginning of lines until one inserts language links. */
static cog_status find_rows(struct wiki_langlinks *links, bool *end, cog_error *error) {
    static const char insert[] = "INSERT INTO", values[] = "VALUES";
    while (!links->in_rows) {
        struct buffer *head = &links->head;
        int byte;
        buffer_reset(head);
        do {
            TRY(take(links, &byte, error));
            if (byte != END_OF_FILE && byte != '\n')
                head->data[head->size++] = (char)byte;
        } while (byte != END_OF_FILE && byte != '\n' && head->size < HEAD_BYTES &&
                 !has_text(head, values) &&
                 memcmp(head->data, insert,
                        head->size < sizeof insert - 1 ? head->size : sizeof insert - 1) == 0);
        links->in_rows =
            has_text(head, insert) && has_text(head, "langlinks") && has_text(head, values);
        *end = byte == END_OF_FILE;
        if (*end)
            return COG_OK;
        if (!links->in_rows && byte != '\n')
            TRY(skip_line(links, error));
    }
    return COG_OK;
}

/* What a row that is not good means for the reading. */
static cog_status pass_over(struct wiki_langlinks *links, enum row_result result,
                            cog_error *error) {
    links->bad_rows++;
    if (result == ROW_ENDED)
        return error_set_at(error, COG_ERR_INPUT, links->line,
                            "%s:%llu: the file ends inside a row of language links: fetch it again",
                            links->path, (unsigned long long)links->line);
    if (result == ROW_BAD)
        return COG_OK;
    links->in_rows = false; /* if the line end has been taken, the next line begins here */
    return links->at > 0 && links->block[links->at - 1] == '\n' ? COG_OK : skip_line(links, error);
}

cog_status wiki_langlinks_next(struct wiki_langlinks *links, struct langlink *link, bool *end,
                               cog_error *error) {
    *end = false;
    for (;;) {
        enum row_result result;
        int byte;
        TRY(find_rows(links, end, error));
        if (*end)
            return COG_OK;
        TRY(take(links, &byte, error));
        if (byte == ',' || byte == ' ')
            continue;
        if (byte != '(') { /* ; or a line end: the statement is over */
            links->in_rows = false;
            if (byte != '\n' && byte != END_OF_FILE)
                TRY(skip_line(links, error));
            continue;
        }
        TRY(take_row(links, &link->page, &result, error));
        if (result == ROW_GOOD) {
            links->rows++;
            link->code = buffer_view(&links->code);
            link->title = buffer_view(&links->title);
            return COG_OK;
        }
        TRY(pass_over(links, result, error));
    }
}
