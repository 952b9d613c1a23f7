/* Segments of documents that are compared as sets, by Jaccard or containment: from a corpus, or
 * from other segments. A merged segment has the bytes of a build. */
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

static cog_status read_row(const struct segment *segment, uint32_t row, struct loaded_sets *loaded,
                           struct bytes_view *id, struct document_set *set, cog_error *error) {
    return segment_id(segment, row, id) && segment_sets_load(&segment->sets, row, loaded, set)
               ? COG_OK
               : error_set(error, COG_ERR_FORMAT,
                           "%s: row %u is damaged; cognate index check tells more",
                           segment->container.path, row);
}

static cog_status visit_part(const cog_index *index, size_t part, struct loaded_sets *loaded,
                             set_taker *take, void *context, cog_error *error) {
    const struct manifest_entry *entry = &index->parts.manifest.entries[part];
    struct bytes_view id = {NULL, 0};
    struct document_set set;
    for (uint32_t row = 0; row < entry->rows; row++) {
        if (entry->removed_count && manifest_is_removed(entry, row))
            continue;
        TRY(read_row(&index->parts.segments[part], row, loaded, &id, &set, error));
        TRY(take(context, id, &set, error));
    }
    return COG_OK;
}

cog_status index_visit_sets(const cog_index *index, size_t first, size_t count, set_taker *take,
                            void *context, cog_error *error) {
    struct loaded_sets loaded = {0};
    cog_status status = COG_OK;
    for (size_t part = first; part < first + count && status == COG_OK; part++)
        status = visit_part(index, part, &loaded, take, context, error);
    loaded_sets_free(&loaded);
    return status;
}

/* ---- Merging --------------------------------------------------------------------------------- */

struct merged {
    struct set_builder builder;
    struct segment_draft *draft;
    struct buffer ids;
    uint64_t *id_ends;
    size_t end_capacity;
};

static cog_status merge_row(void *context, struct bytes_view id, const struct document_set *set,
                            cog_error *error) {
    struct merged *merged = context;
    GROW(merged->id_ends, merged->end_capacity, merged->builder.count + 1, "ids", error);
    if (!buffer_append(&merged->ids, id.data, id.size))
        return error_memory(error, merged->ids.size, "ids");
    merged->id_ends[merged->builder.count] = merged->ids.size;
    return set_builder_add(&merged->builder, set, error);
}

static cog_status take_ids(struct merged *merged, cog_error *error) {
    struct segment_draft *draft = merged->draft;
    uint64_t begin = 0;
    TRY(draft_make_room_for_ids(draft, draft->segment.rows, merged->ids.size, error));
    for (size_t row = 0; row < draft->segment.rows; row++) {
        draft_append_id(draft, row,
                        view_of(merged->ids.data + begin, (size_t)(merged->id_ends[row] - begin)));
        begin = merged->id_ends[row];
    }
    return draft_index_ids(draft, error);
}

cog_status segment_draft_merged_sets(const cog_index *index, size_t first, size_t count,
                                     unsigned threads, struct segment_draft *draft,
                                     cog_error *error) {
    struct merged merged = {.draft = draft};
    cog_status status = draft_take_settings(index, draft, error);
    THEN(status, index_visit_sets(index, first, count, merge_row, &merged, error));
    draft->segment.rows = merged.builder.count;
    THEN(status, take_ids(&merged, error));
    THEN(status, take_sets(&merged.builder, threads, draft, error));
    set_builder_free(&merged.builder);
    buffer_free(&merged.ids);
    free(merged.id_ends);
    return status;
}
