/* What a search method is: one constant descriptor, the same for every method.
 *
 * Segments, jobs, help texts and reports ask the descriptor; only the choices of `auto` name
 * methods. The descriptors stand in one table (plan/method_table.h), in the order of cog_method.
 *
 * To add a method:
 *   1. Make a folder src/search/NAME with NAME_method.c, which defines
 *      `const struct search_method NAME_method`, and NAME_method.h, which declares it.
 *   2. Fill in what the method can do. A function that is NULL is something that it cannot do.
 *   3. Add one line to plan/method_table.c (and a constant to cog_method, if users may name it).
 * tests/unit/search/test_every_method.c then tries it against the exhaustive search; the method in
 * tests/unit/search/ones shows all of this in its shortest form.
 *
 * Who owns what: requests borrow everything they point to, for the call. Tables belong to whoever
 * built or opened them, and go back to method_release; tables that were opened borrow the
 * container's bytes. A method is asked by several threads at once with the same tables, each with
 * its own request and scratch. */
#pragma once

#include "hamming/hamming.h"
#include "run/job.h"
#include "search/hits/hit_lists.h"
#include "store/container.h"
#include "vector/sparse.h"

/* ---- What goes in ---------------------------------------------------------------------------- */

/* Rows of a collection, or queries. What a method does not need may be NULL. */
struct method_rows {
    const struct signatures_view *signatures;
    const float *margins;   /* rows x bits: the sums behind the bits */
    size_t margins_per_row; /* if keys are taken from the first bits alone; 0: all bits */
    const struct sparse_matrix *vectors;
};

/* The size of a job: what settings and predictions are made for. */
struct method_size {
    size_t rows, queries;
    size_t k; /* neighbours per query; 0 if searches ask for a radius */
    unsigned bits;
    uint32_t radius_bits; /* the greatest that searches will ask for; 0 if they ask for k */
    double recall;
    unsigned effort;  /* step of the method's effort */
    bool has_margins; /* of the queries */
    bool looks;       /* a first look */
    unsigned threads; /* at least 1 */
};

/* What is expected of a job, with everything that the tables and the search take. */
struct method_prediction {
    double recall, comparisons;
    double table_bytes; /* in memory or on disk, without the signatures */
    double build_bytes; /* memory while the tables are built, table_bytes included */
    double search_bytes;
    /* About how long one query takes on one thread, with the effort of the size. Only choices of
     * auto depend on it; 0: not known. */
    double query_ns;
};

/* Fields named _out are set by the method. */
struct method_build {
    struct method_rows rows;
    uint32_t radius_bits;   /* the greatest that searches will ask for */
    const cog_knobs *knobs; /* as `settings` completed them for these rows */
    /* Tables of the same method that the same index already has (of its first segment), or NULL:
     * what was learned from their rows may hold for the new ones. */
    const void *earlier;
    unsigned threads;
};

struct method_search {
    struct method_rows rows; /* those that the tables were built from */
    struct method_rows queries;
    size_t k;             /* the k nearest; 0: all within radius_bits or threshold */
    uint32_t radius_bits; /* if k is 0 and there are signatures */
    double threshold;     /* if k is 0 and the method compares vectors */
    bool first;           /* any one row within the radius is enough */
    double recall;        /* 1: the answer must be exact, whatever it costs */
    unsigned effort;      /* step of the method's effort, from 0 on: see effort_steps */
    size_t candidates;    /* rows that get a true distance at least, if there are that many */
    const cog_knobs *knobs;
    const struct method_build *streamed; /* tables are NULL, and are built chunk by chunk */
    uint64_t memory_bytes;               /* of the tables of a chunk; 0: any */
    unsigned threads;
    /* Scratch memory that a searcher keeps between searches of the same tables. NULL, or the
     * address of a pointer that is NULL at first; `scratch_free` releases it. */
    void **scratch;
    bool is_exact_out; /* no row is missing from any answer */
    uint64_t compared_out, chunks_out;
    /* Not NULL: a first look. The method takes little effort, and raises the number of each query
     * to the cosine from which on rows get a true distance with the probability of `recall`, if
     * signatures are random projections. See has_looks. */
    float *covered_out;
};

/* True pairs of a sample of rows, from which a join chooses its settings. */
struct method_pairs {
    const struct match
        *items;         /* rows of `first` and `second` as the join has them, by similarity */
    size_t count;       /* 0: none are known, and pairs at the threshold stand for all */
    double independent; /* independent pairs that they are worth; -1: there is no sample */
    struct method_rows rows[2]; /* for plan_join: row i is that of pair i, with all margins */
};

struct cosine_plan;

/* Pairs of rows whose similarity is `threshold` or more; signatures propose them within
 * radius_bits, or within a radius by the wanted recall if that is COG_RADIUS_NONE, and the list's
 * sieve has the last word. If threshold is 0, all pairs of signatures within radius_bits. */
struct method_join {
    struct method_rows first, second; /* second without signatures and vectors: pairs of `first` */
    uint32_t radius_bits;
    double threshold;
    bool is_jaccard;     /* the similarity is a Jaccard coefficient, else a cosine */
    bool verify;         /* a sieve computes the similarity: signatures only propose */
    bool is_minhash;     /* the signatures are, and have no margins */
    unsigned bits;       /* of a signature */
    unsigned value_bits; /* of a minhash value */
    double recall;
    cog_knobs knobs; /* those that are not given are chosen, by plan_join or by join */
    struct method_pairs pairs;
    uint64_t seed;
    uint64_t memory_bytes; /* 0: no limit. A join that would need more works from disk. */
    unsigned threads;
    cog_report *report; /* settings and counts go there; may be NULL */
    /* Blocks of vectors: the plan for all of them, and memory for posting lists. */
    const struct cosine_plan *plan;
    uint64_t list_bytes;
    float **kept_lengths; /* as join_options.kept_lengths */
    /* Set by plan_join: margins of each row that join wants, and the memory of its tables. */
    size_t margins_out;
    uint64_t table_bytes_out;
    double expected_out; /* recall */
    bool directed_out; /* rows of `first` look for rows of `second`: exchanged, they may find others
                        */
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
    /* Under what names an index records the knobs of its build; NULL: under their own names. */
    const char *const *knob_records;

    /* cog_answers: what it can be asked for, and what of that it answers exactly if recall is 1. */
    unsigned answers, certain;
    unsigned needs; /* method_needs */
    /* Signatures: multiples of bits_step from bits_min to bits_max. bits_max 0: none needed. */
    unsigned bits_min, bits_max, bits_step;
    bool is_for_radius;        /* tables are built for a greatest radius */
    bool is_chosen_unmeasured; /* auto takes it for what it answers, without timing a scan */

    /* Fills in what a prediction is known for; other fields stay 0. NULL: nothing is known. */
    void (*predict)(const struct method_size *size, const cog_knobs *knobs,
                    struct method_prediction *prediction);
    /* Gives knobs that are not given a value for this size, and refuses what cannot be built
     * (COG_ERR_USAGE). Asked when an index is built and when it is searched. NULL: nothing to
     * complete. */
    cog_status (*settings)(const struct method_size *size, cog_knobs *knobs, cog_error *error);

    /* Tag of a section that every file with tables of the method has, and if methods share it, the
     * number (64 bits) that it begins with. */
    uint32_t section;
    uint64_t section_kind;
    /* Tables: a struct of tables_bytes, which is zeroed before it is built or opened (method_build,
     * method_open). build NULL: the method keeps none, and tables are NULL below. */
    size_t tables_bytes;
    cog_status (*build)(const struct method_build *build, void *tables, cog_error *error);
    /* Adds sections to a segment's file. */
    cog_status (*write)(const void *tables, struct container_writer *writer, cog_error *error);
    /* Finds the sections that `write` made for these rows, in constant time, without copying. Must
     * survive any bytes (COG_ERR_FORMAT). */
    cog_status (*open)(const struct container *container, const struct method_rows *rows,
                       void *tables, cog_error *error);
    /* Reads everything; COG_ERR_FORMAT names the first fault. */
    cog_status (*check)(const void *tables, const struct method_rows *rows, cog_error *error);
    /* Fills in the fields of the method's own. */
    void (*describe)(const void *tables, cog_index_info *info);
    /* Releases what the struct holds, also after a failed build or open. */
    void (*reset)(void *tables);

    /* Answers all queries; hits of a query by distance (or falling similarity), then row. Must
     * survive tables of a damaged file. NULL: the method only joins. */
    cog_status (*search)(const void *tables, struct method_search *search, struct hit_lists *hits,
                         cog_error *error);
    void (*scratch_free)(void *scratch); /* accepts NULL. NULL: search keeps no scratch */
    /* How many steps of effort there are: more effort finds more, and a job tries steps on a
     * sample until the recall is reached. 0: the effort changes nothing. usual_effort is the step
     * that is taken without a sample for a recall of 0.85; the next ones are for 0.95, and above.
     */
    unsigned effort_steps, usual_effort;
    bool has_looks; /* first looks, by margins of the queries: see covered_out */

    /* Pairs. Refuses what cannot be (COG_ERR_USAGE) before any row is read. */
    cog_status (*check_join)(const struct method_join *join, cog_error *error);
    /* True pairs to choose settings by are found for this number of sampled rows; 0: for none. */
    size_t planned_rows;
    /* Chooses knobs before rows are signed; NULL if the method does it in `join`. */
    cog_status (*plan_join)(struct method_join *join, cog_error *error);
    /* Fills the list, sorted by rows; the list's limit and sieve hold. NULL: the method only
     * searches. */
    cog_status (*join)(struct method_join *join, struct match_list *pairs, cog_error *error);
    /* Whether a pair is found depends on other rows too, so rows are not joined in blocks: join
     * keeps to memory_bytes by itself, with signatures that may be a mapped file. */
    bool joins_whole;
};

/* ---- Tables ---------------------------------------------------------------------------------- */

/* *tables is NULL after a failure; method_release releases them, and accepts NULL. */
cog_status method_build(const struct search_method *method, const struct method_build *asked,
                        void **tables, cog_error *error);
cog_status method_open(const struct search_method *method, const struct container *container,
                       const struct method_rows *rows, void **tables, cog_error *error);
void method_release(const struct search_method *method, void *tables);
/* Whether a file has tables of the method. */
bool method_has_tables(const struct search_method *method, const struct container *container);

/* ---- Knobs ----------------------------------------------------------------------------------- */

/* The value of a knob, by its number in the method's own list. */
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

/* Rows of the second side of a join, NULL inside one collection. */
static inline const struct signatures_view *join_second(const struct method_join *join) {
    return join->second.signatures;
}
/* The cosine at which bits differ as often as at this similarity. */
double join_cosine(const struct method_join *join, double similarity);
/* The radius of a join: the given one; or, if signatures propose, the one that pairs at the
 * threshold are within with probability `recall`; or, if signatures decide, the one whose estimates
 * reach the threshold. */
uint32_t join_radius(const struct method_join *join, double recall);
/* COG_ERR_USAGE if distances of these signatures do not tell the measure. */
cog_status join_check_signatures(const struct method_join *join, cog_error *error);

/* Whether the method can use signatures of this width. */
bool method_takes_bits(const struct search_method *method, unsigned bits);
/* The number of the method's knob of that name; knob_count if there is none. */
unsigned method_knob_named(const struct search_method *method, const char *name);
/* COG_ERR_USAGE if a value is out of its range, or a knob is given for a stage (cog_knob_use) at
 * which the method does not use it. */
cog_status method_check_knobs(const struct search_method *method, const cog_knobs *knobs,
                              unsigned use, cog_error *error);
