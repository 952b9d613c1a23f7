#include "index/short_tables.h"

#include "base/memory.h"

static cog_status create(struct short_tables **tables, cog_error *error) {
    *tables = memory_zeroed_array(1, sizeof **tables);
    return *tables ? COG_OK
                   : error_memory(error, sizeof **tables, "the tables of short signatures");
}

/* Releases what a failed call made. */
static cog_status finish(struct short_tables **tables, cog_status status) {
    if (status != COG_OK) {
        short_tables_free(*tables);
        *tables = NULL;
    }
    return status;
}

cog_status short_tables_build(enum bucket_kind kind, const struct signatures_view *view,
                              const float *margins, const struct psm_learned *learned,
                              const struct bucket_settings *settings, unsigned threads,
                              struct short_tables **tables, cog_error *error) {
    TRY(create(tables, error));
    (*tables)->kind = kind;
    return finish(
        tables, kind == BUCKETS_PSM
                    ? psm_create(&(*tables)->psm, view, margins, learned, settings, threads, error)
                    : bphs_build(&(*tables)->bphs, view, settings->blocks, settings->chosen,
                                 settings->radius_bits, threads, error));
}

void short_tables_free(struct short_tables *tables) {
    if (!tables)
        return;
    psm_free(&tables->psm);
    bphs_free(&tables->bphs);
    free(tables);
}

cog_status short_tables_write(const struct short_tables *tables, struct container_writer *writer,
                              cog_error *error) {
    return tables->kind == BUCKETS_PSM ? psm_write(&tables->psm, writer, error)
                                       : bphs_write(&tables->bphs, writer, error);
}

cog_status short_tables_open(const struct container *container, unsigned bits,
                             struct short_tables **tables, cog_error *error) {
    struct bucket_description description;
    bool found = false;
    *tables = NULL;
    if (!bucket_index_describe(container, &description))
        return COG_OK;
    TRY(create(tables, error));
    (*tables)->kind = (enum bucket_kind)description.kind;
    cog_status status = psm_open(&(*tables)->psm, container, bits, &found, error);
    if (status == COG_OK && !found)
        status = bphs_open(&(*tables)->bphs, container, bits, &found, error);
    if (status == COG_OK && !found)
        status = bucket_index_damaged(container, error);
    return finish(tables, status);
}

cog_status short_tables_check(const struct short_tables *tables, const struct signatures_view *view,
                              cog_error *error) {
    return tables->kind == BUCKETS_PSM
               ? bucket_index_check(&tables->psm.stored, view, NULL, NULL, error)
               : bphs_check(&tables->bphs, view, error);
}

const struct bucket_index *short_tables_stored(const struct short_tables *tables) {
    return tables->kind == BUCKETS_PSM ? &tables->psm.stored : &tables->bphs.stored;
}
