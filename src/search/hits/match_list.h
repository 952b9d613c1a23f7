/* Matches: pairs of rows with their measure, collected by several workers, delivered sorted. */
#pragma once

#include "base/error.h"
#include "hamming/hamming.h"

/* Of a pair whose signatures were not compared, among others whose were. */
#define DISTANCE_NONE UINT32_MAX

/* a is the earlier row, or the row of the first collection. */
struct match {
    uint32_t a, b;
    uint32_t distance; /* Hamming distance in bits; 0 in a list where no signatures are compared */
    float similarity;  /* the true measure, or the estimate where there are no vectors */
};

/* Decides which candidates are matches, a batch at a time. */
struct match_sieve {
    /* Moves those of the items that stay to the front, in any order, and sets their number and
     * similarities. Any thread may call, several at once. */
    cog_status (*keep)(void *context, struct match *items, size_t *count, cog_error *error);
    void *context;
};

enum { MATCH_BATCH = 16384 };

/* Zero-initialise; match_list_free releases. */
struct match_list {
    struct match *items;
    size_t count, capacity;
    const struct match_sieve *sieve; /* NULL: all that is added stays */
    size_t sieved;                   /* items in front that came through the sieve */
    size_t limit;   /* more matches than this are COG_ERR_MEMORY; 0: as many as memory holds. With a
                     * sieve it is on what stays; a batch of candidates comes on top. */
    size_t *listed; /* atomic: how many the lists that share the limit have; NULL: this alone */
};

/* Makes a worker's list, which is empty, one of those that share a limit and a count. */
void match_list_share(struct match_list *list, size_t limit, size_t *listed);

cog_status match_list_add(struct match_list *list, struct match match, cog_error *error);
/* Puts the candidates that are left through the sieve, if there is one. */
cog_status match_list_sieve(struct match_list *list, cog_error *error);
/* Moves everything, sieved, of `from` behind `to`; from is left
 * empty. */
cog_status match_list_move(struct match_list *to, struct match_list *from, cog_error *error);
/* By a, then b. */
void match_list_sort(struct match_list *list);
/* Whether a sorted list has the pair. */
bool match_list_holds(const struct match_list *list, uint32_t a, uint32_t b);
void match_list_free(struct match_list *list);

/* COG_ERR_USAGE if signatures of one collection, or of two, cannot be joined: their width is out of
 * range or differs, or there are too many rows. second may be NULL. */
cog_status signatures_check(const struct signatures_view *first,
                            const struct signatures_view *second, cog_error *error);
