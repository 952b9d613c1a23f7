/* Search method: the constant descriptor that every method provides.
 *
 * Segments, jobs, help texts and reports use the descriptor; only the choices of `auto` name
 * methods. The descriptors are in one table (plan/method_table.h), in the order of cog_method.
 *
 * To add a method:
 *   1. Make a folder src/search/NAME with NAME_method.c, which defines `const struct search_method
 *      NAME_method`, and NAME_method.h, which declares it.
 *   2. Fill in what the method can do. A NULL function means that it cannot.
 *   3. Add one line to plan/method_table.c (and a constant to cog_method, if users may name it).
 * tests/unit/search/test_every_method.c then tests it against exhaustive search;
 * tests/unit/search/ones is a minimal example.
 *
 * Ownership: requests borrow everything they point to, for the call. Tables belong to whoever built
 * or opened them; release them with method_release. Opened tables borrow the container's bytes.
 * Several threads may call a method at once with the same tables, each with its own request and
 * scratch. */
#pragma once

#include "hamming/hamming.h"
#include "run/job.h"
#include "search/hits/hit_lists.h"
#include "store/container.h"
#include "vector/sparse.h"

/* ---- What goes in ---------------------------------------------------------------------------- */

/* Rows of a collection, or queries. Fields that a method does not need may be NULL. */
struct method_rows {
    const struct signatures_view *signatures;
    const float *margins;   /* rows x bits */
    size_t margins_per_row; /* if keys are taken from the first bits alone; 0: all bits */
    const struct sparse_matrix *vectors;
};

/* The size of a job, for settings and predictions. */
struct method_size {
    size_t rows, queries;
    size_t k; /* neighbours per query; 0 if searches ask for a radius */
    unsigned bits;
    uint32_t radius_bits; /* the largest that searches will use; 0 if they ask for k */
    double recall;
    unsigned effort;  /* step of the method's effort */
    bool has_margins; /* of the queries */
    bool looks;       /* a first look */
    unsigned threads; /* at least 1 */
};

/* Predicted recall and cost of a job, including the tables and the search. */
struct method_prediction {
    double recall, comparisons;
    double table_bytes; /* in memory or on disk, without the signatures */
    double build_bytes; /* memory while the tables are built, table_bytes included */
    double search_bytes;
    /* Approximate time per query on one thread, at the effort of the size. Only the choices of
     * `auto` depend on it; 0: not known. */
    double query_ns;
};

/* Fields named _out are set by the method. */
struct method_build {
    struct method_rows rows;
    uint32_t radius_bits;   /* the largest that searches will use */
    const cog_knobs *knobs; /* as completed by `settings` for these rows */
    /* Tables of the same method that the index already has (from its first segment), or NULL: what
     * was learned from their rows may be reused. */
    const void *earlier;
    unsigned threads;
};

struct method_search {
    struct method_rows rows; /* the rows that the tables were built from */
    struct method_rows queries;
    size_t k;             /* the k nearest; 0: all within radius_bits or threshold */
    uint32_t radius_bits; /* if k is 0 and there are signatures */
    double threshold;     /* if k is 0 and the method compares vectors */
    bool first;           /* any one row within the radius is enough */
    double recall;        /* 1: the answer must be exact, at any cost */
    unsigned effort;      /* step of the method's effort, from 0 on: see effort_steps */
    size_t candidates;    /* at least this many rows get a true distance, if they exist */
    const cog_knobs *knobs;
    const struct method_build *streamed; /* if set, tables are NULL and are built chunk by chunk */
    uint64_t memory_bytes;               /* limit for the tables of a chunk; 0: none */
    unsigned threads;
    /* Scratch memory that a searcher keeps between searches of the same tables: NULL, or the
     * address of a pointer that is initially NULL. `scratch_free` releases it. */
    void **scratch;
    bool is_exact_out; /* no row is missing from any answer */
    uint64_t compared_out, chunks_out;
    /* If not NULL: a first look. The method spends little effort and raises the value of each query
     * to the cosine from which on rows get a true distance with probability `recall`, if the
     * signatures are random projections. See has_looks. */
    float *covered_out;
};

/* True pairs of a sample of rows, from which a join chooses its settings. */
struct method_pairs {
    const struct match *items;  /* of rows of `first` and `second`, by similarity */
    size_t count;               /* 0: none are known; assume pairs at the threshold */
    double independent;         /* number of independent pairs that they are worth; -1: no sample */
    struct method_rows rows[2]; /* for plan_join: row i belongs to pair i, with all margins */
};

struct cosine_plan;

/* Finds pairs of rows whose similarity is `threshold` or more. Signatures propose pairs within
 * radius_bits, or, if that is COG_RADIUS_NONE, within a radius derived from the wanted recall; the
 * list's sieve decides. If threshold is 0, finds all pairs of signatures within radius_bits. */
struct method_join {
    struct method_rows first,
        second; /* if second has no signatures and no vectors: pairs of `first` */
    uint32_t radius_bits;
    double threshold;
    bool is_jaccard;     /* the similarity is a Jaccard coefficient, else a cosine */
    bool verify;         /* a sieve computes the similarity; signatures only propose */
    bool is_minhash;     /* the signatures are minhash, without margins */
    unsigned bits;       /* of a signature */
    unsigned value_bits; /* of a minhash value */
    double recall;
    cog_knobs knobs; /* knobs that are not given are chosen by plan_join or join */
    struct method_pairs pairs;
    uint64_t seed;
    uint64_t memory_bytes; /* 0: no limit. A join that would need more works from disk. */
    unsigned threads;
    cog_report *report; /* receives settings and counts; may be NULL */
    /* Joins in blocks of vectors: the plan for all blocks, and memory for posting lists. */
    const struct cosine_plan *plan;
    uint64_t list_bytes;
    float **kept_lengths; /* see join_options.kept_lengths */
    /* Set by plan_join: margins per row that join wants, and the memory of its tables. */
    size_t margins_out;
    uint64_t table_bytes_out;
    double expected_out; /* recall */
    bool directed_out;   /* rows of `first` look for rows of `second`: swapping them may change the
                          * result */
    /* Set by join. */
    bool is_exact_out; /* no pair is missing */
};

/* ---- The descriptor -------------------------------------------------------------------------- */

enum method_needs {
    NEEDS_VECTORS = 1,        /* of rows and queries */
    NEEDS_ROW_MARGINS = 2,    /* to build */
    NEEDS_QUERY_MARGINS = 4,  /* to search */
    PREFERS_QUERY_MARGINS = 8 /* finds more with them */
};

struct search_method {
    const char *name;      /* as users write it */
    const char *summary;   /* one line of help */
    const cog_knob *knobs; /* in the order of cog_knobs.values */
    unsigned knob_count;   /* COG_KNOBS_MAX at most */
    /* Names under which an index records the knobs of its build; NULL: their own names. */
    const char *const *knob_records;

    /* cog_answers: the kinds of answers it can give, and which of them are exact if recall is 1. */
    unsigned answers, certain;
    unsigned needs; /* method_needs */
    /* Signatures: multiples of bits_step from bits_min to bits_max. bits_max 0: none needed. */
    unsigned bits_min, bits_max, bits_step;
    bool is_for_radius;        /* tables are built for a maximum radius */
    bool is_chosen_unmeasured; /* auto chooses it for its kind of answer, without timing a scan */

    /* Fills in the fields for which a prediction is known; others stay 0. NULL: no predictions. */
    void (*predict)(const struct method_size *size, const cog_knobs *knobs,
                    struct method_prediction *prediction);
    /* Completes knobs that are not given for this size; COG_ERR_USAGE for what cannot be built.
     * Called when an index is built and when it is searched. NULL: nothing to complete. */
    cog_status (*settings)(const struct method_size *size, cog_knobs *knobs, cog_error *error);

    /* Tag of a section that every file with tables of the method has; if methods share it, also the
     * 64-bit number that the section begins with. */
    uint32_t section;
    uint64_t section_kind;
    /* Tables: a struct of tables_bytes, zeroed before it is built or opened (method_build,
     * method_open). If build is NULL, the method has no tables, and `tables` is NULL below. */
    size_t tables_bytes;
    cog_status (*build)(const struct method_build *build, void *tables, cog_error *error);
    /* Adds sections to a segment's file. */
    cog_status (*write)(const void *tables, struct container_writer *writer, cog_error *error);
    /* Finds the sections that `write` made for these rows, in constant time and without copying.
     * Must survive any bytes (COG_ERR_FORMAT). */
    cog_status (*open)(const struct container *container, const struct method_rows *rows,
                       void *tables, cog_error *error);
    /* Reads everything; COG_ERR_FORMAT reports the first fault. */
    cog_status (*check)(const void *tables, const struct method_rows *rows, cog_error *error);
    /* Fills in the method's own fields. */
    void (*describe)(const void *tables, cog_index_info *info);
    /* Releases what the struct holds, also after a failed build or open. */
    void (*reset)(void *tables);

    /* Answers all queries. The hits of a query are sorted by distance (or descending similarity),
     * then row. Must survive tables of a damaged file. NULL: the method only joins. */
    cog_status (*search)(const void *tables, struct method_search *search, struct hit_lists *hits,
                         cog_error *error);
    void (*scratch_free)(void *scratch); /* accepts NULL. NULL: search keeps no scratch */
    /* The number of effort steps. More effort finds more; a job tries steps on a sample until the
     * recall is reached. 0: effort has no effect. usual_effort is the step used without a sample
     * for a recall of 0.85; the following steps are for 0.95 and above. */
    unsigned effort_steps, usual_effort;
    bool has_looks; /* supports first looks, by margins of the queries: see covered_out */

    /* Pairs. Rejects impossible joins (COG_ERR_USAGE) before any row is read. */
    cog_status (*check_join)(const struct method_join *join, cog_error *error);
    /* The number of sampled rows whose true pairs are found to choose settings; 0: none. */
    size_t planned_rows;
    /* Chooses knobs before rows are signed; NULL if `join` does it. */
    cog_status (*plan_join)(struct method_join *join, cog_error *error);
    /* Fills the list, sorted by rows, observing the list's limit and sieve. NULL: the method only
     * searches. */
    cog_status (*join)(struct method_join *join, struct match_list *pairs, cog_error *error);
    /* Whether a pair is found depends on other rows too, so rows are not joined in blocks: join
     * observes memory_bytes by itself; the signatures may be a mapped file. */
    bool joins_whole;
};

/* ---- Tables ---------------------------------------------------------------------------------- */

/* *tables is NULL after a failure. method_release accepts NULL. */
cog_status method_build(const struct search_method *method, const struct method_build *asked,
                        void **tables, cog_error *error);
cog_status method_open(const struct search_method *method, const struct container *container,
                       const struct method_rows *rows, void **tables, cog_error *error);
void method_release(const struct search_method *method, void *tables);
/* Whether a file has tables of the method. */
bool method_has_tables(const struct search_method *method, const struct container *container);

/* ---- Knobs ----------------------------------------------------------------------------------- */

/* The value of a knob, by its position in the method's list. */
static inline uint64_t knob_or(const cog_knobs *knobs, unsigned number, uint64_t otherwise) {
    return knobs && knobs->given >> number & 1 ? knobs->values[number] : otherwise;
}
static inline bool knob_is_given(const cog_knobs *knobs, unsigned number) {
    return knobs && knobs->given >> number & 1;
}
static inline void knob_set(cog_knobs *knobs, unsigned number, uint64_t value) {
    knobs->values[number] = value;
    knobs->given |= 1u << number;
}

/* ---- Joins ----------------------------------------------------------------------------------- */

/* Rows of the second side of a join; NULL inside one collection. */
static inline const struct signatures_view *join_second(const struct method_join *join) {
    return join->second.signatures;
}
/* The cosine at which bits differ with the same probability as at this similarity. */
double join_cosine(const struct method_join *join, double similarity);
/* The radius of a join: the given radius; or, if signatures propose, the radius that contains pairs
 * at the threshold with probability `recall`; or, if signatures decide, the radius within which the
 * estimate reaches the threshold. */
uint32_t join_radius(const struct method_join *join, double recall);
/* COG_ERR_USAGE if distances of these signatures do not estimate the measure. */
cog_status join_check_signatures(const struct method_join *join, cog_error *error);

/* Whether the method can use signatures of this width. */
bool method_takes_bits(const struct search_method *method, unsigned bits);
/* The position of the method's knob of that name; knob_count if there is none. */
unsigned method_knob_named(const struct search_method *method, const char *name);
/* COG_ERR_USAGE if a value is out of range, or a knob is given for a stage (cog_knob_use) at which
 * the method does not use it. */
cog_status method_check_knobs(const struct search_method *method, const cog_knobs *knobs,
                              unsigned use, cog_error *error);
