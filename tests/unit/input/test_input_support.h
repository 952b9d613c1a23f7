/* Reads whole inputs into memory, for the tests of the readers. */
#pragma once

#include "input/reader.h"

struct read_item {
    bool bad, passed_over;
    char *id, *lang, *text, *raw; /* copies, zero-terminated */
    char *extra;                  /* the same; NULL if the record has none */
    size_t id_size, text_size, raw_size;
    struct given_term *terms;
    size_t term_count;
    uint32_t file;
    uint64_t line;
    char message[512]; /* of a bad record */
};

struct read_result {
    cog_status status;
    cog_error error;
    struct read_item *items;
    size_t count, capacity;
    size_t bad_count;
    size_t largest_batch_bytes;
};

/* Everything that a reader delivers; release with read_result_free. */
struct read_result read_all(struct reader *reader);
/* Opens, reads, closes. */
struct read_result read_paths(const struct reader_options *options, const char *const *paths,
                              size_t count);
struct read_result read_path(const struct reader_options *options, const char *path);
void read_result_free(struct read_result *result);
bool read_results_equal(const struct read_result *a, const struct read_result *b);

struct reader_options default_options(void);
/* Writes a text below an existing or new folder. */
void write_below(const char *folder, const char *name, const char *text);
