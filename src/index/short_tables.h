/* The tables that a segment keeps for short signatures: those of psm or those of bphs, in memory or
 * mapped from the segment file. */
#pragma once

#include "search/bphs/bphs.h"
#include "search/psm/psm.h"

struct short_tables {
    enum bucket_kind kind;
    struct psm_index psm;
    struct bphs_index bphs;
};

/* Builds tables of the kind. psm learns from the rows' margins (rows x bits), or copies `learned`
 * if there are none. */
cog_status short_tables_build(enum bucket_kind kind, const struct signatures_view *view,
                              const float *margins, const struct psm_learned *learned,
                              const struct bucket_settings *settings, unsigned threads,
                              struct short_tables **tables, cog_error *error);
/* Accepts NULL. */
void short_tables_free(struct short_tables *tables);

cog_status short_tables_write(const struct short_tables *tables, struct container_writer *writer,
                              cog_error *error);
/* *tables stays NULL if the container has none. */
cog_status short_tables_open(const struct container *container, unsigned bits,
                             struct short_tables **tables, cog_error *error);
/* Whether every row of the view is found in every table; reads everything. */
cog_status short_tables_check(const struct short_tables *tables, const struct signatures_view *view,
                              cog_error *error);
const struct bucket_index *short_tables_stored(const struct short_tables *tables);
