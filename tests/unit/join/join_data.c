#include "join_data.h"

#include <math.h>

#include "test.h"

struct row_writer {
    struct row_shape shape;
    uint64_t *offsets;
    uint32_t *columns;
    float *values;
    uint64_t capacity;
    uint8_t *taken; /* a column */
};

static float random_value(struct random *random, bool with_sign) {
    float value = (float)(0.1 + random_unit(random));
    return with_sign && random_below(random, 2) ? -value : value;
}

/* Entries of the columns that are taken; values already there for kept columns are drawn again. */
static void write_row(struct row_writer *writer, struct random *random, size_t row) {
    uint64_t at = writer->offsets[row];
    for (uint32_t c = 0; c < writer->shape.columns; c++)
        if (writer->taken[c]) {
            if (at == writer->capacity)
                abort();
            writer->columns[at] = c;
            writer->values[at++] = random_value(random, writer->shape.signed_values);
        }
    writer->offsets[row + 1] = at;
}

static void take_random(struct row_writer *writer, struct random *random, uint32_t count) {
    uint32_t columns = writer->shape.columns;
    for (uint32_t i = 0; i < count; i++) {
        double rank = pow(random_unit(random), writer->shape.skew) * columns;
        writer->taken[columns - 1 - (uint32_t)rank] = 1;
    }
}

/* A copy of an earlier row, entry for entry or with some columns changed and values kept. */
static void copy_row(struct row_writer *writer, struct random *random, size_t row, bool exact) {
    size_t source = (size_t)random_below(random, row);
    uint64_t at = writer->offsets[row];
    for (uint64_t i = writer->offsets[source]; i < writer->offsets[source + 1]; i++) {
        if (!exact && random_below(random, 10) == 0)
            continue;
        if (at == writer->capacity)
            abort();
        writer->columns[at] = writer->columns[i];
        writer->values[at++] = writer->values[i];
    }
    writer->offsets[row + 1] = at;
}

static void make_unit(struct row_writer *writer, size_t row) {
    double squares = 0;
    for (uint64_t i = writer->offsets[row]; i < writer->offsets[row + 1]; i++)
        squares += (double)writer->values[i] * (double)writer->values[i];
    for (uint64_t i = writer->offsets[row]; i < writer->offsets[row + 1]; i++)
        writer->values[i] = (float)(writer->values[i] / sqrt(squares));
}

static struct row_writer write_rows(struct random *random, struct row_shape shape) {
    struct row_writer writer = {.shape = shape};
    writer.capacity = shape.rows * (uint64_t)shape.mean_count * 2 + 16;
    writer.offsets = calloc(shape.rows + 1, sizeof *writer.offsets);
    writer.columns = malloc(writer.capacity * sizeof *writer.columns);
    writer.values = malloc(writer.capacity * sizeof *writer.values);
    writer.taken = malloc(shape.columns);
    if (!writer.offsets || !writer.columns || !writer.values || !writer.taken)
        abort();
    for (size_t row = 0; row < shape.rows; row++) {
        uint64_t kind = random_below(random, 100);
        memset(writer.taken, 0, shape.columns);
        if (row > 0 && kind < 25) {
            copy_row(&writer, random, row, kind < 8);
            continue;
        }
        uint32_t count = kind < 30   ? 0
                         : kind < 36 ? 1
                                     : 1 + (uint32_t)random_below(random, 2 * shape.mean_count - 1);
        take_random(&writer, random, count);
        write_row(&writer, random, row);
    }
    for (size_t row = 0; shape.unit && row < shape.rows; row++)
        make_unit(&writer, row);
    free(writer.taken);
    writer.taken = NULL;
    return writer;
}

struct sparse_matrix join_random_matrix(struct random *random, struct row_shape shape) {
    struct row_writer writer = write_rows(random, shape);
    return (struct sparse_matrix){.rows = shape.rows,
                                  .column_count = shape.columns,
                                  .offsets = writer.offsets,
                                  .columns = writer.columns,
                                  .values = writer.values};
}

struct match_list join_expected(const struct sparse_matrix *a, const struct sparse_matrix *b,
                                double threshold) {
    struct match_list list = {0};
    const struct sparse_matrix *other = b ? b : a;
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = b ? 0 : i + 1; j < other->rows; j++) {
            double dot = sparse_row_dot(a, i, other, j);
            struct match match = {(uint32_t)i, (uint32_t)j, 0, (float)dot};
            if (dot >= threshold && match_list_add(&list, match, NULL) != COG_OK)
                abort();
        }
    return list;
}

bool join_lists_equal(const struct match_list *found, const struct match_list *expected) {
    size_t shorter = found->count < expected->count ? found->count : expected->count;
    for (size_t i = 0; i < shorter; i++) {
        const struct match *f = &found->items[i], *e = &expected->items[i];
        if (f->a != e->a || f->b != e->b || f->similarity != e->similarity || f->distance != 0) {
            printf("  match %zu is (%u, %u, %.9g), expected (%u, %u, %.9g)\n", i, f->a, f->b,
                   f->similarity, e->a, e->b, e->similarity);
            return false;
        }
    }
    if (found->count != expected->count)
        printf("  %zu matches, expected %zu\n", found->count, expected->count);
    return found->count == expected->count;
}
