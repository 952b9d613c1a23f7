/* The statistics by which an index weighs documents: collected, kept beside it, known again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "jobs/index/index_job.h"
#include "vector/statistics.h"

static cog_status add_to_fingerprint(void *context, uint64_t hash, struct term_counts counts,
                                     cog_error *error) {
    (void)error;
    *(uint64_t *)context +=
        hash_pair(hash_pair(hash, counts.document_frequency), counts.collection_frequency);
    return COG_OK;
}

/* The same for the same documents and terms with the same counts, in whatever order. */
static uint64_t statistics_fingerprint(const struct statistics *counts) {
    uint64_t sum = 0;
    statistics_visit(counts, add_to_fingerprint, &sum, NULL);
    sum = hash_pair(sum, statistics_document_count(counts));
    return hash_pair(sum, statistics_total_length(counts));
}

cog_status index_record_statistics(const cog_index *index, struct settings *settings,
                                   cog_error *error) {
    const struct statistics *counts = index->statistics->counts;
    TRY(settings_set_u64(settings, "statistics: documents", statistics_document_count(counts),
                         error));
    return settings_set_u64(settings, "statistics: fingerprint", statistics_fingerprint(counts),
                            error);
}

cog_status index_make_columns(cog_index *index, cog_error *error) {
    return index->has_vectors ? term_numbers_create(index->statistics->counts, 1,
                                                    index->weighting.min_collection_frequency,
                                                    &index->columns, error)
                              : COG_OK;
}

cog_status index_collect_statistics(cog_index *index, const struct corpus *corpus,
                                    const cog_term_options *terms, unsigned threads,
                                    cog_error *error) {
    index->statistics = calloc(1, sizeof *index->statistics);
    if (!index->statistics)
        return error_memory(error, sizeof *index->statistics, "statistics");
    TRY(corpus_statistics(&corpus, 1, threads, &index->statistics->counts, error));
    return options_record_terms(terms, &index->statistics->terms, error);
}

/* The file of a folder; free() it. */
static cog_status statistics_path(const char *folder, char **path, cog_error *error) {
    if (asprintf(path, "%s/statistics", folder) >= 0)
        return COG_OK;
    *path = NULL;
    return error_memory(error, strlen(folder), "a path");
}

cog_status index_save_statistics(const cog_index *index, const char *folder, cog_error *error) {
    char *path = NULL;
    cog_status status = statistics_path(folder, &path, error);
    THEN(status, cog_statistics_save(index->statistics, path, error));
    free(path);
    return status;
}

cog_status index_take_statistics(cog_index *index, const struct corpus *corpus, unsigned threads,
                                 cog_error *error) {
    cog_statistics_free(index->statistics);
    term_numbers_free(index->columns);
    index->statistics = NULL;
    index->columns = NULL;
    cog_status status = index_collect_statistics(index, corpus, &index->sign.terms, threads, error);
    THEN(status, index_record_statistics(index, &index->parts.manifest.settings, error));
    THEN(status, index_make_columns(index, error));
    return status == COG_OK && index->folder ? index_save_statistics(index, index->folder, error)
                                             : status;
}

/* Whether the statistics are those that the settings speak of. */
bool index_statistics_fit(const cog_index *index) {
    const struct settings *settings = &index->parts.manifest.settings;
    const struct statistics *counts = index->statistics->counts;
    uint64_t fingerprint = 0;
    return settings_get_u64(settings, "statistics: fingerprint", &fingerprint) &&
           fingerprint == statistics_fingerprint(counts);
}

bool index_awaits_statistics(const cog_index *index) {
    uint64_t documents = 0;
    settings_get_u64(&index->parts.manifest.settings, "statistics: documents", &documents);
    return index->has_documents && documents == 0;
}

/* Those of an empty index are empty, whatever the file has: filling one writes it before the
 * manifest. */
static cog_status read_statistics(cog_index *index, const char *path, cog_error *error) {
    cog_statistics *statistics = NULL;
    const struct corpus empty = {0};
    cog_status status = index_awaits_statistics(index)
                            ? index_collect_statistics(index, &empty, &index->sign.terms, 1, error)
                            : cog_statistics_open(path, &index->sign.terms, &statistics, error);
    if (statistics)
        index->statistics = statistics;
    return status == COG_OK ? index_make_columns(index, error) : status;
}

cog_status index_load_statistics(cog_index *index, cog_error *error) {
    char *path = NULL;
    cog_status status = statistics_path(index->folder, &path, error);
    THEN(status, read_statistics(index, path, error));
    if (status == COG_OK && !index_statistics_fit(index))
        status = error_set(error, COG_ERR_FORMAT,
                           "%s: not the statistics that the index was made with; restore the "
                           "folder as a whole or build the index again",
                           path);
    free(path);
    return status;
}
