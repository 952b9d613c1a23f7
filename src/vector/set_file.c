#include "vector/set_file.h"

#include <string.h>

#include "base/io/files.h"
#include "base/memory.h"

enum { CURSOR_BYTES = 1 << 20, ID_SIZE_BYTES = 4 };

static const char name[] = "the file of term sets";

size_t set_record_bytes(const struct set_row *row, size_t id_size) {
    return member_set_bytes(row->terms) + member_set_bytes(row->words) + ID_SIZE_BYTES + id_size;
}

bool set_record_append(struct buffer *batch, const uint64_t *terms, size_t term_count,
                       const uint64_t *words, size_t word_count, struct bytes_view id) {
    const struct set_row row = {0, (uint32_t)term_count, (uint32_t)word_count};
    const uint32_t id_size = (uint32_t)id.size;
    if (!buffer_reserve(batch, set_record_bytes(&row, id.size)))
        return false;
    uint8_t *at = (uint8_t *)batch->data + batch->size;
    member_set_encode(terms, term_count, at);
    at += member_set_bytes(term_count);
    member_set_encode(words, word_count, at);
    at += member_set_bytes(word_count);
    memcpy(at, &id_size, sizeof id_size);
    if (id.size)
        memcpy(at + sizeof id_size, id.data, id.size);
    batch->size += set_record_bytes(&row, id.size);
    return true;
}

void loaded_sets_free(struct loaded_sets *sets) {
    FREE(sets->terms, sets->words);
    buffer_free(&sets->bytes);
    *sets = (struct loaded_sets){0};
}

/* Leaves out the members beyond the share; 0: none. */
static size_t decode_members(const uint8_t *bytes, size_t count, unsigned share,
                             uint64_t *members) {
    if (share)
        return member_set_decode_first(bytes, count, share, members);
    member_set_decode(bytes, count, members);
    return count;
}

static cog_status decode(const struct set_row *row, const uint8_t *bytes, unsigned share,
                         struct loaded_sets *sets, cog_error *error) {
    sets->term_count = sets->word_count = 0;
    GROW(sets->terms, sets->term_capacity, row->terms, "a document's terms", error);
    GROW(sets->words, sets->word_capacity, row->words, "a document's words", error);
    sets->term_count = decode_members(bytes, row->terms, share, sets->terms);
    sets->word_count =
        decode_members(bytes + member_set_bytes(row->terms), row->words, share, sets->words);
    return COG_OK;
}

/* Reads into an emptied buffer, with room behind the bytes for the decoder. */
static cog_status read_bytes(const struct set_file *file, uint64_t offset, size_t size,
                             struct buffer *buffer, cog_error *error) {
    buffer_reset(buffer);
    if (!buffer_reserve(buffer, size + MEMBER_SET_SLACK))
        return error_memory(error, size, "sets of terms");
    memset(buffer->data + size, 0, MEMBER_SET_SLACK);
    buffer->size = size;
    return descriptor_read_at(file->descriptor, buffer->data, size, offset, name, error);
}

static size_t sets_bytes(const struct set_row *row) {
    return member_set_bytes(row->terms) + member_set_bytes(row->words);
}

cog_status set_file_load(const struct set_file *file, size_t row, struct loaded_sets *sets,
                         cog_error *error) {
    const struct set_row *at = &file->rows[row];
    TRY(read_bytes(file, at->offset, sets_bytes(at), &sets->bytes, error));
    return decode(at, (const uint8_t *)sets->bytes.data, 0, sets, error);
}

static uint64_t end_of_row(const struct set_file *file, size_t row) {
    return row + 1 < file->row_count ? file->rows[row + 1].offset : file->size_bytes;
}

cog_status set_file_id(const struct set_file *file, size_t row, struct buffer *id,
                       cog_error *error) {
    const struct set_row *at = &file->rows[row];
    uint64_t begin = at->offset + sets_bytes(at) + ID_SIZE_BYTES;
    size_t size = (size_t)(end_of_row(file, row) - begin);
    if (!buffer_reserve(id, size))
        return error_memory(error, size, "an id");
    TRY(descriptor_read_at(file->descriptor, id->data + id->size, size, begin, name, error));
    id->size += size;
    return COG_OK;
}

/* Reads the rows from `next` on: as many as CURSOR_BYTES hold, at least one. */
static cog_status read_rows(struct set_cursor *cursor, const struct set_file *file,
                            cog_error *error) {
    const uint64_t begin = file->rows[cursor->next].offset;
    size_t row = cursor->next;
    while (row + 1 < cursor->end && end_of_row(file, row + 1) - begin <= CURSOR_BYTES)
        row++;
    cursor->first_row = cursor->next;
    cursor->rows_read = row + 1 - cursor->next;
    return read_bytes(file, begin, (size_t)(end_of_row(file, row) - begin), &cursor->bytes, error);
}

cog_status set_cursor_next(struct set_cursor *cursor, const struct set_file *file,
                           const struct loaded_sets **sets, cog_error *error) {
    *sets = NULL;
    while (cursor->marks && cursor->next < cursor->end && !cursor->marks[cursor->next])
        cursor->next++;
    if (cursor->next >= cursor->end)
        return COG_OK;
    if (cursor->next < cursor->first_row || cursor->next >= cursor->first_row + cursor->rows_read)
        TRY(read_rows(cursor, file, error));
    const struct set_row *row = &file->rows[cursor->next++];
    const uint64_t at = row->offset - file->rows[cursor->first_row].offset;
    const uint8_t *bytes = (const uint8_t *)cursor->bytes.data + at;
    TRY(decode(row, bytes, cursor->share, &cursor->sets, error));
    *sets = &cursor->sets;
    return COG_OK;
}

void set_cursor_free(struct set_cursor *cursor) {
    buffer_free(&cursor->bytes);
    loaded_sets_free(&cursor->sets);
}
