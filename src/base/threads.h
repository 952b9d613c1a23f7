/* Threads: a parallel loop over a range, and a pipeline that reads in order, works in parallel and
 * delivers in order. Results do not depend on the number of threads. With one thread, no thread is
 * started. */
#pragma once

#include "cognate.h"

/* Resolves 0 to the number of processors this process may use; the result is at most
 * COG_MAX_THREADS. */
unsigned threads_resolve(unsigned threads);

/* Parallel loops started by a watched thread, and loops nested in them, call `stops` before every
 * piece; if it returns true, they end with COG_ERR_CANCELLED. It is called from all threads of a
 * loop, with the position of the outermost loop and its count (both 0 from an inner loop). */
struct threads_watch {
    bool (*stops)(void *context, uint64_t done, uint64_t total);
    void *context;
    const struct threads_watch *outer; /* a watch that is checked as well, or NULL */
};
/* Sets the watch of the calling thread (NULL: none) and returns the previous one. The watch is
 * borrowed until the next call. */
const struct threads_watch *threads_watch_set(const struct threads_watch *watch);
const struct threads_watch *threads_watch_current(void);
/* For long work that is not one of the loops below, with its position and count: COG_ERR_CANCELLED
 * if the watch of the calling thread wants to stop. */
cog_status threads_check(uint64_t done, uint64_t total, cog_error *error);

/* Calls work(context, worker, begin, end) for pieces of at most `grain` items until [0, count) is
 * covered; worker < threads. The first failing piece ends the loop, and its error is the result. */
typedef cog_status parallel_work(void *context, unsigned worker, size_t begin, size_t end,
                                 cog_error *error);
/* A grain that gives each thread a few pieces, at most `most` items each. */
size_t threads_grain(unsigned threads, size_t count, size_t most);
cog_status parallel_for(unsigned threads, size_t count, size_t grain, parallel_work *work,
                        void *context, cog_error *error);

/* The three stages of a pipeline over batches that the caller owns. `produce` runs on one thread at
 * a time; when nothing is left, it sets *end and leaves the batch empty. `work` runs on any thread.
 * `consume` runs on one thread at a time and receives the batches in the order of production. Each
 * thread runs whichever stage is ready, so reading never idles a core, and the thread that read a
 * batch goes on to work on it. */
struct pipeline {
    cog_status (*produce)(void *context, void *batch, bool *end, cog_error *error);
    cog_status (*work)(void *context, unsigned worker, void *batch, cog_error *error);
    cog_status (*consume)(void *context, void *batch, cog_error *error);
    void *context;
    void **batches; /* 2 * threads + 1 or more keep every thread busy */
    size_t batch_count;
    /* If `source` is not NULL, it is the context of `produce` and of `accept`, which receives each
     * batch before `consume`; `consume` may then be NULL. */
    void *source;
    cog_status (*accept)(void *source, void *batch, cog_error *error);
};
cog_status pipeline_run(const struct pipeline *pipeline, unsigned threads, cog_error *error);
