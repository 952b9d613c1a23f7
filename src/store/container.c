#include "store/container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"

enum {
    CONTAINER_MAGIC_BYTES = 8,
    CONTAINER_HEADER_BYTES = 64,
    CONTAINER_ENTRY_BYTES = 32,
};

static size_t container_padding(uint64_t position) {
    return (size_t)(-position % CONTAINER_ALIGNMENT_BYTES);
}

/* "segm" as text; unprintable letters become '?'. */
static void tag_text(uint32_t tag, char text[5]) {
    encode_u32((uint8_t *)text, tag);
    for (int i = 0; i < 4; i++)
        if (text[i] < ' ' || text[i] > '~')
            text[i] = '?';
    text[4] = 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

struct container_writer {
    struct output *output; /* NULL: into the buffer */
    struct buffer *bytes;
    char *path;
    XXH3_state_t *checksum;
    uint32_t kind, least_reader;
    uint64_t position;
    bool in_section, failed;
    unsigned section_count;
    struct container_section sections[CONTAINER_MAX_SECTIONS];
};

static cog_status write_bytes(struct container_writer *writer, const void *data, size_t size,
                              cog_error *error) {
    cog_status status = writer->output ? output_write(writer->output, data, size, error)
                        : buffer_append(writer->bytes, data, size)
                            ? COG_OK
                            : error_memory(error, size, "a file in memory");
    writer->position += size;
    writer->failed |= status != COG_OK;
    return status;
}

static cog_status write_padding(struct container_writer *writer, cog_error *error) {
    static const uint8_t zeros[CONTAINER_ALIGNMENT_BYTES];
    return write_bytes(writer, zeros, container_padding(writer->position), error);
}

/* Into a file, or into a buffer if that is not NULL. */
static cog_status open_writer(const char *path, struct buffer *bytes, uint32_t kind,
                              struct container_writer **result, cog_error *error) {
    struct container_writer *writer;
    TAKE_ZEROED(writer, 1, "a file writer", error);
    writer->kind = kind;
    writer->least_reader = 1;
    writer->bytes = bytes;
    writer->path = strdup(path);
    writer->checksum = XXH3_createState();
    cog_status status = writer->path && writer->checksum
                            ? COG_OK
                            : error_memory(error, sizeof(XXH3_state_t), "a file writer");
    if (!bytes)
        THEN(status, output_open_plain(path, &writer->output, error));
    static const uint8_t header[CONTAINER_HEADER_BYTES];
    THEN(status, write_bytes(writer, header, sizeof header, error));
    return HAND_OUT(status, writer, container_writer_close, result);
}

cog_status container_writer_open(const char *path, uint32_t kind, struct container_writer **result,
                                 cog_error *error) {
    if (strcmp(path, "-") == 0)
        return error_set(error, COG_ERR_USAGE,
                         "a Cognate file cannot go to standard output; name a file");
    return open_writer(path, NULL, kind, result, error);
}

cog_status container_writer_open_memory(struct buffer *bytes, uint32_t kind,
                                        struct container_writer **result, cog_error *error) {
    buffer_reset(bytes);
    return open_writer("a file in memory", bytes, kind, result, error);
}

void container_writer_for(struct container_writer *writer, uint32_t least_reader) {
    writer->least_reader = least_reader;
}

cog_status container_writer_begin(struct container_writer *writer, uint32_t section,
                                  cog_error *error) {
    bool known = false;
    for (unsigned i = 0; i < writer->section_count; i++)
        known |= writer->sections[i].kind == section;
    char name[5];
    tag_text(section, name);
    if (writer->in_section || known || writer->section_count == CONTAINER_MAX_SECTIONS)
        return error_set(error, COG_ERR_USAGE, "%s: section %s cannot be begun here", writer->path,
                         name);
    writer->sections[writer->section_count] =
        (struct container_section){.kind = section, .offset = writer->position};
    writer->in_section = true;
    XXH3_64bits_reset(writer->checksum);
    return COG_OK;
}

cog_status container_writer_append(struct container_writer *writer, const void *data, size_t size,
                                   cog_error *error) {
    if (size == 0)
        return COG_OK;
    XXH3_64bits_update(writer->checksum, data, size);
    return write_bytes(writer, data, size, error);
}

cog_status container_writer_end(struct container_writer *writer, cog_error *error) {
    struct container_section *section = &writer->sections[writer->section_count++];
    section->size_bytes = writer->position - section->offset;
    section->checksum = XXH3_64bits_digest(writer->checksum);
    writer->in_section = false;
    return write_padding(writer, error);
}

cog_status container_writer_section(struct container_writer *writer, uint32_t section,
                                    const void *data, size_t size, cog_error *error) {
    TRY(container_writer_begin(writer, section, error));
    TRY(container_writer_append(writer, data, size, error));
    return container_writer_end(writer, error);
}

cog_status container_writer_sections(struct container_writer *writer,
                                     const struct container_part *parts, size_t count,
                                     cog_error *error) {
    for (size_t i = 0; i < count; i++)
        TRY(container_writer_section(writer, parts[i].section, parts[i].data,
                                     parts[i].count * parts[i].size_bytes, error));
    return COG_OK;
}

static void encode_header(const struct container_writer *writer, uint64_t table_offset,
                          uint64_t table_checksum, uint8_t header[CONTAINER_HEADER_BYTES]) {
    memset(header, 0, CONTAINER_HEADER_BYTES);
    memcpy(header, CONTAINER_MAGIC, CONTAINER_MAGIC_BYTES);
    encode_u32(header + 8, writer->kind);
    encode_u32(header + 12, writer->least_reader);
    encode_u32(header + 16, writer->least_reader);
    encode_u32(header + 20, writer->section_count);
    encode_u64(header + 24, table_offset);
    encode_u64(header + 32, writer->position);
    encode_u64(header + 40, table_checksum);
    encode_u64(header + 56, hash_bytes(header, 56));
}

cog_status container_writer_commit(struct container_writer *writer, cog_error *error) {
    if (writer->in_section || writer->failed)
        return error_set(error, COG_ERR_USAGE, "%s: cannot be committed: %s", writer->path,
                         writer->failed ? "a write failed before" : "a section is not ended");
    uint8_t table[CONTAINER_MAX_SECTIONS * CONTAINER_ENTRY_BYTES] = {0};
    uint64_t table_offset = writer->position;
    size_t table_bytes = writer->section_count * (size_t)CONTAINER_ENTRY_BYTES;
    for (unsigned i = 0; i < writer->section_count; i++) {
        uint8_t *entry = table + i * (size_t)CONTAINER_ENTRY_BYTES;
        encode_u32(entry, writer->sections[i].kind);
        encode_u64(entry + 8, writer->sections[i].offset);
        encode_u64(entry + 16, writer->sections[i].size_bytes);
        encode_u64(entry + 24, writer->sections[i].checksum);
    }
    TRY(write_bytes(writer, table, table_bytes, error));
    uint8_t header[CONTAINER_HEADER_BYTES];
    encode_header(writer, table_offset, hash_bytes(table, table_bytes), header);
    if (!writer->output) {
        memcpy(writer->bytes->data, header, sizeof header);
        return COG_OK;
    }
    TRY(output_rewrite(writer->output, 0, header, sizeof header, error));
    return output_commit(writer->output, error);
}

void container_writer_close(struct container_writer *writer) {
    if (!writer)
        return;
    output_close(writer->output);
    XXH3_freeState(writer->checksum);
    FREE(writer->path, writer);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static cog_status refuse_foreign(const char *name, const uint8_t *data, size_t size,
                                 cog_error *error) {
    if (size == 0)
        return error_set(error, COG_ERR_FORMAT, "%s: not a Cognate file; it is empty", name);
    char shown[CONTAINER_MAGIC_BYTES * 4 + 1];
    size_t length = 0;
    for (size_t i = 0; i < size && i < CONTAINER_MAGIC_BYTES; i++) {
        bool plain = data[i] >= ' ' && data[i] <= '~' && data[i] != '\\';
        length += (size_t)snprintf(shown + length, sizeof shown - length, plain ? "%c" : "\\x%02x",
                                   data[i]);
    }
    return error_set(error, COG_ERR_FORMAT, "%s: not a Cognate file; it starts with \"%s\"", name,
                     shown);
}

static cog_status check_header(const char *name, const uint8_t *data, size_t size,
                               cog_error *error) {
    size_t known = size < CONTAINER_MAGIC_BYTES ? size : CONTAINER_MAGIC_BYTES;
    if (size == 0 || memcmp(data, CONTAINER_MAGIC, known) != 0)
        return refuse_foreign(name, data, size, error);
    if (size < CONTAINER_HEADER_BYTES)
        return error_set(error, COG_ERR_FORMAT,
                         "%s: truncated inside the header (%zu byte%s); make or copy it again",
                         name, size, plural(size, "", "s"));
    if (hash_bytes(data, 56) != decode_u64(data + 56))
        return error_set(error, COG_ERR_FORMAT,
                         "%s: the header is damaged (checksum); make or copy the file again", name);
    uint32_t minimum = decode_u32(data + 16);
    if (minimum > CONTAINER_VERSION)
        return error_set(error, COG_ERR_FORMAT,
                         "%s: written by a later version of Cognate (format %u, this program reads "
                         "up to %d); upgrade Cognate or make the file again",
                         name, minimum, CONTAINER_VERSION);
    uint64_t length = decode_u64(data + 32);
    if (length != size)
        return error_set_at(error, COG_ERR_FORMAT, size,
                            "%s: %s: %zu byte%s, the header says %llu; make or copy it again", name,
                            size < length ? "truncated" : "longer than written", size,
                            plural(size, "", "s"), (unsigned long long)length);
    return COG_OK;
}

static cog_status check_kind(const char *name, uint32_t found, uint32_t wanted, cog_error *error) {
    if (wanted == 0 || found == wanted)
        return COG_OK;
    char found_text[5], wanted_text[5];
    tag_text(found, found_text);
    tag_text(wanted, wanted_text);
    return error_set(error, COG_ERR_FORMAT,
                     "%s: a Cognate file of kind \"%s\" where kind \"%s\" is needed", name,
                     found_text, wanted_text);
}

/* Sections ascend, do not overlap, and leave only padding between them and before the table. */
static bool section_fits(const struct container *container, unsigned index, uint64_t *position,
                         uint64_t table_offset) {
    const struct container_section *section = &container->sections[index];
    if (section->offset != *position || section->size_bytes > table_offset - *position)
        return false;
    for (unsigned i = 0; i < index; i++)
        if (container->sections[i].kind == section->kind)
            return false;
    *position += section->size_bytes;
    *position += container_padding(*position);
    return *position <= table_offset;
}

static cog_status read_table(const char *name, struct container *container, cog_error *error) {
    const uint8_t *data = container->data;
    uint32_t count = decode_u32(data + 20);
    uint64_t offset = decode_u64(data + 24);
    if (count > CONTAINER_MAX_SECTIONS || offset < CONTAINER_HEADER_BYTES ||
        offset > container->size_bytes ||
        container->size_bytes - offset != count * (uint64_t)CONTAINER_ENTRY_BYTES ||
        hash_bytes(data + offset, container->size_bytes - offset) != decode_u64(data + 40))
        return error_set(error, COG_ERR_FORMAT,
                         "%s: the section table is damaged; make or copy the file again", name);
    uint64_t position = CONTAINER_HEADER_BYTES;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *entry = data + offset + i * (size_t)CONTAINER_ENTRY_BYTES;
        container->sections[i] =
            (struct container_section){decode_u32(entry), decode_u64(entry + 8),
                                       decode_u64(entry + 16), decode_u64(entry + 24)};
        if (!section_fits(container, i, &position, offset))
            return error_set_at(error, COG_ERR_FORMAT, i,
                                "%s: entry %u of the section table is impossible", name, i);
    }
    if (position != offset)
        return error_set(error, COG_ERR_FORMAT, "%s: bytes between the sections and their table",
                         name);
    container->section_count = count;
    return COG_OK;
}

cog_status container_open_memory(const char *name, const void *data, size_t size, uint32_t kind,
                                 struct container *container, cog_error *error) {
    *container = (struct container){.data = data, .size_bytes = size};
    TRY(check_header(name, data, size, error));
    container->kind = decode_u32(container->data + 8);
    container->header_checksum = decode_u64(container->data + 56);
    TRY(check_kind(name, container->kind, kind, error));
    TRY(read_table(name, container, error));
    container->path = strdup(name);
    return container->path ? COG_OK : error_memory(error, strlen(name), "a path");
}

cog_status container_open(const char *path, uint32_t kind, struct container *container,
                          cog_error *error) {
    *container = (struct container){0};
    struct mapping mapping;
    TRY(mapping_open(path, &mapping, error));
    cog_status status =
        container_open_memory(path, mapping.data, mapping.size, kind, container, error);
    container->mapping = mapping;
    if (status != COG_OK)
        container_close(container);
    return status;
}

bool container_find(const struct container *container, uint32_t section, struct bytes_view *view) {
    for (unsigned i = 0; i < container->section_count; i++)
        if (container->sections[i].kind == section) {
            *view = view_of((const char *)container->data + container->sections[i].offset,
                            (size_t)container->sections[i].size_bytes);
            return true;
        }
    return false;
}

cog_status container_require(const struct container *container, uint32_t section,
                             struct bytes_view *view, cog_error *error) {
    if (container_find(container, section, view))
        return COG_OK;
    char text[5];
    tag_text(section, text);
    return error_set(error, COG_ERR_FORMAT, "%s: section \"%s\" is missing", container->path, text);
}

cog_status container_array(const struct container *container, uint32_t section, uint64_t count,
                           size_t size_bytes, const void **data, cog_error *error) {
    struct bytes_view view;
    TRY(container_require(container, section, &view, error));
    if (view.size % size_bytes != 0 || view.size / size_bytes != count) {
        char name[5];
        tag_text(section, name);
        return error_set(error, COG_ERR_FORMAT,
                         "%s: section \"%s\" has %zu bytes, its shape asks for %llu of %zu each",
                         container->path, name, view.size, (unsigned long long)count, size_bytes);
    }
    *data = view.data;
    return COG_OK;
}

cog_status container_verify(const struct container *container, cog_error *error) {
    for (unsigned i = 0; i < container->section_count; i++) {
        const struct container_section *section = &container->sections[i];
        const uint8_t *bytes = container->data + section->offset;
        char text[5];
        tag_text(section->kind, text);
        if (hash_bytes(bytes, (size_t)section->size_bytes) != section->checksum)
            return error_set_at(error, COG_ERR_FORMAT, section->offset,
                                "%s: section \"%s\" is damaged (checksum); make or copy the file "
                                "again",
                                container->path, text);
        size_t padding = container_padding(section->size_bytes);
        for (size_t b = 0; b < padding; b++)
            if (bytes[section->size_bytes + b])
                return error_set_at(
                    error, COG_ERR_FORMAT, section->offset + section->size_bytes + b,
                    "%s: the padding behind section \"%s\" is not zero", container->path, text);
    }
    return COG_OK;
}

void container_close(struct container *container) {
    mapping_close(&container->mapping);
    free(container->path);
    *container = (struct container){0};
}
