#include <math.h>

#include "join/cosine/cosine_join.h"
#include "papers/query_log_generator.h"
#include "test.h"

static struct query_log_shape small_shape(void) {
    struct query_log_shape shape;
    query_log_shape_init(&shape);
    shape.queries = 6000;
    shape.urls = 14000;
    return shape;
}

TEST(query_log_generator_repeats_and_keeps_to_its_shape) {
    struct query_log_shape shape = small_shape();
    struct query_log_generator *first, *second;
    CHECK_OK(query_log_generator_create(&shape, &first, error));
    CHECK_OK(query_log_generator_create(&shape, &second, error));
    struct query_click x[QUERY_CLICKS_MAX], y[QUERY_CLICKS_MAX];
    for (size_t row = 0; row < shape.queries; row++) {
        size_t count = query_log_row(first, row, x);
        CHECK(count > 5 && count == query_log_row(second, row, y));
        CHECK(memcmp(x, y, count * sizeof *x) == 0);
        for (size_t i = 0; i < count; i++)
            CHECK(x[i].url < shape.urls && x[i].clicks > 0 && (i == 0 || x[i].url > x[i - 1].url));
    }
    query_log_generator_free(first);
    query_log_generator_free(second);
}

TEST(query_log_generator_texts_name_their_queries) {
    struct query_log_shape shape = small_shape();
    struct query_log_generator *generator;
    CHECK_OK(query_log_generator_create(&shape, &generator, error));
    struct buffer before = {0}, text = {0};
    for (size_t row = 0; row < 500; row++) {
        buffer_reset(&text);
        CHECK(query_log_text(generator, row, &text) && text.size > 8);
        CHECK(text.size != before.size || memcmp(text.data, before.data, text.size) != 0);
        buffer_reset(&before);
        CHECK(buffer_append(&before, text.data, text.size));
    }
    buffer_free(&before);
    buffer_free(&text);
    query_log_generator_free(generator);
}

/* Pairs in each tenth of cosine come in the shares that the groups were given. */
TEST(query_log_generator_makes_related_queries) {
    struct query_log_shape shape = small_shape();
    struct query_log_generator *generator;
    struct sparse_matrix matrix;
    uint32_t *urls;
    CHECK_OK(query_log_generator_create(&shape, &generator, error));
    CHECK_OK(query_log_matrix(generator, &matrix, &urls, error));
    CHECK(matrix.rows == shape.queries && matrix.column_count <= shape.urls &&
          matrix.column_count > shape.urls / 2);
    for (size_t row = 0; row < matrix.rows; row++) {
        double squares = 0;
        for (size_t i = matrix.offsets[row]; i < matrix.offsets[row + 1]; i++) {
            squares += (double)matrix.values[i] * (double)matrix.values[i];
            CHECK(i == matrix.offsets[row] || matrix.columns[i] > matrix.columns[i - 1]);
        }
        CHECK(fabs(squares - 1) < 1e-5);
    }
    struct match_list matches = {0};
    struct join_options options = {.threshold = 0.7};
    CHECK_OK(cosine_join(&matrix, NULL, &options, &matches, error));
    size_t counts[3] = {0};
    for (size_t i = 0; i < matches.count; i++) {
        double similarity = (double)matches.items[i].similarity;
        counts[similarity < 0.8 ? 0 : similarity < 0.9 ? 1 : 2]++;
    }
    CHECK(counts[0] > counts[1] && counts[1] > 100 && counts[2] > 100);
    match_list_free(&matches);
    sparse_matrix_free(&matrix);
    free(urls);
    query_log_generator_free(generator);
}
