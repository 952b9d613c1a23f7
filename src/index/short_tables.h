/* What a segment keeps for short signatures: the table of psm with what it learned from the
 * weights, or the tables of bphs. In memory, or in the map of a file, where nothing is copied. */
#pragma once

#include "search/bphs/bphs.h"
#include "search/psm/psm_learn.h"
#include "store/container.h"

enum short_kind { SHORT_PSM = 1, SHORT_BPHS = 2 };

/* What is chosen when tables are built. */
struct short_form {
    unsigned radius_bits; /* bphs: the greatest that can be asked for; psm: that is learned */
    unsigned header_bits; /* psm; 0: by the number of rows. Fewer where the rows do not fill it. */
    unsigned blocks, chosen; /* bphs: G and g */
    unsigned tables;         /* bphs: C(G, g), set by short_form_complete */
};

/* Sets blocks and chosen of bphs where they are 0: two chosen of radius + 2 give a bucket a table,
 * and headers long enough for millions; where one of them is given, the other follows for a bucket
 * a table. COG_ERR_USAGE for what cannot be built. */
cog_status short_form_complete(struct short_form *form, unsigned key_bits, cog_error *error);

/* COG_ERR_USAGE where a collection of so many rows does not fill the header. */
cog_status short_form_check_rows(const struct short_form *form, size_t rows, cog_error *error);
/* The limits of a table of psm for so many rows. */
struct line_limits short_form_limits(const struct short_form *form, size_t rows);

struct short_tables {
    enum short_kind kind;
    unsigned radius_bits; /* of the form */
    struct psm_index psm;
    struct psm_learned learned;
    struct bphs_index bphs;
    bool is_mapped;
};

/* psm with weights (rows x bits) learns from them; without, `learned` is taken over. */
cog_status short_tables_psm(const struct signatures_view *view, const float *weights,
                            const struct psm_learned *learned, const struct short_form *form,
                            unsigned threads, struct short_tables **tables, cog_error *error);
cog_status short_tables_bphs(const struct signatures_view *view, const struct short_form *form,
                             unsigned threads, struct short_tables **tables, cog_error *error);
/* Accepts NULL. */
void short_tables_free(struct short_tables *tables);

/* Sections of a container: written, and opened in place in constant time. *tables stays NULL where
 * the container has none. */
cog_status short_tables_write(const struct short_tables *tables, struct container_writer *writer,
                              cog_error *error);
cog_status short_tables_open(const struct container *container, unsigned bits,
                             struct short_tables **tables, cog_error *error);
/* Reads everything: whether every row of the view is found in every table, at its place. */
cog_status short_tables_check(const struct short_tables *tables, const struct signatures_view *view,
                              cog_error *error);
