/* Segments of documents as sets, for Jaccard or containment: made from a corpus, and read. */
#include "base/memory.h"
#include "collection/sets/set_bag.h"
#include "jobs/index/index_draft.h"

static cog_status take_sets(struct set_builder *builder, unsigned threads,
                            struct segment_draft *draft, cog_error *error) {
    cog_status status = segment_sets_finish(builder, threads, &draft->memory.sets, error);
    draft->segment.sets = draft->memory.sets;
    return status;
}

cog_status segment_draft_sets(const cog_index *index, const struct corpus *corpus, unsigned threads,
                              struct segment_draft *draft, cog_error *error) {
    struct set_builder builder = {0};
    struct set_bag sets = {0};
    draft->segment.rows = corpus->rows;
    cog_status status = draft_take_settings(index, draft, error);
    THEN(status, draft_copy_ids(corpus, draft, error));
    for (size_t row = 0; row < corpus->rows && status == COG_OK; row++) {
        struct bag_view bag = corpus_bag(corpus, row);
        status = set_bag_read(&sets, &bag, error);
        THEN(status, set_builder_add(&builder, &sets.set, error));
    }
    THEN(status, take_sets(&builder, threads, draft, error));
    set_builder_free(&builder);
    set_bag_free(&sets);
    return status;
}

/* ---- Reading segments ------------------------------------------------------------------------ */

cog_status index_read_set(const cog_index *index, size_t part, uint32_t row,
                          struct loaded_sets *loaded, struct bytes_view *id,
                          struct document_set *set, cog_error *error) {
    const struct segment *segment = &index->parts.segments[part];
    *id = view_of(NULL, 0);
    return segment_id(segment, row, id) && segment_sets_load(&segment->sets, row, loaded, set)
               ? COG_OK
               : segment_damaged_row(segment, row, error);
}

/* Rows that can be found: `skip` are passed over, then `count` taken; both count down. */
struct set_range {
    uint64_t skip, count;
};

static cog_status visit_part(const cog_index *index, size_t part, struct set_range *range,
                             struct loaded_sets *loaded, set_taker *take, void *context,
                             cog_error *error) {
    const struct manifest_entry *entry = &index->parts.manifest.entries[part];
    struct bytes_view id;
    struct document_set set;
    for (uint32_t row = 0; row < entry->rows && range->count; row++) {
        if (entry->removed_count && manifest_is_removed(entry, row))
            continue;
        if (range->skip) {
            range->skip--;
            continue;
        }
        range->count--;
        TRY(index_read_set(index, part, row, loaded, &id, &set, error));
        TRY(take(context, id, &set, error));
    }
    return COG_OK;
}

cog_status index_visit_sets(const cog_index *index, uint64_t first, uint64_t count, set_taker *take,
                            void *context, cog_error *error) {
    struct loaded_sets loaded = {0};
    struct set_range range = {first, count};
    cog_status status = COG_OK;
    for (size_t part = 0; part < index->parts.manifest.count && status == COG_OK; part++) {
        const struct manifest_entry *entry = &index->parts.manifest.entries[part];
        const uint64_t rows = entry->rows - entry->removed_count;
        if (range.skip >= rows)
            range.skip -= rows;
        else
            status = visit_part(index, part, &range, &loaded, take, context, error);
    }
    loaded_sets_free(&loaded);
    return status;
}

uint64_t index_set_bytes(const cog_index *index) {
    uint64_t bytes = 0;
    for (size_t part = 0; part < index->parts.manifest.count; part++)
        bytes += index->parts.segments[part].sets.size_bytes;
    return bytes;
}

struct appended {
    struct document_sets *sets;
    struct set_batch batch;
    uint64_t position; /* among the rows of the index that are not removed */
};

static cog_status append_row(void *context, struct bytes_view id, const struct document_set *set,
                             cog_error *error) {
    enum { BYTES_AT_ONCE = 1 << 20 };
    struct appended *appended = context;
    TRY(set_batch_add_set(&appended->batch, set, id, (uint32_t)appended->position++, error));
    return appended->batch.bytes.size < BYTES_AT_ONCE
               ? COG_OK
               : document_sets_append(appended->sets, &appended->batch, error);
}

cog_status index_append_sets(const cog_index *index, uint64_t first, uint64_t count,
                             struct document_sets *sets, cog_error *error) {
    struct appended appended = {.sets = sets, .position = first};
    cog_status status = index_visit_sets(index, first, count, append_row, &appended, error);
    THEN(status, document_sets_append(sets, &appended.batch, error));
    set_batch_free(&appended.batch);
    return status;
}
