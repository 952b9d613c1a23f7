/* Container files: a header, sections of bytes, a section table, and checksums over everything
 * (docs/format.md). A writer makes the file visible whole or not at all. A reader maps the file,
 * opens in constant time, lends the sections, and verifies everything on request. */
#pragma once

#include "base/error.h"
#include "base/io/files.h"
#include "base/memory.h"

/* The first bytes of every Cognate file. */
#define CONTAINER_MAGIC                                                                            \
    "\x89"                                                                                         \
    "COG\r\n\x1a\n"

/* Four letters, in file order. */
#define CONTAINER_TAG(a, b, c, d)                                                                  \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

enum {
    CONTAINER_VERSION = 5,
    CONTAINER_MAX_SECTIONS = 64,
    CONTAINER_ALIGNMENT_BYTES = 64,
};

/* File kinds. */
#define CONTAINER_STATISTICS CONTAINER_TAG('s', 't', 'a', 't')
#define CONTAINER_SEGMENT CONTAINER_TAG('s', 'e', 'g', 'm')
#define CONTAINER_MANIFEST CONTAINER_TAG('m', 'a', 'n', 'i')
#define CONTAINER_LEXICON CONTAINER_TAG('l', 'e', 'x', 'i')

/* ---- Writing --------------------------------------------------------------------------------- */

struct container_writer;

/* path is copied and must name a file ("-" is refused). Free with container_writer_close. */
cog_status container_writer_open(const char *path, uint32_t kind, struct container_writer **writer,
                                 cog_error *error);
/* The same into a borrowed buffer; after a failure its bytes are not a valid file. */
cog_status container_writer_open_memory(struct buffer *bytes, uint32_t kind,
                                        struct container_writer **writer, cog_error *error);
/* Sets the oldest format version whose readers accept the file; 1 if not called. */
void container_writer_for(struct container_writer *writer, uint32_t least_reader);
/* Begin a section, append to it any number of times, end it; each kind at most once per file.
 * Sections start at multiples of 64 bytes. */
cog_status container_writer_begin(struct container_writer *writer, uint32_t section,
                                  cog_error *error);
cog_status container_writer_append(struct container_writer *writer, const void *data, size_t size,
                                   cog_error *error);
cog_status container_writer_end(struct container_writer *writer, cog_error *error);
/* Begin, append, end. */
cog_status container_writer_section(struct container_writer *writer, uint32_t section,
                                    const void *data, size_t size, cog_error *error);
/* Sections to write one after the other. */
struct container_part {
    uint32_t section;
    const void *data;
    size_t count, size_bytes;
};
cog_status container_writer_sections(struct container_writer *writer,
                                     const struct container_part *parts, size_t count,
                                     cog_error *error);
/* Writes the section table and the header, and replaces the file under its name. Nothing may be
 * written afterwards. */
cog_status container_writer_commit(struct container_writer *writer, cog_error *error);
/* Releases the writer; without a commit no file is left. Accepts NULL. */
void container_writer_close(struct container_writer *writer);

/* ---- Reading --------------------------------------------------------------------------------- */

struct container_section {
    uint32_t kind;
    uint64_t offset, size_bytes, checksum;
};

/* Zero-initialise; container_close releases. Threads may share it. */
struct container {
    const uint8_t *data; /* in the mapping, or borrowed from the caller of container_open_memory */
    size_t size_bytes;
    uint32_t kind;
    uint64_t header_checksum;
    unsigned section_count;
    struct container_section sections[CONTAINER_MAX_SECTIONS];
    char *path;
    struct mapping mapping;
};

/* Maps the file and checks only the header and the section table: constant time. kind 0 accepts any
 * kind. */
cog_status container_open(const char *path, uint32_t kind, struct container *container,
                          cog_error *error);
/* The same for bytes that the caller keeps alive (aligned to 64 bytes if sections are used as
 * arrays); `name` is used in messages. */
cog_status container_open_memory(const char *name, const void *data, size_t size, uint32_t kind,
                                 struct container *container, cog_error *error);
/* Borrowed until container_close. False if the file has no such section. */
bool container_find(const struct container *container, uint32_t section, struct bytes_view *view);
/* As container_find, but a missing section is an error. */
cog_status container_require(const struct container *container, uint32_t section,
                             struct bytes_view *view, cog_error *error);
/* Finds a section that must hold `count` elements of size_bytes each; COG_ERR_FORMAT otherwise. */
cog_status container_array(const struct container *container, uint32_t section, uint64_t count,
                           size_t size_bytes, const void **data, cog_error *error);
/* Reads the whole file and checks the checksums of all sections and the zero padding. The error
 * names the first damage. */
cog_status container_verify(const struct container *container, cog_error *error);
void container_close(struct container *container);
