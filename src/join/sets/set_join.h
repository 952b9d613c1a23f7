/* The exact join of member sets by Jaccard or containment.
 *
 * In: a file of sets, and the order in which to take its documents. Out, depending on the mode: for
 * each document the first earlier representative that it matches; or connected components; or all
 * pairs. The method is the prefix filter over approximate counts (member_counts.h, set_prefix.h)
 * with posting lists of the documents that can still be matched (set_index.h): a family of
 * documents that match one representative costs linear time and memory. Candidates are verified on
 * their sets in the file, so the answer is exact.
 *
 * Memory: counts, then prefixes and posting lists, within memory_bytes. If the lists of all
 * documents do not fit, the join takes several rounds, each with the lists of the next documents.
 * The answer depends neither on the memory nor on the number of threads. */
#pragma once

#include "join/sets/join_checkpoint.h"
#include "join/sets/set_measure.h"
#include "run/job.h"
#include "search/hits/hit_lists.h"
#include "vector/set_file.h"

enum set_join_mode {
    SET_JOIN_REPRESENTATIVES, /* a document that matches no earlier representative becomes one */
    SET_JOIN_CONNECTED,       /* chains of matches form one component */
    SET_JOIN_PAIRS,           /* all matches */
};

struct set_join_options {
    enum set_join_mode mode;
    struct set_measure measure;
    double floor; /* similarities of at least this are recorded in `nearest`; 0: none. A document
                     with hundreds of candidates records only the first ones. */
    /* A document looks for at most this many candidates and reads at most 16 times as many postings
     * of a list; candidates that share its rarest members come first. Pairs may then be missed. 0:
     * no limit. */
    size_t candidates_most;
    /* The first ranks of the order are a reference collection: the other documents are compared
     * with it and not with each other. 0: one collection. */
    size_t reference;
    /* Pairs: receives batches of pairs as they are found, from any thread, and keeps none; they are
     * then not in the result. NULL: the result has them. */
    const struct match_sieve *sieve;
    uint64_t memory_bytes; /* 0: no limit */
    const char *near_path; /* a scratch file is created in the folder of this file; "-": TMPDIR,
                           NULL: in memory */
    /* Folder for checkpoints (join_checkpoint.h) and the result; a later join of the same sets and
     * question continues from them. Not for pairs. NULL: none. */
    const struct join_folder *work;
    /* If not NULL, called with the approximate memory of the join as soon as the number of listed
     * members is known, before their posting lists are made. */
    void (*predict)(void *context, uint64_t bytes);
    void *predict_context;
};

/* A frequent member, for notices: that of the longest posting list read. */
struct heavy_member {
    uint64_t member;
    uint64_t documents; /* with the member in their prefix */
    uint32_t rank;      /* one of them */
};

/* Results by rank. Zero-initialise; set_join_result_free releases. */
struct set_join_result {
    uint32_t *partner; /* representative, or first document of the component; the document itself if
                          it has none */
    float *similarity; /* to the partner; in connected components only a direct match with the
                          partner has one, others 0 */
    /* The most similar document met, UINT32_MAX: none; the pointer is NULL if not requested. With
     * representatives: the most similar of them; for a representative, of the earlier ones and of
     * the later ones that are nearest to it. */
    uint32_t *nearest;
    float *nearest_similarity;
    struct match_list pairs; /* of ranks, a < b, unsorted */
    struct heavy_member heavy;
    uint64_t members, listed, comparisons, candidates, rounds;
    uint64_t memory_bytes, disk_bytes; /* peak */
};
void set_join_result_free(struct set_join_result *result);
/* How much was compared. */
void set_join_report(const struct set_join_result *result, cog_report *report);

/* order[rank] is a row. A row of the reference collection may occur again among the other
 * documents; it does not match itself. Otherwise all rows are different. result->pairs may have a
 * limit. */
cog_status set_join_run(const struct set_file *file, const uint32_t *order, size_t count,
                        const struct set_join_options *options, struct job *job,
                        struct set_join_result *result, cog_error *error);
