/* A generated query log with stated statistics, for measuring at sizes for which no public log can
 * be used: queries with more than five clicked URLs each, URLs of skewed popularity, and groups of
 * queries about the same thing, whose members share most of their clicks: spellings of one query,
 * close variants, related queries, and queries on one topic. Row r depends on nothing but the shape
 * and r. Results on it must say that it is generated. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "vector/sparse.h"

enum query_group_kind {
    QUERY_GROUP_SPELLINGS,
    QUERY_GROUP_VARIANTS,
    QUERY_GROUP_RELATED,
    QUERY_GROUP_TOPIC,
    QUERY_GROUP_KINDS
};

/* Members of a group share a vector of clicks and have clicks of their own in addition; the cosine
 * of two members is about `cosine`, drawn for the group from [lowest, highest]. */
struct query_group_shape {
    double share; /* of all groups; what is left over are single queries */
    unsigned members_min, members_max;
    double cosine_min, cosine_max;
};

struct query_log_shape {
    size_t queries;           /* N */
    uint32_t urls;            /* D: pool that clicks are drawn from */
    unsigned shared_urls_max; /* distinct URLs of a query's shared part: 6 to this */
    unsigned first_clicks_min, first_clicks_max; /* on the first URL of a query */
    double popularity_exponent; /* a URL's rank is D * u^this, u uniform: 1 is not skewed */
    struct query_group_shape groups[QUERY_GROUP_KINDS];
    uint64_t seed;
};

/* The shape that the benchmarks use: 300,000 queries and 700,000 URLs. docs/methods.md describes
 * where its figures come from. */
void query_log_shape_init(struct query_log_shape *shape);

struct query_click {
    uint32_t url, clicks;
};

struct query_log_generator;
cog_status query_log_generator_create(const struct query_log_shape *shape,
                                      struct query_log_generator **generator, cog_error *error);
void query_log_generator_free(struct query_log_generator *generator);

enum { QUERY_CLICKS_MAX = 128 };
/* Clicks of a query, URLs rising; returns how many. */
size_t query_log_row(const struct query_log_generator *generator, size_t row,
                     struct query_click clicks[QUERY_CLICKS_MAX]);
/* Appends the query's words. */
bool query_log_text(const struct query_log_generator *generator, size_t row, struct buffer *text);

/* All queries as rows of unit length; columns in rising order of their frequency, urls[column] is
 * the URL's number in the pool. Free with sparse_matrix_free, and urls with free. */
cog_status query_log_matrix(const struct query_log_generator *generator,
                            struct sparse_matrix *matrix, uint32_t **urls, cog_error *error);
