/* The exact join of member sets by Jaccard or containment: who is near whom, or whose
 * near-duplicate is whose.
 *
 * In: a file of sets, and an order in which its documents are taken. Out, by the mode: for each
 * document the first earlier representative that it matches; or connected components; or all pairs.
 * The method is the prefix filter over approximate counts (member_counts.h, set_prefix.h) with
 * posting lists of the documents that can still be matched (set_index.h): a family of documents
 * that match one representative costs linear time and memory. Candidates are verified on their sets
 * in the file, so the answer is exact.
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
    SET_JOIN_CONNECTED,       /* chains of matches are one component */
    SET_JOIN_PAIRS,           /* all matches */
};

struct set_join_options {
    enum set_join_mode mode;
    struct set_measure measure;
    double floor; /* similarities from here on are noted as `nearest`; 0: none are. Of a document
                     with hundreds of candidates the first ones count. */
    /* A document looks for no more candidates than this, and reads no more than 16 times as much
     * of a list; those with which it shares its rarest members come first. Pairs are then missed.
     * 0: it looks for all. */
    size_t candidates_most;
    /* The first ranks of the order are a reference collection: the other documents are compared
     * with it and not with each other. 0: one collection. */
    size_t reference;
    /* Pairs: takes batches of them as they are found, from any thread, and keeps none; they are not
     * in the result then. NULL: they are. */
    const struct match_sieve *sieve;
    uint64_t memory_bytes; /* 0: no limit */
    const char *beside;    /* a scratch file goes to the folder of this file; "-": TMPDIR, NULL:
                              in memory */
    /* Checkpoints go there (join_checkpoint.h), and the result; a later join of the same sets and
     * the same question goes on from them. Not for pairs. NULL: none. */
    const struct join_folder *work;
    /* If not NULL, called with the memory that the join will take, about, as soon as it is known
     * how many documents may have partners. */
    void (*predict)(void *context, uint64_t bytes);
    void *predict_context;
};

/* The text of a frequent member, for notices: the longest posting list that was read. */
struct heavy_member {
    uint64_t member;
    uint64_t documents; /* that have it in their prefix */
    uint32_t rank;      /* one of them */
};

/* Results by rank. Zero-initialise; set_join_result_free releases. */
struct set_join_result {
    uint32_t *partner; /* representative, or first of its component; itself if it has none */
    float *similarity; /* to the partner; of connected documents only the partner's own is known,
                          the others have 0 */
    /* The most similar document that was met, UINT32_MAX: none; NULL: not asked for. With
     * representatives: the most similar one of them, for a representative among the earlier ones
     * and the later ones that are nearest to it. */
    uint32_t *nearest;
    float *nearest_similarity;
    struct match_list pairs; /* of ranks, a < b, in no order */
    struct heavy_member heavy;
    uint64_t members, listed, comparisons, candidates, rounds;
    uint64_t memory_bytes, disk_bytes; /* the most that was held */
};
void set_join_result_free(struct set_join_result *result);

/* order[rank] is a row. With a reference collection a row may stand both in it and behind it; it
 * does not match itself then. Else all rows are different. result->pairs may have a limit. */
cog_status set_join_run(const struct set_file *file, const uint32_t *order, size_t count,
                        const struct set_join_options *options, struct job *job,
                        struct set_join_result *result, cog_error *error);
