#include "index/short_tables.h"

#include "base/memory.h"
#include "base/strings.h"

static struct short_tables *tables_of(enum short_kind kind, unsigned radius_bits,
                                      cog_error *error) {
    struct short_tables *tables = memory_zeroed_array(1, sizeof *tables);
    if (!tables) {
        error_memory(error, sizeof *tables, "the tables of short signatures");
        return NULL;
    }
    tables->kind = kind;
    tables->radius_bits = radius_bits;
    return tables;
}

static cog_status finish(struct short_tables *made, cog_status status,
                         struct short_tables **tables) {
    if (status == COG_OK)
        *tables = made;
    else
        short_tables_free(made);
    return status;
}

cog_status short_form_check_rows(const struct short_form *form, size_t rows, cog_error *error) {
    unsigned most = line_header_most(rows);
    if (form->header_bits <= most)
        return COG_OK;
    return error_set(error, COG_ERR_USAGE,
                     "a header of %u bits has more buckets than there are rows: for %zu row%s give "
                     "at most %u",
                     form->header_bits, rows, plural(rows, "", "s"), most);
}

struct line_limits short_form_limits(const struct short_form *form, size_t rows) {
    struct line_limits limits = LINE_LIMITS_DEFAULT;
    unsigned most = line_header_most(rows);
    if (form->header_bits > 0)
        limits.header_bits_min = limits.header_bits_max =
            form->header_bits < most ? form->header_bits : most;
    return limits;
}

cog_status short_tables_psm(const struct signatures_view *view, const float *weights,
                            const struct psm_learned *learned, const struct short_form *form,
                            unsigned threads, struct short_tables **tables, cog_error *error) {
    if (!weights && !learned)
        return error_set(error, COG_ERR_USAGE,
                         "psm learns which bits are volatile from the sums behind them: give "
                         "--weights, or use bphs");
    struct short_tables *made = tables_of(SHORT_PSM, form->radius_bits, error);
    if (!made)
        return COG_ERR_MEMORY;
    struct line_limits limits = short_form_limits(form, view->rows);
    cog_status status = short_key_check(view, form->radius_bits, error);
    THEN(status, psm_build(&made->psm, view, limits, threads, error));
    if (status == COG_OK && weights && view->rows > 1)
        status = psm_learn(
            &(struct psm_lesson){&made->psm, view, weights, view, weights, form->radius_bits},
            threads, &made->learned, error);
    else if (status == COG_OK && learned)
        made->learned = *learned;
    else if (status == COG_OK)
        status = error_set(error, COG_ERR_USAGE,
                           "psm learns from the weights of many rows: give at least two");
    return finish(made, status, tables);
}

cog_status short_form_complete(struct short_form *form, unsigned key_bits, cog_error *error) {
    enum { CHOSEN = 2 };
    struct bphs_index index;
    unsigned radius = form->radius_bits;
    form->tables = 0;
    cog_status status = short_key_check(&(struct signatures_view){.bits = key_bits}, radius, error);
    if (status != COG_OK)
        return status;
    if (form->blocks == 0) {
        form->chosen = form->chosen ? form->chosen : CHOSEN;
        form->blocks = radius + form->chosen;
    } else if (form->chosen == 0) {
        form->chosen = form->blocks > radius ? form->blocks - radius : 1;
    }
    status = bphs_lay_out(&index, key_bits, form->blocks, form->chosen, radius, error);
    form->tables = index.layout.choice_count;
    return status;
}

cog_status short_tables_bphs(const struct signatures_view *view, const struct short_form *form,
                             unsigned threads, struct short_tables **tables, cog_error *error) {
    struct short_tables *made = tables_of(SHORT_BPHS, form->radius_bits, error);
    if (!made)
        return COG_ERR_MEMORY;
    cog_status status = bphs_build(&made->bphs, view, form->blocks, form->chosen, form->radius_bits,
                                   threads, error);
    return finish(made, status, tables);
}

void short_tables_free(struct short_tables *tables) {
    if (!tables)
        return;
    if (tables->is_mapped) {
        for (unsigned choice = 0; choice < tables->bphs.layout.choice_count; choice++)
            free(tables->bphs.masks[choice]);
    } else {
        psm_free(&tables->psm);
        bphs_free(&tables->bphs);
    }
    free(tables);
}

/* ---- Checking -------------------------------------------------------------------------------- */

static bool has_row(const struct key_rows *rows, size_t position, uint32_t row) {
    size_t count, low = 0;
    if (!key_rows_are_sound(rows, position))
        return false;
    const uint32_t *of_key = key_rows_of(rows, position, &count);
    for (size_t high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (of_key[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && of_key[low] == row;
}

static bool has_key(const struct short_tables *tables, unsigned choice, short_key key) {
    const struct bphs_index *index = &tables->bphs;
    return line_has(&index->tables[choice],
                    block_permute(&index->layout, &index->layout.choices[choice], key));
}

cog_status short_tables_check(const struct short_tables *tables, const struct signatures_view *view,
                              cog_error *error) {
    bool is_psm = tables->kind == SHORT_PSM;
    const struct line_table *first = is_psm ? &tables->psm.table : &tables->bphs.tables[0];
    const struct key_rows *rows = is_psm ? &tables->psm.rows : &tables->bphs.rows;
    for (size_t row = 0; row < view->rows; row++) {
        short_key key = short_key_of_row(view, row);
        size_t position = line_find(first, key);
        bool sound = position < rows->entry_count && has_row(rows, position, (uint32_t)row);
        for (unsigned choice = 1; choice < tables->bphs.layout.choice_count && sound; choice++)
            sound = has_key(tables, choice, key);
        if (!sound)
            return error_set_at(error, COG_ERR_FORMAT, row,
                                "the tables of short signatures do not have row %zu: build the "
                                "index again",
                                row);
    }
    return COG_OK;
}
