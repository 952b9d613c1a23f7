#include "text/term_writer.h"

#include "base/hash.h"
#include "base/memory.h"

void term_list_free(struct term_list *list) {
    free(list->hashes);
    free(list->ends);
    buffer_free(&list->strings);
    *list = (struct term_list){0};
}

cog_status term_list_reserve(struct term_list *list, size_t extra, cog_error *error) {
    size_t needed = list->count + extra;
    if (!memory_grow((void **)&list->hashes, &list->capacity, needed, sizeof *list->hashes) ||
        (list->want_strings &&
         !memory_grow((void **)&list->ends, &list->ends_capacity, needed, sizeof *list->ends)))
        return error_memory(error, needed * sizeof *list->hashes, "terms");
    return COG_OK;
}

cog_status term_list_add(struct term_list *list, uint64_t hash, struct bytes_view string,
                         cog_error *error) {
    TRY(term_list_reserve(list, 1, error));
    if (list->want_strings) {
        if (!buffer_append(&list->strings, string.data, string.size))
            return error_memory(error, string.size, "terms");
        list->ends[list->count] = list->strings.size;
    }
    list->hashes[list->count++] = hash;
    return COG_OK;
}

/* The strings of n-grams: the tokens' joined by spaces. */
static cog_status join_strings(struct term_list *list, size_t n, size_t terms, cog_error *error) {
    struct buffer joined = {0};
    size_t *ends = memory_array(terms, sizeof *ends);
    bool enough = ends != NULL;
    for (size_t i = 0; i < terms && enough; i++) {
        for (size_t j = i; j < i + n && enough; j++) {
            size_t begin = j ? list->ends[j - 1] : 0;
            enough = (j == i || buffer_append(&joined, " ", 1)) &&
                     buffer_append(&joined, list->strings.data + begin, list->ends[j] - begin);
        }
        ends[i] = joined.size;
    }
    if (!enough) {
        free(ends);
        buffer_free(&joined);
        return error_memory(error, terms * sizeof *ends, "strings of n-grams");
    }
    free(list->ends);
    buffer_free(&list->strings);
    list->ends = ends;
    list->ends_capacity = terms;
    list->strings = joined;
    return COG_OK;
}

cog_status term_list_join(struct term_list *list, unsigned n, cog_error *error) {
    if (n > list->count)
        n = (unsigned)list->count;
    if (n <= 1)
        return COG_OK;
    size_t terms = list->count - n + 1;
    TRY(list->want_strings ? join_strings(list, n, terms, error) : COG_OK);
    for (size_t i = 0; i < terms; i++) {
        uint64_t hash = list->hashes[i];
        for (size_t j = i + 1; j < i + n; j++)
            hash = hash_pair(hash, list->hashes[j]);
        list->hashes[i] = hash;
    }
    list->count = terms;
    return COG_OK;
}
