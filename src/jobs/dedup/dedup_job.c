/* Near-duplicates: equal documents are grouped, one of each group is joined with the others by the
 * true measure, clusters are formed, and one document of each stays. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/output.h"
#include "cluster/clusters.h"
#include "collection/equal_documents.h"
#include "jobs/dedup/kept_records.h"
#include "jobs/pairs/pair_join.h"
#include "jobs/result_table.h"
#include "run/job.h"

struct cog_clusters {
    struct corpus corpus; /* for the ids */
    cog_cluster_member *members;
    size_t count, member_count;
    uint8_t *is_kept; /* a row */
};

void cog_dedup_options_init(cog_dedup_options *options) {
    *options = (cog_dedup_options){.keep = COG_KEEP_LONGEST, .grouping = COG_GROUP_REPRESENTATIVE};
    cog_pairs_options_init(&options->pairs, COG_MEASURE_JACCARD);
}

void cog_clusters_free(cog_clusters *clusters) {
    if (!clusters)
        return;
    corpus_free(&clusters->corpus);
    free(clusters->members);
    free(clusters->is_kept);
    free(clusters);
}

size_t cog_clusters_count(const cog_clusters *clusters) {
    return clusters->count;
}

size_t cog_clusters_member_count(const cog_clusters *clusters) {
    return clusters->member_count;
}

cog_cluster_member cog_clusters_member(const cog_clusters *clusters, size_t index) {
    return index < clusters->member_count ? clusters->members[index] : (cog_cluster_member){0};
}

size_t cog_clusters_read(const cog_clusters *clusters, size_t first, size_t count,
                         cog_cluster_member *members) {
    size_t left = first < clusters->member_count ? clusters->member_count - first : 0;
    size_t read = count < left ? count : left;
    if (read)
        memcpy(members, clusters->members + first, read * sizeof *members);
    return read;
}

size_t cog_clusters_document_count(const cog_clusters *clusters) {
    return clusters->corpus.rows;
}

bool cog_clusters_is_kept(const cog_clusters *clusters, uint32_t row) {
    return row < clusters->corpus.rows && clusters->is_kept[row];
}

const char *cog_clusters_id(const cog_clusters *clusters, uint32_t row, size_t *size) {
    struct bytes_view id = {NULL, 0};
    if (row < clusters->corpus.rows)
        id = corpus_id(&clusters->corpus, row);
    *size = id.size;
    return id.data;
}

struct dedup {
    const cog_dedup_options *options;
    struct pair_task task;
    struct equal_documents equal;
    struct match_list matches;
    struct clusters groups; /* of leaders */
    uint32_t *best;         /* of a leader: the row of its group that would be kept */
    struct output *rejects;
};

static cog_status write_reject(void *context, struct bytes_view raw, cog_error *error) {
    struct dedup *dedup = context;
    cog_status status = output_write(dedup->rejects, raw.data, raw.size, error);
    if (status == COG_OK && raw.size && raw.data[raw.size - 1] != '\n')
        status = output_write(dedup->rejects, "\n", 1, error);
    return status;
}

static cog_status read_documents(struct dedup *dedup, cog_documents *documents,
                                 const cog_dedup_outputs *outputs, cog_error *error) {
    struct pair_task *task = &dedup->task;
    struct corpus_options reading = {.terms = &task->terms,
                                     .want_frequencies =
                                         task->options.measure == COG_MEASURE_COSINE,
                                     .repeat_ids = true};
    if (outputs->kept)
        ingest_keep_pipes(documents);
    cog_status status = pair_task_check_memory(task, &documents, error);
    if (status == COG_OK && outputs->rejects) {
        status = output_open(outputs->rejects, &dedup->rejects, error);
        reading.reject = write_reject;
        reading.reject_context = dedup;
    }
    THEN(status,
         corpus_read(&task->corpora[0], documents, &reading, task->run, task->report, error));
    if (status == COG_OK && dedup->rejects)
        status = output_commit(dedup->rejects, error);
    return status;
}

/* Whether row a is kept before row b. */
static bool is_better(const struct dedup *dedup, uint32_t a, uint32_t b) {
    const struct corpus_row *rows = dedup->task.corpora[0].items;
    if (dedup->options->keep == COG_KEEP_LONGEST && rows[a].text_bytes != rows[b].text_bytes)
        return rows[a].text_bytes > rows[b].text_bytes;
    return a < b;
}

/* The best row of each group of equal documents, and what decides between groups. */
static cog_status choose_best(struct dedup *dedup, uint64_t **keys, cog_error *error) {
    const struct corpus *corpus = &dedup->task.corpora[0];
    dedup->best = memory_array(corpus->rows, sizeof *dedup->best);
    *keys = memory_array(corpus->rows, sizeof **keys);
    if (!dedup->best || !*keys)
        return error_memory(error, corpus->rows * 12, "clusters");
    for (size_t row = 0; row < corpus->rows; row++)
        dedup->best[row] = (uint32_t)row;
    for (uint32_t row = 0; row < corpus->rows; row++) {
        uint32_t leader = dedup->equal.leader[row];
        if (is_better(dedup, row, dedup->best[leader]))
            dedup->best[leader] = row;
    }
    bool longest = dedup->options->keep == COG_KEEP_LONGEST;
    for (size_t row = 0; row < corpus->rows; row++)
        (*keys)[row] =
            longest ? corpus->items[dedup->best[row]].text_bytes : UINT64_MAX - (uint64_t)row;
    return COG_OK;
}

static cog_status form_groups(struct dedup *dedup, cog_error *error) {
    uint64_t *keys = NULL;
    enum cluster_mode mode =
        dedup->options->grouping == COG_GROUP_CONNECTED ? CLUSTERS_CONNECTED : CLUSTERS_STRICT;
    cog_status status = choose_best(dedup, &keys, error);
    THEN(status, clusters_build(&dedup->matches, dedup->task.corpora[0].rows, keys, mode,
                                &dedup->groups, error));
    free(keys);
    return status;
}

/* The similarity of a row to the one that stays for it. A chained row may be no match of it. */
static double similarity_to_kept(const struct dedup *dedup, uint32_t leader) {
    uint32_t representative = dedup->groups.representative[leader];
    if (leader == representative)
        return 1;
    float known = dedup->groups.similarity[leader];
    return known > 0 ? (double)known
                     : pair_task_listed_similarity(&dedup->task, representative, leader);
}

static int by_cluster(const void *a, const void *b) {
    const cog_cluster_member *p = a, *q = b;
    if (p->cluster != q->cluster)
        return p->cluster < q->cluster ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Numbers the clusters of two or more rows in the order of their first rows. sizes and numbers are
 * scratch, an entry a cluster of leaders. */
static void list_members(const struct dedup *dedup, cog_clusters *clusters, uint32_t *sizes,
                         uint32_t *numbers) {
    size_t rows = dedup->task.corpora[0].rows;
    for (size_t row = 0; row < rows; row++)
        sizes[dedup->groups.cluster[dedup->equal.leader[row]]]++;
    for (size_t i = 0; i < dedup->groups.count; i++)
        numbers[i] = UINT32_MAX;
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t leader = dedup->equal.leader[row], group = dedup->groups.cluster[leader];
        uint32_t kept = dedup->best[dedup->groups.representative[leader]];
        clusters->is_kept[row] = sizes[group] == 1 || row == kept;
        if (sizes[group] == 1)
            continue;
        if (numbers[group] == UINT32_MAX)
            numbers[group] = (uint32_t)clusters->count++;
        clusters->members[clusters->member_count++] = (cog_cluster_member){
            numbers[group], row, kept, row == kept ? 1 : similarity_to_kept(dedup, leader)};
    }
    qsort(clusters->members, clusters->member_count, sizeof *clusters->members, by_cluster);
}

static cog_status build_clusters(const struct dedup *dedup, cog_clusters *clusters,
                                 cog_error *error) {
    size_t rows = dedup->task.corpora[0].rows;
    uint32_t *sizes = memory_zeroed_array(dedup->groups.count, sizeof *sizes);
    uint32_t *numbers = memory_array(dedup->groups.count, sizeof *numbers);
    clusters->members = memory_array(rows, sizeof *clusters->members);
    clusters->is_kept = memory_zeroed_array(rows, 1);
    bool fits = sizes && numbers && clusters->members && clusters->is_kept;
    if (fits)
        list_members(dedup, clusters, sizes, numbers);
    free(sizes);
    free(numbers);
    return fits ? COG_OK : error_memory(error, rows * sizeof *clusters->members, "clusters");
}

static cog_status write_clusters(const cog_clusters *clusters, bool estimates,
                                 cog_output_format format, const char *path, cog_error *error) {
    const struct result_column columns[] = {{"cluster", RESULT_NUMBER},
                                            {"id", RESULT_ID},
                                            {"representative", RESULT_ID},
                                            {estimates ? "estimate" : "similarity", RESULT_REAL},
                                            {"kept", RESULT_NUMBER}};
    struct result_table table = {0};
    cog_status status =
        result_table_open(&table, columns, 5, clusters->member_count, format, path, error);
    for (size_t i = 0; i < clusters->member_count && status == COG_OK; i++) {
        const cog_cluster_member *member = &clusters->members[i];
        struct result_cell cells[] = {
            {.number = member->cluster},
            {member->row, corpus_id(&clusters->corpus, member->row)},
            {member->representative, corpus_id(&clusters->corpus, member->representative)},
            {.number = member->similarity},
            {.number = member->row == member->representative}};
        status = result_table_add(&table, cells, error);
    }
    return result_table_close(&table, status, error);
}

static cog_status write_kept(const cog_clusters *clusters, cog_documents *documents,
                             const char *path, const cog_run_options *run, cog_report *report,
                             cog_error *error) {
    const struct corpus *corpus = &clusters->corpus;
    size_t records = corpus->rows ? (size_t)corpus->items[corpus->rows - 1].record + 1 : 0;
    uint8_t *is_kept = memory_zeroed_array(records, 1);
    if (!is_kept)
        return error_memory(error, records, "kept records");
    for (size_t row = 0; row < corpus->rows; row++)
        is_kept[corpus->items[row].record] = clusters->is_kept[row];
    cog_status status = kept_records_write(documents, is_kept, records, path, run, report, error);
    free(is_kept);
    return status;
}

static void report_clusters(const struct dedup *dedup, const cog_clusters *clusters,
                            cog_report *report) {
    size_t removed = clusters->member_count - clusters->count;
    report_number(report, "equal_groups", (double)dedup->equal.groups);
    report_number(report, "clusters", (double)clusters->count);
    report_number(report, "removed", (double)removed);
    report_number(report, "kept", (double)(clusters->corpus.rows - removed));
    report_number(report, "peak_memory_bytes", (double)memory_peak_bytes());
}

static cog_status find_clusters(struct dedup *dedup, cog_documents *documents,
                                const cog_dedup_outputs *outputs, cog_clusters *clusters,
                                cog_error *error) {
    bool bags = dedup->task.options.measure == COG_MEASURE_COSINE;
    cog_status status = read_documents(dedup, documents, outputs, error);
    THEN(status, equal_documents_find(&dedup->task.corpora[0], bags, &dedup->equal, error));
    dedup->task.selected[0] = dedup->equal.selected;
    THEN(status, pair_task_prepare(&dedup->task, error));
    THEN(status, pair_join_run(&dedup->task, &dedup->matches, error));
    THEN(status, form_groups(dedup, error));
    THEN(status, build_clusters(dedup, clusters, error));
    return status;
}

static void dedup_close(struct dedup *dedup) {
    pair_task_free(&dedup->task);
    equal_documents_free(&dedup->equal);
    match_list_free(&dedup->matches);
    clusters_free(&dedup->groups);
    free(dedup->best);
    output_close(dedup->rejects);
}

cog_status cog_dedup(cog_documents *documents, const cog_dedup_options *options,
                     const cog_dedup_outputs *outputs, const cog_run_options *run,
                     cog_clusters **result, cog_report *report, cog_error *error) {
    static const cog_dedup_outputs none;
    struct dedup dedup = {.options = options};
    outputs = outputs ? outputs : &none;
    cog_clusters *clusters;
    TAKE_ZEROED(clusters, 1, "clusters", error);
    cog_status status = pair_join_init(&dedup.task, &options->pairs, 1, run, report, error);
    if (status == COG_OK && outputs->kept)
        status = kept_records_check(documents, outputs->kept, error);
    THEN(status, find_clusters(&dedup, documents, outputs, clusters, error));
    if (status == COG_OK) {
        clusters->corpus = dedup.task.corpora[0];
        dedup.task.corpora[0] = (struct corpus){0};
    }
    if (status == COG_OK && outputs->clusters)
        status = write_clusters(clusters, dedup.task.estimates, outputs->clusters_format,
                                outputs->clusters, error);
    if (status == COG_OK && outputs->kept)
        status = write_kept(clusters, documents, outputs->kept, run, report, error);
    if (status == COG_OK) {
        report_clusters(&dedup, clusters, report);
        *result = clusters;
    } else {
        cog_clusters_free(clusters);
    }
    dedup_close(&dedup);
    return status;
}
