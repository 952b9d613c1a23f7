/* Batches: single steps of jobs, for programs that spread a job over machines and let an engine
 * (such as Spark) sort, shuffle and recover. cognate.h includes this header.
 *
 * Every step works on a batch in memory, and results of batches merge. Statistics of parts merge to
 * those of the whole. Signatures, keys, term sets and measures of a document depend only on the
 * document, the options and the statistics. Rows are positions in the input, from 0, skipped
 * records included; cog_documents_skipped lists the skipped ones. Arrays are borrowed for the call.
 * Streams are as in cognate_arrow.h. */
#ifndef COGNATE_BATCH_H
#define COGNATE_BATCH_H

#ifndef COGNATE_H
#error "include cognate.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What travels as bytes ------------------------------------------------------------------- */

/* The bytes that cog_statistics_save writes. The same documents give the same bytes, whether they
 * are collected at once or in parts that are merged in any order. Free *bytes with cog_free. */
COG_API cog_status cog_statistics_to_bytes(const cog_statistics *statistics, uint8_t **bytes,
                                           size_t *size, cog_error *error);
/* `terms` as for cog_statistics_open; NULL accepts any. */
COG_API cog_status cog_statistics_from_bytes(const uint8_t *bytes, size_t size,
                                             const cog_term_options *terms,
                                             cog_statistics **statistics, cog_error *error);

/* The bytes that cog_lexicon_save writes. Free *bytes with cog_free. */
COG_API cog_status cog_lexicon_to_bytes(const cog_lexicon *lexicon, uint8_t **bytes, size_t *size,
                                        cog_error *error);
COG_API cog_status cog_lexicon_from_bytes(const uint8_t *bytes, size_t size, cog_lexicon **lexicon,
                                          cog_error *error);

/* ---- Keys of hash tables --------------------------------------------------------------------- */

typedef enum cog_flip_mode {
    COG_FLIP_NONE,
    COG_FLIP_RANDOM,
    COG_FLIP_DISTANCE, /* the bits whose margins are nearest to zero */
    COG_FLIP_ACROSS,   /* the same number of keys, chosen by likelihood across all tables */
} cog_flip_mode;

/* Which keys a signature has in the hash tables. Zero-initialise. */
typedef struct cog_key_plan {
    unsigned tables; /* L */
    /* Keys of bits: K (even), and F more keys per table with a flipped bit each. */
    unsigned key_bits, flips;
    cog_flip_mode flip_mode;
    /* Bands of minhash (key_bits 0): values per key, and bits per value. */
    unsigned band_values, value_bits;
    uint64_t seed; /* of random flips */
    uint64_t reserved[4];
} cog_key_plan;

/* Plans bands for sets at or above a Jaccard threshold: enough of `values` values for the recall,
 * with the fewest candidates below the threshold. *recall: in, the wanted recall; out, the expected
 * one. */
COG_API cog_status cog_key_plan_bands(double threshold, unsigned values, unsigned value_bits,
                                      double *recall, cog_key_plan *plan, cog_error *error);

/* Computes keys: columns row (int64), table (int32), key (int64: 64 bits). Two rows are candidates
 * if they share a key in the same table. `flipped`: include flipped keys; within one collection, or
 * if both sides flip, do so for all rows, otherwise for the queries only. `margins`: rows * bits
 * margins, needed for flips by distance and across; or NULL. `term_counts` as cog_sign_rows fills
 * them; rows with 0 terms have no keys. NULL: all rows have terms. */
COG_API cog_status cog_table_keys(const cog_signatures *signatures, const float *margins,
                                  const uint32_t *term_counts, const cog_key_plan *plan,
                                  bool flipped, const cog_run_options *run,
                                  struct ArrowArrayStream *stream, cog_error *error);

/* ---- Joins of signatures --------------------------------------------------------------------- */

/* How cog_pairs_find would join the rows of one collection, or of two (against_rows; otherwise 0),
 * by the method window, lsh or flat of the options. Settings not given are chosen for threshold and
 * recall, assuming evenly spread rows. (A job that has the documents chooses better, by the true
 * pairs of a sample.) */
typedef struct cog_join_plan {
    cog_method method;
    unsigned tables;          /* window: Q; lsh: L; flat: 0 */
    uint64_t window;          /* window: B */
    bool shared_window;       /* window */
    unsigned key_bits, flips; /* lsh: K, F */
    cog_flip_mode flip_mode;  /* lsh */
    bool flip_both;           /* lsh: the other rows have flipped keys too */
    uint32_t radius_bits;     /* candidates within it are verified */
    double threshold;         /* pairs at or above it are matches */
    double expected_recall;
    double comparisons;       /* expected comparisons of signatures in the whole join */
    uint64_t margins_per_row; /* number of first bits whose margins keys need; 0: none */
    uint64_t reserved[4];
} cog_join_plan;
/* Plans for fewer than 2^48 rows. */
COG_API cog_status cog_plan_join(const cog_pairs_options *options, uint64_t rows,
                                 uint64_t against_rows, cog_join_plan *plan, cog_error *error);

/* Permutes the bits of signatures by the random orders that a join by windows uses: rows * bits / 8
 * bytes per table, from first_table on, one table after another. Distances do not change. To join,
 * sort the rows of a table by these bytes (equal bytes by row number) and compare each row with the
 * window before it. */
COG_API cog_status cog_permute_signatures(const cog_signatures *signatures, uint64_t seed,
                                          unsigned first_table, unsigned tables,
                                          const cog_run_options *run, uint8_t *permuted,
                                          cog_error *error);

/* Finds pairs along a band: query i is compared with rows begins[i] to ends[i] - 1; neither array
 * may descend. Windows, runs of equal keys and blocks of rows are bands. `rows` NULL: the queries
 * themselves. Columns query, row (int64), distance (int32) of pairs within the radius, sorted by
 * query and row. */
COG_API cog_status cog_band_pairs(const cog_signatures *queries, const cog_signatures *rows,
                                  const uint32_t *begins, const uint32_t *ends,
                                  uint32_t radius_bits, const cog_run_options *run,
                                  struct ArrowArrayStream *stream, cog_error *error);

/* Ranges of rows for each query: query q has the ranges offsets[q] to offsets[q + 1] - 1, and range
 * i has the rows begins[i] to ends[i] - 1. Borrowed for the call. */
typedef struct cog_row_ranges {
    const uint64_t *offsets; /* queries + 1 values */
    const uint32_t *begins, *ends;
    size_t count; /* number of ranges */
} cog_row_ranges;
/* Searches each query's ranges, for an index whose lists or buckets are stored one after another in
 * one array, once the caller knows which of them each query probes. Returns the k nearest (k 0:
 * all) within the radius (COG_RADIUS_NONE: any). A row in two ranges of a query is listed twice.
 * Columns query, row (int64), distance (int32), sorted by query, distance and row. */
COG_API cog_status cog_range_search(const cog_signatures *queries, const cog_signatures *rows,
                                    const cog_row_ranges *ranges, size_t k, uint32_t radius_bits,
                                    const cog_run_options *run, struct ArrowArrayStream *stream,
                                    cog_error *error);

/* Estimates the share of true pairs that was found, with its 95% interval: hits[i] of trials[i] for
 * sampled row i. Pairs of one row tend to be found or missed together, so the interval is computed
 * from the differences between rows. Without trials the share is 0 and the interval 0 to 1. */
COG_API cog_status cog_measured_share(const uint64_t *hits, const uint64_t *trials, size_t rows,
                                      double *share, double *low, double *high, cog_error *error);

/* ---- Term sets ------------------------------------------------------------------------------- */

/* Makes the sets that cog_dedup compares by Jaccard or containment. Columns row (int64), terms and
 * words (list of int64: strictly ascending numbers below 2^48), text_bytes (int64), fingerprint
 * (fixed_size_binary of 16: equal for documents with equal sets, or with equal texts if they have
 * no terms). Two documents are compared by their terms or, if either has no terms, by their words;
 * only short texts have words. */
COG_API cog_status cog_term_sets(cog_documents *documents, const cog_term_options *terms,
                                 cog_measure measure, const cog_run_options *run,
                                 struct ArrowArrayStream *stream, cog_report *report,
                                 cog_error *error);
/* The same of an index by Jaccard or containment: of the documents that can be found, `count` from
 * position `first` on, or fewer at the end. row is that position, text_bytes is 0, and there is one
 * more column, id (string). COG_ERR_USAGE if the index was made by another measure or other terms.
 */
COG_API cog_status cog_index_term_sets(const cog_index *index, const cog_term_options *terms,
                                       cog_measure measure, uint64_t first, uint64_t count,
                                       struct ArrowArrayStream *stream, cog_error *error);

/* ---- Measures of given pairs ----------------------------------------------------------------- */

typedef struct cog_verify_options {
    cog_measure measure;
    cog_term_options terms;
    cog_weight_options weights; /* cosine */
    /* Cosine: statistics of the whole collection (borrowed); NULL: those of the documents of the
     * call. */
    const cog_statistics *statistics;
    /* Jaccard: true: compare short texts by their words, as cog_dedup does; false: as
     * cog_pairs_find. */
    bool short_texts;
    uint64_t reserved[4];
} cog_verify_options;
/* The usual terms of the measure; short_texts for Jaccard. */
COG_API void cog_verify_options_init(cog_verify_options *options, cog_measure measure);

/* Computes the true measure of pairs of rows: a[i] of `documents` and b[i] of `against` (or, if
 * that is NULL, also of `documents`). `similarities` has room for `count` values; NaN for a pair
 * with a skipped or missing row. */
COG_API cog_status cog_verify_pairs(cog_documents *documents, cog_documents *against,
                                    const int64_t *a, const int64_t *b, size_t count,
                                    const cog_verify_options *options, const cog_run_options *run,
                                    double *similarities, cog_report *report, cog_error *error);
/* Computes the Hamming distances of pairs of signatures, of one collection if `against` is NULL. A
 * missing row is COG_ERR_USAGE. */
COG_API cog_status cog_verify_distances(const cog_signatures *signatures,
                                        const cog_signatures *against, const int64_t *a,
                                        const int64_t *b, size_t count, uint32_t *distances,
                                        cog_error *error);

/* ---- Joins of term sets ---------------------------------------------------------------------- */

/* The exact join of term sets that cog_dedup and cog_pairs_find use, in steps that merge: count
 * members, compute the keys of each set, bring equal keys together, measure the candidates. The
 * counts affect the cost of the join, never its result. */

/* Sets as lists: set i is members[offsets[i]] to members[offsets[i + 1] - 1], strictly ascending
 * numbers below 2^48. Borrowed. */
typedef struct cog_set_list {
    const int64_t *offsets, *members;
    size_t count;
} cog_set_list;

/* The number of sets that each member is in: 2^slot_bits slots of 4 bits (slot_bits 1 to 40, two
 * slots per byte), and 2^frequent_bits numbers for frequent members (0 to 32). The arrays are the
 * caller's and must be zero before the first set. Members that share a slot are counted together.
 */
typedef struct cog_member_counts {
    uint8_t *slots;
    uint32_t *frequent;
    unsigned slot_bits, frequent_bits;
    uint64_t reserved[2];
} cog_member_counts;
COG_API cog_status cog_member_counts_add(cog_member_counts *counts, const cog_set_list *sets,
                                         cog_error *error);
/* Adds the counts of other sets, in tables of the same size. */
COG_API cog_status cog_member_counts_merge(cog_member_counts *counts,
                                           const cog_member_counts *other, cog_error *error);

/* Computes keys of sets: two sets at or above the threshold share a key. Columns row, key (int64),
 * place (of the key in its set) and size (of the set; int32), first and second (int64: the first
 * two keys of the set, or -1). A member that no other set has is not a key; a set may have no keys.
 */
COG_API cog_status cog_set_keys(const cog_set_list *sets, const cog_member_counts *counts,
                                cog_measure measure, double threshold,
                                struct ArrowArrayStream *stream, cog_error *error);

/* Rows of cog_set_keys, sorted by key, then by size. Words (cog_term_sets) are joined separately:
 * add 2^48 to their keys, first and second (not to -1). Bits from 49 on separate parts of a key
 * that are joined independently. */
typedef enum cog_key_flag {
    COG_KEY_SIDE = 1,      /* the set belongs to the second of two collections */
    COG_KEY_ACROSS = 2,    /* compare only with sets of the other collection */
    COG_KEY_HAS_TERMS = 4, /* keys of words: two sets with terms are not compared by words */
    COG_KEY_LARGER = 8, /* compare only with the rows before it: a long run can be joined in parts,
                           each with the rows that begin a pair */
} cog_key_flag;
typedef struct cog_key_rows {
    const int64_t *keys, *first, *second;
    const int32_t *places, *sizes;
    const uint8_t *flags; /* sums of cog_key_flag */
    size_t count;
} cog_key_rows;
/* Lists the candidates among rows with equal keys: pairs of sets whose sizes and places allow the
 * threshold. The result has two int64 columns, a and b, which are positions in `rows`; between two
 * collections, b is a row of the second. A pair that shares several keys is listed once per key.
 * Unless it is NULL, *comparisons receives the number of pairs that were compared. */
COG_API cog_status cog_key_pairs(const cog_key_rows *rows, cog_measure measure, double threshold,
                                 uint64_t *comparisons, struct ArrowArrayStream *stream,
                                 cog_error *error);

/* Computes the measure of set i of a and set i of b as cog_dedup does: by terms or, if either has
 * none, by words. Words may be NULL: there are none. `similarities` has room for one value per set.
 */
COG_API cog_status cog_measure_sets(const cog_set_list *a_terms, const cog_set_list *b_terms,
                                    const cog_set_list *a_words, const cog_set_list *b_words,
                                    cog_measure measure, double *similarities, cog_error *error);

/* ---- Links between two languages ------------------------------------------------------------- */

/* cog_link in steps that merge: the terms of the documents of either side; a projector, made from
 * the lexicon and the statistics of all documents; the lengths of the rows, whose mean the vectors
 * need; vectors; the nearest rows of the other side, block by block; the decision. Each step works
 * on any part of the rows. The results are those of cog_link, bit for bit, if the lengths are
 * summed in input order. Side 0 has the documents of the lexicon's source language, side 1 those of
 * its target language. */

/* Rows as lists of numbers: row i is items[offsets[i]] to items[offsets[i + 1] - 1]. Borrowed. */
typedef struct cog_number_rows {
    const int64_t *offsets, *items;
    size_t count;
} cog_number_rows;

/* Terms of the documents of a side, or of a part of it. The caller frees the statistics with
 * cog_statistics_free and releases the streams. */
typedef struct cog_link_terms {
    cog_statistics *statistics; /* statistics of parts merge */
    uint64_t languages[3]; /* number of documents that name the language of their side, of the other
                              side, a third one; parts add up */
    struct ArrowArrayStream
        rows; /* row (int64), terms (list of int64: hash and frequency of each term, alternating) */
    struct ArrowArrayStream words; /* word (string): words the lexicon does not have, each once,
                                      ascending; none for side 1 */
} cog_link_terms;
/* The streams are set only if the call succeeds. */
COG_API cog_status cog_link_terms_read(cog_documents *documents, const cog_lexicon *lexicon,
                                       int side, const cog_run_options *run, cog_link_terms *terms,
                                       cog_report *report, cog_error *error);

/* Facts about all documents of a side. Zero-initialise. Borrowed. */
typedef struct cog_link_side {
    const cog_statistics *statistics;
    uint64_t languages[3];
    /* Unknown words of side 0, in any order: word i is bytes word_offsets[i] to word_offsets[i + 1]
     * - 1. */
    const char *words;
    const int64_t *word_offsets;
    size_t word_count;
    uint64_t reserved[2];
} cog_link_side;

/* Turns terms into vectors over the terms of the target language. */
typedef struct cog_link_projector cog_link_projector;
/* COG_ERR_USAGE if most documents of a side name the language of the other side. The lexicon is not
 * needed afterwards. The report has the number of known terms. */
COG_API cog_status cog_link_projector_create(const cog_lexicon *lexicon, const cog_link_side *from,
                                             const cog_link_side *to,
                                             const cog_projection_options *options,
                                             const cog_run_options *run,
                                             cog_link_projector **projector, cog_report *report,
                                             cog_error *error);
COG_API void cog_link_projector_free(cog_link_projector *projector);
/* Computes the lengths of rows of cog_link_terms. A projector serves one call at a time. */
COG_API cog_status cog_link_lengths(cog_link_projector *projector, int side,
                                    const cog_number_rows *terms, double *lengths,
                                    cog_error *error);
/* Computes the vectors of rows of cog_link_terms. `mean_length`: the lengths of all rows of the
 * side, summed in input order, divided by their number; 1 if the sum is 0. One column, entries
 * (list of int64: the column in the upper 32 bits, ascending; the bits of the float in the lower).
 */
COG_API cog_status cog_link_vectors(cog_link_projector *projector, int side,
                                    const cog_number_rows *terms, double mean_length,
                                    struct ArrowArrayStream *stream, cog_error *error);

/* How many neighbours the decision needs. */
typedef struct cog_link_plan {
    uint64_t neighbours[2]; /* per row of either side: the nearest, by cosine, then row */
    /* Method flat: the number of nearest signatures (by distance, then row) whose cosines are
     * computed. Exact: 0. */
    uint64_t proposals[2];
} cog_link_plan;
/* COG_ERR_USAGE for methods other than exact, lists, flat and window. */
COG_API cog_status cog_link_plan_of(const cog_link_options *options, cog_link_plan *plan,
                                    cog_error *error);
/* Finds the nearest of some rows of the other side for each vector of a part of `side`: the plan's
 * number of neighbours with a cosine above 0, or of proposals with any cosine. Columns query, row
 * (int64, from 0), distance (int32; exact: 0), similarity (double). Merging the results for several
 * parts of the other side and keeping the first ones gives the result for the whole. */
COG_API cog_status cog_link_nearest(const cog_number_rows *queries, const cog_number_rows *rows,
                                    int side, const cog_link_options *options,
                                    const cog_run_options *run, struct ArrowArrayStream *stream,
                                    cog_error *error);

/* The method window in steps: compute the signatures of all vectors; choose the radius; find the
 * pairs of rows within the radius by cog_permute_signatures and cog_band_pairs; compute their
 * cosines. The nearest above 0 are the neighbours of the decision.
 *
 * Computes the signatures of vectors, options->bits / 8 bytes each. */
COG_API cog_status cog_link_sign(const cog_number_rows *vectors, const cog_link_options *options,
                                 const cog_run_options *run, uint8_t *signatures, cog_error *error);
/* The source rows by which the radius, or the plan of lists, is chosen, ascending. Returns their
 * number. */
enum { COG_LINK_RADIUS_ROWS = 256 };
COG_API size_t cog_link_radius_rows(uint64_t documents, uint32_t rows[COG_LINK_RADIUS_ROWS]);
/* Chooses the radius from the number of target rows at each distance to each of `count` such rows:
 * distances[i * (options->bits + 1) + distance]. `beyond`: the cosine at the radius, which the
 * decision assumes for neighbours that are not found. */
COG_API cog_status cog_link_radius(const uint64_t *distances, size_t count,
                                   const cog_link_options *options, uint32_t *radius_bits,
                                   double *beyond, cog_error *error);
/* Computes the cosines of pairs: row a[i] of the first vectors, row b[i] of the second. */
COG_API cog_status cog_link_cosines(const cog_number_rows *first, const cog_number_rows *second,
                                    const int64_t *a, const int64_t *b, size_t count,
                                    const cog_run_options *run, double *cosines, cog_error *error);

/* The nearest rows of the other side, nearest first: row i has rows[offsets[i]] to rows[offsets[i +
 * 1] - 1]. Neighbours beyond the number of the plan are ignored. Borrowed. */
typedef struct cog_link_neighbours {
    uint64_t documents;    /* number of documents of this side; `rows` are rows of the other side */
    const double *lengths; /* from cog_link_lengths, by document */
    const int64_t *offsets, *rows;
    const double *similarities;
    double beyond; /* from cog_link_radius or cog_link_lists_plan, the same on both sides; exact,
                      flat: 0 */
} cog_link_neighbours;

/* The method lists in steps.
 *
 * 1. Cut the target rows into the blocks of cog_link (cog_link_block_rows), and count in how many
 *    target rows each column is.
 * 2. Find the true neighbours of the source rows of cog_link_radius_rows: those of cog_link_nearest
 *    by the method exact with COG_LINK_LISTS_NEAREST candidates for each block, rounded to single
 *    precision, of all blocks the first so many by similarity, then row.
 * 3. Try budgets of products with each block, add up the tallies, and plan.
 * 4. For each block and any part of the source rows: find proposals. For each source row: of the
 *    proposals of its blocks in order, keep some. The nearest above 0 that are no less than
 *    `beyond` are the neighbours of the decision, on both sides.
 *
 * Each function runs on the calling thread. */

/* offsets[i + 1] - offsets[i]: the number of entries of row i. Returns how many rows the block that
 * begins at `first` has; 0 after the last row. */
COG_API size_t cog_link_block_rows(const uint64_t *offsets, size_t rows, size_t first);

enum { COG_LINK_LISTS_NEAREST = 128, COG_LINK_LISTS_TALLY = 18 };
/* Facts about all target rows. Zero-initialise. Borrowed. */
typedef struct cog_link_lists {
    const uint32_t *frequencies; /* by column; a later column is in no target row */
    size_t column_count;
    size_t block_count;
    uint64_t reserved[2];
} cog_link_lists;

/* Tries the budgets with the sampled rows and a block, whose first row is row `first` of the side.
 * `truth`: the true neighbours of the sampled rows; lengths and beyond are ignored. */
COG_API cog_status cog_link_lists_try(const cog_number_rows *sample, const cog_number_rows *block,
                                      uint64_t first, const cog_link_neighbours *truth,
                                      const cog_link_lists *lists, const cog_link_options *options,
                                      uint64_t tally[COG_LINK_LISTS_TALLY], cog_error *error);
/* Chooses the budget of products per source row (infinity: all), and the cosine below which
 * neighbours are not needed, from the sum of the tallies of all blocks. */
COG_API cog_status cog_link_lists_plan(const cog_link_neighbours *truth,
                                       const uint64_t tally[COG_LINK_LISTS_TALLY],
                                       const cog_link_options *options, double *budget,
                                       double *beyond, cog_error *error);
/* Finds the rows of a block that source rows propose. Columns query, row (int64, from 0), sum (of
 * products), similarity (double; of any sign), by query, then descending sum. */
COG_API cog_status cog_link_lists_propose(const cog_number_rows *queries,
                                          const cog_number_rows *block, const cog_link_lists *lists,
                                          double budget, const cog_link_options *options,
                                          struct ArrowArrayStream *stream, cog_error *error);
/* Says how many of the first proposals of each source row in each block are kept: kept[i] of those
 * with sums[offsets[i]] to sums[offsets[i + 1] - 1], which block blocks[i] proposed to source row
 * rows[i]. Blocks are numbered from 0; those of a row are adjacent and ascend. */
COG_API cog_status cog_link_lists_keep(const int64_t *rows, const int64_t *blocks,
                                       const int64_t *offsets, size_t count, const double *sums,
                                       const cog_link_lists *lists, const cog_link_options *options,
                                       int64_t *kept, cog_error *error);

/* Decides the links: columns from, to (int64), similarity, score, probability (double), sorted by
 * source row. Fills the report as cog_link does. */
COG_API cog_status cog_link_decide(const cog_link_neighbours *from, const cog_link_neighbours *to,
                                   const cog_link_options *options, const cog_run_options *run,
                                   struct ArrowArrayStream *stream, cog_report *report,
                                   cog_error *error);

/* ---- Sentence pairs of links ----------------------------------------------------------------- */

/* cog_links_sentences in steps. The sentences of all linked documents of a side are a collection of
 * its own: split them, make their vectors by cog_link_terms_read, cog_link_projector_create,
 * cog_link_lengths and cog_link_vectors, align the documents of each link, and write the pairs in
 * the order of the links, of those with the same hash the first. */

/* Splits the documents of a side into sentences, in order. Columns row (int64: the position of the
 * document in the input), text (string), joined (int32: 1 if no white space separates the sentence
 * from the one before it). */
COG_API cog_status cog_sentences_split(cog_documents *documents, const cog_lexicon *lexicon,
                                       int side, const cog_run_options *run,
                                       struct ArrowArrayStream *stream, cog_error *error);

/* The sentences of some documents of a side, document by document: document i has the sentences
 * offsets[i] to offsets[i + 1] - 1, and sentence s the bytes text_offsets[s] to text_offsets[s + 1]
 * - 1. Zero-initialise. Borrowed. */
typedef struct cog_sentence_rows {
    cog_number_rows vectors; /* of the sentences */
    size_t documents;
    const int64_t *offsets;
    const char *text;
    const int64_t *text_offsets;
    const uint8_t *joined; /* by sentence */
    uint64_t reserved[2];
} cog_sentence_rows;
/* Aligns document a[i] of the first side with document b[i] of the second. Columns link (int64: i),
 * from, to (string: the texts), similarity, score (double), hash (int64), sorted by link and then
 * by the place of the sentences in the first document. *compared: the number of cosines that were
 * computed; may be NULL. */
COG_API cog_status cog_sentences_align(const cog_sentence_rows *from, const cog_sentence_rows *to,
                                       const int64_t *a, const int64_t *b, size_t count,
                                       const cog_sentence_options *options,
                                       struct ArrowArrayStream *stream, uint64_t *compared,
                                       cog_error *error);

/* Writes sentence pairs as cog_links_sentences does; a pair whose texts were written before is
 * skipped. The file appears when it is complete. */
typedef struct cog_sentence_writer cog_sentence_writer;
typedef struct cog_sentence_item {
    const char *from, *to, *from_id, *to_id;
    size_t from_size, to_size, from_id_size, to_id_size;
    double similarity, score;
} cog_sentence_item;
COG_API cog_status cog_sentence_writer_open(const cog_lexicon *lexicon, cog_sentence_format format,
                                            const char *path, cog_sentence_writer **writer,
                                            cog_error *error);
COG_API cog_status cog_sentence_writer_add(cog_sentence_writer *writer,
                                           const cog_sentence_item *item, cog_error *error);
/* Completes the file. */
COG_API cog_status cog_sentence_writer_finish(cog_sentence_writer *writer, cog_error *error);
/* Without cog_sentence_writer_finish the file is left as it was. */
COG_API void cog_sentence_writer_free(cog_sentence_writer *writer);

/* ---- Clusters of given pairs ----------------------------------------------------------------- */

/* Makes clusters of rows 0 to rows - 1 from the pairs at or above the threshold, in any order, as
 * cog_dedup does. keys[row]: of near-duplicates the one with the greatest key is kept, among equal
 * ones the earlier; NULL: the earlier. similarities NULL: all 1; a NaN is refused. Columns as in
 * cog_clusters_to_arrow, for rows in clusters of two or more. */
COG_API cog_status cog_clusters_of_pairs(size_t rows, const int64_t *a, const int64_t *b,
                                         const double *similarities, size_t count,
                                         const uint64_t *keys, cog_grouping grouping,
                                         struct ArrowArrayStream *stream, cog_error *error);

#ifdef __cplusplus
}
#endif

#endif
