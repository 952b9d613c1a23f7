/* Snapshots: states of an index that do not change while the index changes. They share its
 * segments, statistics and weights. */
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "collection/statistics_job.h"
#include "jobs/index/index_weights.h"

static cog_status copy_state(const cog_index *index, cog_index *copy, cog_error *error) {
    if (index->folder && !(copy->folder = strdup(index->folder)))
        return error_memory(error, strlen(index->folder), "a path");
    TRY(index_segments_copy(&index->parts, &copy->parts, error));
    /* copied, so that the versions of the text libraries are not checked again */
    copy->has_documents = index->has_documents;
    copy->has_vectors = index->has_vectors;
    copy->is_multilingual = index->is_multilingual;
    copy->measure = index->measure;
    copy->sign = index->sign;
    copy->terms = index->terms;
    copy->weighting = index->weighting;
    settings_get_text(&copy->parts.manifest.settings, "language", &copy->sign.terms.lang);
    copy->streamed = index->streamed;
    copy->streamed_knobs = index->streamed_knobs;
    copy->streamed_radius_bits = index->streamed_radius_bits;
    if (index->statistics)
        copy->statistics = statistics_retain(index->statistics);
    if (index->weights)
        TRY(index_share_weights(index, copy, error));
    copy->is_prepared = true;
    return COG_OK;
}

cog_index *cog_index_retain(cog_index *index) {
    __atomic_add_fetch(&index->extra_owners, 1, __ATOMIC_RELAXED);
    return index;
}

cog_status cog_index_snapshot(const cog_index *index, cog_index **result, cog_error *error) {
    TRY(check_given(index, "index", error));
    TRY(check_given(result, "snapshot", error));
    TRY(index_prepare(index, error));
    cog_index *copy;
    TRY(index_create(&copy, error));
    cog_status status = copy_state(index, copy, error);
    return HAND_OUT(status, copy, cog_index_close, result);
}
