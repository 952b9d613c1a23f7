/* Threads: a loop over a range, and a pipeline that reads in order, works in parallel and delivers
 * in order. Results never depend on the number of threads. With one thread nothing is started. */
#pragma once

#include "cognate.h"

/* 0 means all processors this process may use. Never more than COG_MAX_THREADS. */
unsigned threads_resolve(unsigned threads);

/* Loops that a watched thread starts, and loops inside them, call `stops` before every piece; if it
 * returns true they end with COG_ERR_CANCELLED. It is called from all threads of a loop, with the
 * position of the outermost loop and its count (both 0 from an inner loop). */
struct threads_watch {
    bool (*stops)(void *context, uint64_t done, uint64_t total);
    void *context;
    const struct threads_watch *outer; /* the watch that this one asks too, or NULL */
};
/* Sets the watch of the calling thread (NULL: none) and returns the previous one. The watch is
 * borrowed until the next call. */
const struct threads_watch *threads_watch_set(const struct threads_watch *watch);
const struct threads_watch *threads_watch_current(void);
/* For long work that is none of the loops below, with its position and count: COG_ERR_CANCELLED if
 * the watch of the calling thread says stop. */
cog_status threads_check(uint64_t done, uint64_t total, cog_error *error);

/* Calls work(context, worker, begin, end) until [0, count) is covered by pieces of at most `grain`;
 * worker < threads. The first failing piece ends the loop and its error is the result. */
typedef cog_status parallel_work(void *context, unsigned worker, size_t begin, size_t end,
                                 cog_error *error);
cog_status parallel_for(unsigned threads, size_t count, size_t grain, parallel_work *work,
                        void *context, cog_error *error);

/* The three stages of a pipeline over batches that the caller owns. produce runs on one thread at a
 * time and sets *end (with the batch left empty) when nothing is left; work runs on any; consume
 * runs on one thread at a time and sees the batches in the order of their production. Every thread
 * takes whatever stage is ready, so reading never idles a core, and works on what it has read. */
struct pipeline {
    cog_status (*produce)(void *context, void *batch, bool *end, cog_error *error);
    cog_status (*work)(void *context, unsigned worker, void *batch, cog_error *error);
    cog_status (*consume)(void *context, void *batch, cog_error *error);
    void *context;
    void **batches; /* 2 * threads + 1 or more keep every thread busy */
    size_t batch_count;
};
cog_status pipeline_run(const struct pipeline *pipeline, unsigned threads, cog_error *error);
