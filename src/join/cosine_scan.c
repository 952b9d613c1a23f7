#include "join/cosine_scan.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

enum { ROWS_AT_A_TIME = 1024 };

struct scan {
    const struct sparse_matrix *queries, *collection;
    float *dense; /* a query by column for each worker; zero in between */
    cosine_scan_work *work;
    void *context;
};

static cog_status scan_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    const struct scan *scan = context;
    float *dense = scan->dense + (size_t)worker * scan->collection->column_count;
    cog_status status = COG_OK;
    for (size_t query = 0; query < scan->queries->rows && status == COG_OK; query++) {
        sparse_spread(scan->queries, query, dense);
        for (size_t row = begin; row < end && status == COG_OK; row++) {
            double product = sparse_dense_dot(dense, scan->collection, row);
            if (product > 0)
                status = scan->work(scan->context, worker, query, (uint32_t)row, product, error);
        }
        sparse_clear(scan->queries, query, dense);
    }
    return status;
}

cog_status cosine_scan(const struct sparse_matrix *queries, const struct sparse_matrix *collection,
                       unsigned threads, cosine_scan_work *work, void *context, cog_error *error) {
    size_t columns = collection->column_count;
    struct scan scan = {.queries = queries,
                        .collection = collection,
                        .dense = memory_zeroed_array(threads * columns + 1, sizeof(float)),
                        .work = work,
                        .context = context};
    cog_status status =
        scan.dense
            ? parallel_for(threads, collection->rows, ROWS_AT_A_TIME, scan_rows, &scan, error)
            : error_memory(error, threads * columns * sizeof(float), "an exact search");
    free(scan.dense);
    return status;
}
