/* Batches: the steps of jobs one by one, for programs that spread a job over machines and let an
 * engine (Spark, say) sort, shuffle and recover. cognate.h includes this header.
 *
 * Everything works on a batch in memory and the results merge: statistics of parts are those of the
 * whole, and signatures, keys, term sets and measures of a document depend on nothing but the
 * document, the options and the statistics. Rows are positions in the input from 0 on, where
 * skipped records count; cog_documents_skipped lists those. Arrays are borrowed for the call.
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

/* The bytes of cog_statistics_save. The same documents give the same bytes, collected at once or in
 * parts that were merged, in any order. Free *bytes with cog_free. */
COG_API cog_status cog_statistics_to_bytes(const cog_statistics *statistics, uint8_t **bytes,
                                           size_t *size, cog_error *error);
/* terms as for cog_statistics_open; NULL: whatever they are. */
COG_API cog_status cog_statistics_from_bytes(const uint8_t *bytes, size_t size,
                                             const cog_term_options *terms,
                                             cog_statistics **statistics, cog_error *error);

/* The bytes of cog_lexicon_save. Free *bytes with cog_free. */
COG_API cog_status cog_lexicon_to_bytes(const cog_lexicon *lexicon, uint8_t **bytes, size_t *size,
                                        cog_error *error);
COG_API cog_status cog_lexicon_from_bytes(const uint8_t *bytes, size_t size, cog_lexicon **lexicon,
                                          cog_error *error);

/* ---- Keys of hash tables --------------------------------------------------------------------- */

typedef enum cog_flip_mode {
    COG_FLIP_NONE,
    COG_FLIP_RANDOM,
    COG_FLIP_DISTANCE, /* the bits whose margins are nearest to zero */
    COG_FLIP_ACROSS,   /* the same number of keys, the likeliest of all tables */
} cog_flip_mode;

/* Which keys a signature has. Zero-initialise. */
typedef struct cog_key_plan {
    unsigned tables; /* L */
    /* Keys of bits: K, even, and F more keys per table, each with a flipped bit. */
    unsigned key_bits, flips;
    cog_flip_mode flip_mode;
    /* Bands of minhash (key_bits 0): values per key, and bits per value. */
    unsigned band_values, value_bits;
    uint64_t seed; /* of random flips */
    uint64_t reserved[4];
} cog_key_plan;

/* Bands for sets at or above a Jaccard threshold: as many as the recall needs of `values` values,
 * with the fewest candidates below the threshold. *recall is what is wanted, then what is expected.
 */
COG_API cog_status cog_key_plan_bands(double threshold, unsigned values, unsigned value_bits,
                                      double *recall, cog_key_plan *plan, cog_error *error);

/* Columns row (int64), table (int32), key (int64: 64 bits). Two rows are candidates if they have a
 * key in the same table in common. flipped: with the flipped keys; inside one collection, and if
 * both sides flip, for all rows; else for the queries alone. margins: rows * bits sums behind the
 * bits, which flips by distance and across need; or NULL. term_counts as cog_sign_rows fills them:
 * rows of 0 terms have no keys; NULL: all rows have terms. */
COG_API cog_status cog_table_keys(const cog_signatures *signatures, const float *margins,
                                  const uint32_t *term_counts, const cog_key_plan *plan,
                                  bool flipped, const cog_run_options *run,
                                  struct ArrowArrayStream *stream, cog_error *error);

/* ---- Joins of signatures --------------------------------------------------------------------- */

/* How cog_pairs_find would join the rows of one collection, or of two (against_rows, else 0), by
 * the method window, lsh or flat of the options: with the settings that are given, and the others
 * as threshold and recall need them among rows that are evenly spread. A job over documents at hand
 * chooses better, by the true pairs of a sample. */
typedef struct cog_join_plan {
    cog_method method;
    unsigned tables;          /* window: Q; lsh: L; flat: 0 */
    uint64_t window;          /* window: B */
    bool shared_window;       /* window */
    unsigned key_bits, flips; /* lsh: K, F */
    cog_flip_mode flip_mode;  /* lsh */
    bool flip_both;           /* lsh: rows that are looked for have flipped keys too */
    uint32_t radius_bits;     /* candidates within it get their true measure */
    double threshold;         /* true measures at or above it are matches */
    double expected_recall;
    double comparisons;       /* expected, of signatures, in the whole join */
    uint64_t margins_per_row; /* that keys need, of the first bits; 0: none */
    uint64_t reserved[4];
} cog_join_plan;
COG_API cog_status cog_plan_join(const cog_pairs_options *options, uint64_t rows,
                                 uint64_t against_rows, cog_join_plan *plan, cog_error *error);

/* Signatures under the random orders of their bits that a join by windows sorts by: rows * bits / 8
 * bytes for each table from first_table on, one table behind the other. Distances stay. A join
 * sorts the rows of a table by these bytes, rows with equal bytes by their number, and compares
 * each row with the window before it. */
COG_API cog_status cog_permute_signatures(const cog_signatures *signatures, uint64_t seed,
                                          unsigned first_table, unsigned tables,
                                          const cog_run_options *run, uint8_t *permuted,
                                          cog_error *error);

/* Pairs along a band: query i is compared with the rows begins[i] to ends[i] - 1; neither ever
 * falls. Windows, runs of equal keys and blocks of rows are bands. rows NULL: the queries
 * themselves. Columns query, row (int64), distance (int32), of pairs within the radius, by query
 * and row. */
COG_API cog_status cog_band_pairs(const cog_signatures *queries, const cog_signatures *rows,
                                  const uint32_t *begins, const uint32_t *ends,
                                  uint32_t radius_bits, const cog_run_options *run,
                                  struct ArrowArrayStream *stream, cog_error *error);

/* Ranges of rows for each query: those of query q are offsets[q] up to offsets[q + 1], and range i
 * has the rows begins[i] to ends[i] - 1. Borrowed for the call. */
typedef struct cog_row_ranges {
    const uint64_t *offsets; /* one more than queries */
    const uint32_t *begins, *ends;
    size_t count; /* ranges */
} cog_row_ranges;
/* The rows that a query finds in its ranges: an index of lists or buckets in one array, list behind
 * list, once the caller knows which of them each query probes. The k nearest (k 0: all) within the
 * radius (COG_RADIUS_NONE: any). A row in two ranges of a query is listed twice. Columns query, row
 * (int64), distance (int32), by query, distance and row. */
COG_API cog_status cog_range_search(const cog_signatures *queries, const cog_signatures *rows,
                                    const cog_row_ranges *ranges, size_t k, uint32_t radius_bits,
                                    const cog_run_options *run, struct ArrowArrayStream *stream,
                                    cog_error *error);

/* What share of true pairs was found, with its 95% interval: hits[i] of trials[i] of sampled row i.
 * Pairs of one row tend to be found or missed together, and the interval follows from how rows
 * differ. Without trials the share is 0 and the interval 0 to 1. */
COG_API cog_status cog_measured_share(const uint64_t *hits, const uint64_t *trials, size_t rows,
                                      double *share, double *low, double *high, cog_error *error);

/* ---- Term sets ------------------------------------------------------------------------------- */

/* The sets that cog_dedup compares by Jaccard or containment. Columns row (int64), terms and words
 * (list of int64, strictly rising numbers below 2^48), text_bytes (int64), fingerprint
 * (fixed_size_binary of 16: equal for documents whose sets are equal, or whose texts are if they
 * have no terms). Two documents are compared by their terms, or if either has none, by their words,
 * which only short texts have. */
COG_API cog_status cog_term_sets(cog_documents *documents, const cog_term_options *terms,
                                 cog_measure measure, const cog_run_options *run,
                                 struct ArrowArrayStream *stream, cog_report *report,
                                 cog_error *error);

/* ---- Measures of given pairs ----------------------------------------------------------------- */

typedef struct cog_verify_options {
    cog_measure measure;
    cog_term_options terms;
    cog_weight_options weights; /* cosine */
    /* Cosine: of the whole collection (borrowed); NULL: those of the documents at hand. */
    const cog_statistics *statistics;
    /* Jaccard: short texts by their words, as cog_dedup does; false: as cog_pairs_find. */
    bool short_texts;
    uint64_t reserved[4];
} cog_verify_options;
/* The measure's usual terms; short_texts for Jaccard. */
COG_API void cog_verify_options_init(cog_verify_options *options, cog_measure measure);

/* The true measure of pairs of rows, a[i] of `documents` and b[i] of `against`, or of `documents`
 * too if that is NULL. similarities has room for `count`; NaN for a pair with a row that was
 * skipped or is not there. */
COG_API cog_status cog_verify_pairs(cog_documents *documents, cog_documents *against,
                                    const int64_t *a, const int64_t *b, size_t count,
                                    const cog_verify_options *options, const cog_run_options *run,
                                    double *similarities, cog_report *report, cog_error *error);
/* The Hamming distances of pairs of signatures, of one collection if `against` is NULL. A row that
 * is not there is COG_ERR_USAGE. */
COG_API cog_status cog_verify_distances(const cog_signatures *signatures,
                                        const cog_signatures *against, const int64_t *a,
                                        const int64_t *b, size_t count, uint32_t *distances,
                                        cog_error *error);

/* ---- Joins of term sets ---------------------------------------------------------------------- */

/* The exact join of term sets, as cog_dedup and cog_pairs_find do it, in steps that merge: count
 * members, give each set its keys, bring equal keys together, measure the candidates. Counts decide
 * what the join costs, never what it finds. */

/* Sets as lists: set i is members[offsets[i]] to members[offsets[i + 1] - 1], strictly rising
 * numbers below 2^48. Borrowed. */
typedef struct cog_set_list {
    const int64_t *offsets, *members;
    size_t count;
} cog_set_list;

/* In how many sets each member is: 2^slot_bits slots of 4 bits (slot_bits 1 to 40, two slots per
 * byte), and 2^frequent_bits numbers for members that are in many (0 to 32). The arrays are the
 * caller's, zeroed before the first set. Members that share a slot are counted together. */
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

/* The keys of sets: two sets at or above the threshold share one. Columns row, key (int64), place
 * (of the key in its set) and size (of the set; int32), first and second (int64: the first two keys
 * of the set, or -1). A member that no other set has is no key; a set may have none. */
COG_API cog_status cog_set_keys(const cog_set_list *sets, const cog_member_counts *counts,
                                cog_measure measure, double threshold,
                                struct ArrowArrayStream *stream, cog_error *error);

/* Rows of cog_set_keys, sorted by key, then by size. The join of words (cog_term_sets) is one of
 * its own: add 2^48 to its keys, first and second (not to -1). Bits from 49 on tell parts of a key
 * apart that are joined each on its own. */
typedef enum cog_key_flag {
    COG_KEY_SIDE = 1,      /* a set of the second of two collections */
    COG_KEY_ACROSS = 2,    /* is compared with sets of the other collection only */
    COG_KEY_HAS_TERMS = 4, /* keys of words: two sets with terms are not compared by words */
    COG_KEY_LARGER = 8,    /* is compared with the rows before it only: a run of many rows can be
                              joined in parts, each with the rows that begin a pair */
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

/* The measure of set i of a and set i of b, as cog_dedup has it: by terms, or if either has none by
 * words. Words may be NULL: there are none. similarities has room for as many as there are sets. */
COG_API cog_status cog_measure_sets(const cog_set_list *a_terms, const cog_set_list *b_terms,
                                    const cog_set_list *a_words, const cog_set_list *b_words,
                                    cog_measure measure, double *similarities, cog_error *error);

/* ---- Links between two languages ------------------------------------------------------------- */

/* cog_link in steps that merge: the terms of the documents of either side; a projector from the
 * lexicon and the statistics of all documents; the lengths of the rows, whose mean the vectors
 * need; vectors; the nearest rows of the other side, between blocks of rows; the decision. Each
 * step works on any part of the rows and gives what cog_link computes, bit for bit, if the lengths
 * are summed in the order of the input. Side 0 has the documents of the lexicon's source language,
 * side 1 those of its target language. */

/* Rows as lists of numbers: row i is items[offsets[i]] to items[offsets[i + 1] - 1]. Borrowed. */
typedef struct cog_number_rows {
    const int64_t *offsets, *items;
    size_t count;
} cog_number_rows;

/* What the documents of a side, or of a part of it, have. The caller frees the statistics with
 * cog_statistics_free and releases the streams. */
typedef struct cog_link_terms {
    cog_statistics *statistics;    /* those of parts merge */
    uint64_t languages[3];         /* documents that name the language of their side, that of the
                                    * other side, a third one; those of parts add up */
    struct ArrowArrayStream rows;  /* row (int64), terms (list of int64: the hash and the frequency
                                    * of each term by turns) */
    struct ArrowArrayStream words; /* word (string): those that the lexicon does not know, each
                                    * once, rising; of side 1 none */
} cog_link_terms;
/* The streams are set only if the call succeeds. */
COG_API cog_status cog_link_terms_read(cog_documents *documents, const cog_lexicon *lexicon,
                                       int side, const cog_run_options *run, cog_link_terms *terms,
                                       cog_report *report, cog_error *error);

/* What is known of all documents of a side. Zero-initialise. Borrowed. */
typedef struct cog_link_side {
    const cog_statistics *statistics;
    uint64_t languages[3];
    /* Unknown words of side 0, in any order: word i is the bytes from word_offsets[i] to
     * word_offsets[i + 1]. */
    const char *words;
    const int64_t *word_offsets;
    size_t word_count;
    uint64_t reserved[2];
} cog_link_side;

/* From terms to vectors over the terms of the target language. */
typedef struct cog_link_projector cog_link_projector;
/* COG_ERR_USAGE if most documents of a side name the language of the other. The lexicon is not
 * needed afterwards. Reports how many terms are known. */
COG_API cog_status cog_link_projector_create(const cog_lexicon *lexicon, const cog_link_side *from,
                                             const cog_link_side *to,
                                             const cog_projection_options *options,
                                             const cog_run_options *run,
                                             cog_link_projector **projector, cog_report *report,
                                             cog_error *error);
COG_API void cog_link_projector_free(cog_link_projector *projector);
/* The lengths of rows of cog_link_terms. A projector does one thing at a time. */
COG_API cog_status cog_link_lengths(cog_link_projector *projector, int side,
                                    const cog_number_rows *terms, double *lengths,
                                    cog_error *error);
/* The vectors of rows of cog_link_terms. mean_length: the sum of the lengths of all rows of the
 * side, added in the order of the input, by their number; 1 if the sum is 0. The result has one
 * column, entries (list of int64: the column in the upper 32 bits, rising, and the bits of the
 * float in the lower). */
COG_API cog_status cog_link_vectors(cog_link_projector *projector, int side,
                                    const cog_number_rows *terms, double mean_length,
                                    struct ArrowArrayStream *stream, cog_error *error);

/* How many neighbours the decision looks at. */
typedef struct cog_link_plan {
    uint64_t neighbours[2]; /* of a row of either side: the nearest by cosine, then row */
    /* Of the method flat: how many of the nearest signatures (by distance, then row) have their
     * cosines computed. Of exact: 0. */
    uint64_t proposals[2];
} cog_link_plan;
/* COG_ERR_USAGE for methods other than exact, flat and window. */
COG_API cog_status cog_link_plan_of(const cog_link_options *options, cog_link_plan *plan,
                                    cog_error *error);
/* The nearest of some rows of the other side to each vector of a part of `side`: as many as the
 * plan has neighbours, with a cosine above 0, or proposals, with any. Columns query, row (int64,
 * from 0 on), distance (int32; exact: 0), similarity (double). Of the results for several parts of
 * the other side, the first ones of all are those of the whole. */
COG_API cog_status cog_link_nearest(const cog_number_rows *queries, const cog_number_rows *rows,
                                    int side, const cog_link_options *options,
                                    const cog_run_options *run, struct ArrowArrayStream *stream,
                                    cog_error *error);

/* The method window in steps: the signatures of all vectors; the radius; the pairs of rows within
 * the radius, as cog_permute_signatures and cog_band_pairs find them; their cosines, of which the
 * nearest above 0 are the neighbours of the decision.
 *
 * Signatures of vectors, options->bits / 8 bytes each. */
COG_API cog_status cog_link_sign(const cog_number_rows *vectors, const cog_link_options *options,
                                 const cog_run_options *run, uint8_t *signatures, cog_error *error);
/* The source rows by which the radius is chosen, rising. Returns their number. */
enum { COG_LINK_RADIUS_ROWS = 256 };
COG_API size_t cog_link_radius_rows(uint64_t documents, uint32_t rows[COG_LINK_RADIUS_ROWS]);
/* The radius, from how many target rows have each distance to each of `count` such rows:
 * distances[i * (options->bits + 1) + distance]. beyond: the cosine at the radius, which neighbours
 * that are not found are taken to have. */
COG_API cog_status cog_link_radius(const uint64_t *distances, size_t count,
                                   const cog_link_options *options, uint32_t *radius_bits,
                                   double *beyond, cog_error *error);
/* The cosines of pairs: of row a[i] of the first vectors and row b[i] of the second. */
COG_API cog_status cog_link_cosines(const cog_number_rows *first, const cog_number_rows *second,
                                    const int64_t *a, const int64_t *b, size_t count,
                                    const cog_run_options *run, double *cosines, cog_error *error);

/* The nearest rows of the other side, the nearest first: of row i, rows[offsets[i]] to
 * rows[offsets[i + 1] - 1]. More than the plan has are not looked at. Borrowed. */
typedef struct cog_link_neighbours {
    uint64_t documents;    /* of this side; rows are below the number of the other side */
    const double *lengths; /* of cog_link_lengths, by document */
    const int64_t *offsets, *rows;
    const double *similarities;
    double beyond; /* of cog_link_radius, the same on both sides; exact, flat: 0 */
} cog_link_neighbours;
/* The links, by source row: from, to (int64), similarity, score, probability (double). Reports as
 * cog_link does. */
COG_API cog_status cog_link_decide(const cog_link_neighbours *from, const cog_link_neighbours *to,
                                   const cog_link_options *options, const cog_run_options *run,
                                   struct ArrowArrayStream *stream, cog_report *report,
                                   cog_error *error);

/* ---- Clusters of given pairs ----------------------------------------------------------------- */

/* Clusters of rows 0 to rows - 1 from the pairs at or above the threshold, in any order, as
 * cog_dedup makes them. keys[row]: of near-duplicates the one with the greatest key stays, of equal
 * ones the earlier; NULL: the earlier. similarities NULL: all 1. Columns as cog_clusters_to_arrow
 * has them, for rows of clusters of two and more. */
COG_API cog_status cog_clusters_of_pairs(size_t rows, const int64_t *a, const int64_t *b,
                                         const double *similarities, size_t count,
                                         const uint64_t *keys, cog_grouping grouping,
                                         struct ArrowArrayStream *stream, cog_error *error);

#ifdef __cplusplus
}
#endif

#endif
