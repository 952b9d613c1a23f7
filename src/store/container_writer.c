#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/output.h"
#include "store/container.h"
#include "store/container_layout.h"
#include "store/encoding.h"

struct container_writer {
    struct output *output;
    char *path;
    XXH3_state_t *checksum;
    uint32_t kind;
    uint64_t position;
    bool in_section, failed;
    unsigned section_count;
    struct container_section sections[CONTAINER_MAX_SECTIONS];
};

static cog_status write_bytes(struct container_writer *writer, const void *data, size_t size,
                              cog_error *error) {
    cog_status status = output_write(writer->output, data, size, error);
    writer->position += size;
    writer->failed |= status != COG_OK;
    return status;
}

static cog_status write_padding(struct container_writer *writer, cog_error *error) {
    static const uint8_t zeros[CONTAINER_ALIGNMENT_BYTES];
    return write_bytes(writer, zeros, container_padding(writer->position), error);
}

cog_status container_writer_open(const char *path, uint32_t kind, struct container_writer **result,
                                 cog_error *error) {
    if (strcmp(path, "-") == 0)
        return error_set(error, COG_ERR_USAGE,
                         "a Cognate file cannot go to standard output; name a file");
    struct container_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_memory(error, sizeof *writer, "a file writer");
    writer->kind = kind;
    writer->path = strdup(path);
    writer->checksum = XXH3_createState();
    cog_status status = writer->path && writer->checksum
                            ? output_open_plain(path, &writer->output, error)
                            : error_memory(error, sizeof(XXH3_state_t), "a file writer");
    static const uint8_t header[CONTAINER_HEADER_BYTES];
    THEN(status, write_bytes(writer, header, sizeof header, error));
    if (status != COG_OK) {
        container_writer_close(writer);
        return status;
    }
    *result = writer;
    return COG_OK;
}

cog_status container_writer_begin(struct container_writer *writer, uint32_t section,
                                  cog_error *error) {
    bool known = false;
    for (unsigned i = 0; i < writer->section_count; i++)
        known |= writer->sections[i].kind == section;
    char name[5];
    container_tag_text(section, name);
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
    cog_status status = container_writer_begin(writer, section, error);
    THEN(status, container_writer_append(writer, data, size, error));
    return status == COG_OK ? container_writer_end(writer, error) : status;
}

static void encode_header(const struct container_writer *writer, uint64_t table_offset,
                          uint64_t table_checksum, uint8_t header[CONTAINER_HEADER_BYTES]) {
    memset(header, 0, CONTAINER_HEADER_BYTES);
    memcpy(header, CONTAINER_MAGIC, CONTAINER_MAGIC_BYTES);
    encode_u32(header + 8, writer->kind);
    encode_u32(header + 12, CONTAINER_VERSION);
    encode_u32(header + 16, CONTAINER_MINIMUM_READER);
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
    cog_status status = write_bytes(writer, table, table_bytes, error);
    if (status != COG_OK)
        return status;
    uint8_t header[CONTAINER_HEADER_BYTES];
    encode_header(writer, table_offset, hash_bytes(table, table_bytes), header);
    status = output_rewrite(writer->output, 0, header, sizeof header, error);
    return status == COG_OK ? output_commit(writer->output, error) : status;
}

void container_writer_close(struct container_writer *writer) {
    if (!writer)
        return;
    output_close(writer->output);
    XXH3_freeState(writer->checksum);
    free(writer->path);
    free(writer);
}
