#include <stdlib.h>

#include "collection/ingest.h"

void cog_input_options_init(cog_input_options *options) {
    *options = (cog_input_options){
        .format = COG_FORMAT_AUTO, .text_field = "text", .id_field = "id", .lang_field = "lang"};
}

cog_status cog_documents_open(const cog_input_options *options, const char *const *paths,
                              size_t path_count, cog_documents **result, cog_error *error) {
    struct reader_options reader_options;
    reader_options_init(&reader_options);
    reader_options.format = (enum input_format)options->format;
    reader_options.lines = options->lines;
    reader_options.text_field = options->text_field;
    reader_options.id_field = options->id_field;
    reader_options.lang_field = options->lang_field;
    cog_documents *documents = calloc(1, sizeof *documents);
    if (!documents)
        return error_memory(error, sizeof *documents, "documents");
    documents->strict = options->strict;
    cog_status status = reader_open(&reader_options, paths, path_count, &documents->reader, error);
    if (status != COG_OK) {
        cog_documents_close(documents);
        return status;
    }
    if (!options->read_once)
        reader_keep_pipes(documents->reader);
    *result = documents;
    return COG_OK;
}

cog_status cog_documents_from_memory(const cog_document *items, size_t count,
                                     cog_documents **result, cog_error *error) {
    cog_documents *documents = calloc(1, sizeof *documents);
    if (!documents)
        return error_memory(error, sizeof *documents, "documents");
    documents->items = items;
    documents->item_count = count;
    *result = documents;
    return COG_OK;
}

void cog_documents_close(cog_documents *documents) {
    if (!documents)
        return;
    reader_close(documents->reader);
    free(documents);
}
