#include "set_data.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/io/files.h"
#include "base/io/output.h"

static void stop_unless(bool good) {
    if (!good)
        abort();
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

size_t set_data_unique(uint64_t *members, size_t count) {
    size_t kept = 0;
    if (count)
        qsort(members, count, sizeof *members, compare);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || members[i] != members[i - 1])
            members[kept++] = members[i];
    return kept;
}

static uint64_t *copy_unique(const uint64_t *members, size_t *count) {
    uint64_t *copy = malloc((*count + 1) * sizeof *copy);
    stop_unless(copy);
    for (size_t i = 0; i < *count; i++)
        copy[i] = members[i];
    *count = set_data_unique(copy, *count);
    return copy;
}

void set_data_add(struct set_data *data, const uint64_t *terms, size_t term_count,
                  const uint64_t *words, size_t word_count) {
    stop_unless(memory_grow((void **)&data->documents, &data->capacity, data->count + 1,
                            sizeof *data->documents));
    struct set_document *document = &data->documents[data->count++];
    *document = (struct set_document){.term_count = term_count, .word_count = word_count};
    document->terms = copy_unique(terms, &document->term_count);
    document->words = copy_unique(words, &document->word_count);
}

void set_data_id(size_t row, struct buffer *id) {
    for (size_t i = 0; i < row % 5; i++)
        stop_unless(buffer_printf(id, "%zu.", row));
}

void set_data_write(struct set_data *data) {
    struct buffer batch = {0}, id = {0};
    stop_unless((data->rows = malloc((data->count + 1) * sizeof *data->rows)) != NULL);
    for (size_t row = 0; row < data->count; row++) {
        const struct set_document *document = &data->documents[row];
        data->rows[row] = (struct set_row){batch.size, (uint32_t)document->term_count,
                                           (uint32_t)document->word_count};
        buffer_reset(&id);
        set_data_id(row, &id);
        stop_unless(set_record_append(&batch, document->terms, document->term_count,
                                      document->words, document->word_count,
                                      view_of(id.data, id.size)));
    }
    data->file =
        (struct set_file){.rows = data->rows, .row_count = data->count, .size_bytes = batch.size};
    stop_unless(scratch_file_open_near("-", &data->file.descriptor, NULL) == COG_OK);
    stop_unless(descriptor_write_at(data->file.descriptor, batch.data, batch.size, 0, "a file",
                                    NULL) == COG_OK);
    buffer_free(&batch);
    buffer_free(&id);
}

void set_data_free(struct set_data *data) {
    for (size_t row = 0; row < data->count; row++) {
        free(data->documents[row].terms);
        free(data->documents[row].words);
    }
    if (data->rows)
        close(data->file.descriptor);
    free(data->rows);
    free(data->documents);
    *data = (struct set_data){0};
}
