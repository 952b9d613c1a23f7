#include "vector/statistics_file.h"

#include "store/encoding.h"

#define SECTION_SHAPE CONTAINER_TAG('s', 'h', 'a', 'p')
#define SECTION_TERMS CONTAINER_TAG('t', 'e', 'r', 'm')

/* Shape: u64 documents, u64 total length, u64 terms. A term: u64 hash, u32 df, u32 cf. */
enum { SHAPE_BYTES = 24, TERM_BYTES = 16 };

static cog_status write_term(void *context, uint64_t hash, struct term_counts counts,
                             cog_error *error) {
    uint8_t bytes[TERM_BYTES];
    encode_u64(bytes, hash);
    encode_u32(bytes + 8, counts.document_frequency);
    encode_u32(bytes + 12, counts.collection_frequency);
    return container_writer_append(context, bytes, sizeof bytes, error);
}

static cog_status write_sections(const struct statistics *statistics,
                                 const struct settings *settings, struct container_writer *writer,
                                 cog_error *error) {
    uint8_t shape[SHAPE_BYTES];
    encode_u64(shape, statistics_document_count(statistics));
    encode_u64(shape + 8, statistics_total_length(statistics));
    encode_u64(shape + 16, statistics_term_count(statistics));
    cog_status status = settings_write(settings, writer, error);
    THEN(status, container_writer_section(writer, SECTION_SHAPE, shape, sizeof shape, error));
    THEN(status, container_writer_begin(writer, SECTION_TERMS, error));
    THEN(status, statistics_visit(statistics, write_term, writer, error));
    return status == COG_OK ? container_writer_end(writer, error) : status;
}

cog_status statistics_save(const struct statistics *statistics, const struct settings *settings,
                           const char *path, cog_error *error) {
    struct container_writer *writer = NULL;
    cog_status status = container_writer_open(path, CONTAINER_STATISTICS, &writer, error);
    THEN(status, write_sections(statistics, settings, writer, error));
    THEN(status, container_writer_commit(writer, error));
    container_writer_close(writer);
    return status;
}

static cog_status read_terms(const struct container *container, struct statistics *statistics,
                             cog_error *error) {
    struct bytes_view shape, terms;
    cog_status status = container_require(container, SECTION_SHAPE, &shape, error);
    THEN(status, container_require(container, SECTION_TERMS, &terms, error));
    if (status != COG_OK)
        return status;
    const uint8_t *counts = (const uint8_t *)shape.data, *term = (const uint8_t *)terms.data;
    if (shape.size != SHAPE_BYTES || terms.size % TERM_BYTES != 0 ||
        terms.size / TERM_BYTES != decode_u64(counts + 16))
        return error_set(error, COG_ERR_FORMAT,
                         "%s: sections of the wrong size; collect the statistics again",
                         container->path);
    statistics_add_documents(statistics, decode_u64(counts), decode_u64(counts + 8));
    for (size_t i = 0; i < terms.size / TERM_BYTES && status == COG_OK; i++, term += TERM_BYTES)
        status = statistics_add_term(
            statistics, decode_u64(term),
            (struct term_counts){decode_u32(term + 8), decode_u32(term + 12)}, error);
    return status;
}

cog_status statistics_load(const char *path, struct statistics **result, struct settings *settings,
                           cog_error *error) {
    struct container container = {0};
    struct statistics *statistics = NULL;
    cog_status status = container_open(path, CONTAINER_STATISTICS, &container, error);
    THEN(status, container_verify(&container, error));
    THEN(status, settings_read(&container, settings, error));
    THEN(status, statistics_create(&statistics, error));
    THEN(status, read_terms(&container, statistics, error));
    container_close(&container);
    if (status != COG_OK) {
        statistics_free(statistics);
        settings_free(settings);
        return status;
    }
    *result = statistics;
    return COG_OK;
}
