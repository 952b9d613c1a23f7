/* Writes a generated query log (query TAB url TAB clicks) to standard output, for measuring related
 * queries at any size; docs/methods.md describes it. The same number of queries and the same seed
 * give the same bytes.
 *
 *     query_log [QUERIES [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "papers/query_log_generator.h"

static int fail(const char *message) {
    fprintf(stderr, "query_log: %s\n", message);
    return 2;
}

static void write_query(const struct query_log_generator *generator, size_t row,
                        struct buffer *text) {
    struct query_click clicks[QUERY_CLICKS_MAX];
    size_t count = query_log_row(generator, row, clicks);
    buffer_reset(text);
    if (!query_log_text(generator, row, text))
        exit(fail("out of memory"));
    for (size_t i = 0; i < count; i++)
        printf("%.*s\thttp://site%u.example/\t%u\n", (int)text->size, text->data, clicks[i].url,
               clicks[i].clicks);
}

int main(int argc, char **argv) {
    struct query_log_shape shape;
    struct query_log_generator *generator = NULL;
    struct buffer text = {0};
    cog_error error = {0};
    query_log_shape_init(&shape);
    unsigned long long queries = argc > 1 ? strtoull(argv[1], NULL, 10) : shape.queries;
    double urls = (double)shape.urls * (double)queries / (double)shape.queries;
    if (argc > 3 || queries == 0 || urls >= UINT32_MAX)
        return fail("give a number of queries from 1 to a billion, and a seed");
    shape.urls = urls < QUERY_CLICKS_MAX ? QUERY_CLICKS_MAX : (uint32_t)urls;
    shape.queries = queries;
    shape.seed += argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    if (query_log_generator_create(&shape, &generator, &error) != COG_OK)
        return fail(error.message);
    for (size_t row = 0; row < shape.queries && !ferror(stdout); row++)
        write_query(generator, row, &text);
    buffer_free(&text);
    query_log_generator_free(generator);
    return fflush(stdout) || ferror(stdout) ? fail("the log cannot be written") : 0;
}
