#include "jobs/dedup/report/report_choice.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "jobs/dedup/report/report_texts.h"

enum {
    LISTED_BYTES = 64 << 20,  /* of the ids and numbers of all listed documents */
    DOCUMENT_BYTES = 24,      /* per listed document, in addition to its id */
    CLUSTER_DOCUMENTS = 2000, /* listed per cluster */
    BELOW_PAIRS = 500,
    SAMPLE_NEAR = 250,
    SAMPLE_IDENTICAL = 50,
    REFERENCE_PAIRS = 20000,
    REFERENCE_TEXTS = 200, /* pairs of a kind for which the reference's text is included */
    TEXT_BYTES = 12 << 20, /* total of the texts */
    TEXT_OVERHEAD = 64,    /* approximate additional bytes per text */
    FIRST_PAIRS = 100,     /* pairs of each kind whose texts are included first */
    LARGEST_CLUSTERS = 50, /* the same for clusters, with LARGEST_DOCUMENTS of each */
    LARGEST_DOCUMENTS = 10,
    SAMPLE_SEED = 1,
};

/* Scratch data for making a choice. */
struct choosing {
    const struct duplicate_rows *rows;
    struct report_choice *choice;
    size_t *starts;            /* by cluster: its beginning in members; and the end */
    uint32_t *members;         /* rows, grouped by cluster */
    uint32_t *position_of_row; /* in documents, or NO_ROW */
    struct listed_cluster *clusters;
    size_t text_bytes; /* used so far */
    struct buffer id;
};

static const struct duplicate_row *row_at(const struct choosing *choosing, uint32_t row) {
    return &choosing->rows->rows[row];
}

/* Lists the row unless it is already listed. */
static cog_status list_row(struct choosing *choosing, uint32_t row, uint32_t *position,
                           cog_error *error) {
    struct report_choice *choice = choosing->choice;
    if (choosing->position_of_row[row] == NO_ROW) {
        GROW(choice->documents, choice->document_capacity, choice->document_count + 1,
             "the documents of the report", error);
        choosing->position_of_row[row] = (uint32_t)choice->document_count;
        choice->documents[choice->document_count++] = row;
    }
    *position = choosing->position_of_row[row];
    return COG_OK;
}

/* ---- Clusters -------------------------------------------------------------------------------- */

static cog_status gather_members(struct choosing *choosing, cog_error *error) {
    const struct duplicate_rows *rows = choosing->rows;
    size_t clusters = rows->cluster_count, *starts;
    TAKE_ZEROED(choosing->starts, clusters + 2, "clusters", error);
    starts = choosing->starts;
    for (size_t row = 0; row < rows->count; row++)
        if (rows->rows[row].cluster != NO_ROW)
            starts[rows->rows[row].cluster + 2]++;
    for (size_t i = 2; i < clusters + 2; i++)
        starts[i] += starts[i - 1];
    TAKE(choosing->members, starts[clusters + 1], "clusters", error);
    for (uint32_t row = 0; row < rows->count; row++)
        if (rows->rows[row].cluster != NO_ROW)
            choosing->members[starts[rows->rows[row].cluster + 1]++] = row;
    return COG_OK;
}

static int by_place(const void *a, const void *b, void *context) {
    const struct choosing *choosing = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct duplicate_row *p = row_at(choosing, x), *q = row_at(choosing, y);
    bool first_p = p->kept_row == x, first_q = q->kept_row == y;
    if (first_p != first_q)
        return first_p ? -1 : 1;
    if (p->identical != q->identical)
        return q->identical ? -1 : 1;
    if (p->similarity < q->similarity || p->similarity > q->similarity)
        return p->similarity < q->similarity ? -1 : 1;
    return ORDER(x, y);
}

static int by_size(const void *a, const void *b) {
    const struct listed_cluster *p = a, *q = b;
    if (p->size != q->size)
        return p->size > q->size ? -1 : 1;
    return ORDER(p->first, q->first);
}

static int by_worst(const void *a, const void *b) {
    const struct listed_cluster *p = a, *q = b;
    if (p->worst < q->worst || p->worst > q->worst)
        return p->worst < q->worst ? -1 : 1;
    return ORDER(p->first, q->first);
}

/* `first` is the cluster's number until the cluster is listed. */
static cog_status order_members(struct choosing *choosing, cog_error *error) {
    size_t count = choosing->rows->cluster_count;
    TAKE(choosing->clusters, count, "clusters", error);
    for (size_t i = 0; i < count; i++) {
        uint32_t *members = choosing->members + choosing->starts[i];
        size_t size = choosing->starts[i + 1] - choosing->starts[i];
        qsort_r(members, size, sizeof *members, by_place, choosing);
        float worst = 1;
        for (size_t m = 0; m < size; m++) {
            float similarity = row_at(choosing, members[m])->similarity;
            worst = similarity < worst ? similarity : worst;
        }
        choosing->clusters[i] = (struct listed_cluster){
            .first = (uint32_t)i,
            .size = (uint32_t)size,
            .listed = size < CLUSTER_DOCUMENTS ? (uint32_t)size : CLUSTER_DOCUMENTS,
            .worst = worst};
    }
    return COG_OK;
}

/* The size of a cluster in the page. */
static cog_status bytes_of_cluster(struct choosing *choosing, const struct listed_cluster *cluster,
                                   size_t *bytes, cog_error *error) {
    const uint32_t *members = choosing->members + choosing->starts[cluster->first];
    *bytes = 0;
    for (size_t i = 0; i < cluster->listed; i++) {
        struct bytes_view id;
        TRY(duplicate_row_id(choosing->rows, members[i], &choosing->id, &id, error));
        *bytes += id.size + DOCUMENT_BYTES;
    }
    return COG_OK;
}

/* Increases *count to the number of clusters that fit into the budget. */
static cog_status count_within(struct choosing *choosing, size_t budget_bytes, size_t *count,
                               cog_error *error) {
    size_t bytes = 0, one = 0;
    for (; *count < choosing->rows->cluster_count; ++*count) {
        TRY(bytes_of_cluster(choosing, &choosing->clusters[*count], &one, error));
        if ((bytes += one) > budget_bytes)
            break;
    }
    return COG_OK;
}

/* Chooses all clusters; if there are too many, the largest, and among the others those with the
 * worst pairs. */
static cog_status choose_clusters(struct choosing *choosing, size_t *chosen, cog_error *error) {
    struct listed_cluster *clusters = choosing->clusters;
    const size_t count = choosing->rows->cluster_count;
    qsort(clusters, count, sizeof *clusters, by_size);
    *chosen = 0;
    TRY(count_within(choosing, LISTED_BYTES, chosen, error));
    if (*chosen == count)
        return COG_OK;
    *chosen = 0;
    TRY(count_within(choosing, LISTED_BYTES / 2, chosen, error));
    qsort(clusters + *chosen, count - *chosen, sizeof *clusters, by_worst);
    TRY(count_within(choosing, LISTED_BYTES / 2, chosen, error));
    qsort(clusters, *chosen, sizeof *clusters, by_size);
    return COG_OK;
}

static cog_status list_clusters(struct choosing *choosing, cog_error *error) {
    struct report_choice *choice = choosing->choice;
    TRY(gather_members(choosing, error));
    TRY(order_members(choosing, error));
    TRY(choose_clusters(choosing, &choice->cluster_count, error));
    for (size_t i = 0; i < choice->cluster_count; i++) {
        struct listed_cluster *cluster = &choosing->clusters[i];
        const uint32_t *members = choosing->members + choosing->starts[cluster->first];
        uint32_t position;
        TRY(list_row(choosing, members[0], &cluster->first, error));
        for (uint32_t m = 1; m < cluster->listed; m++)
            TRY(list_row(choosing, members[m], &position, error));
    }
    choice->clusters = choosing->clusters;
    choosing->clusters = NULL;
    return COG_OK;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static cog_status add_pair(struct report_pairs *pairs, uint32_t a, uint32_t b, float similarity,
                           cog_error *error) {
    GROW(pairs->pairs, pairs->capacity, pairs->count + 1, "the pairs of the report", error);
    pairs->pairs[pairs->count++] = (struct report_pair){a, b, similarity};
    return COG_OK;
}

static int by_falling_similarity(const void *a, const void *b) {
    const struct report_pair *p = a, *q = b;
    if (p->similarity < q->similarity || p->similarity > q->similarity)
        return p->similarity > q->similarity ? -1 : 1;
    return p->b != q->b ? (p->b < q->b ? -1 : 1) : ORDER(p->a, q->a);
}

static int by_rising_similarity(const void *a, const void *b) {
    return by_falling_similarity(b, a);
}

/* Converts rows to positions. */
static cog_status list_pairs(struct choosing *choosing, struct report_pairs *pairs,
                             cog_error *error) {
    for (size_t i = 0; i < pairs->count; i++) {
        if (!duplicate_rows_have_reference(choosing->rows))
            TRY(list_row(choosing, pairs->pairs[i].a, &pairs->pairs[i].a, error));
        TRY(list_row(choosing, pairs->pairs[i].b, &pairs->pairs[i].b, error));
    }
    return COG_OK;
}

/* Two rows that are each other's nearest are one pair; b is the later row. */
static bool is_below(const struct choosing *choosing, uint32_t row) {
    const struct duplicate_row *item = row_at(choosing, row);
    uint32_t nearest = item->nearest_row;
    if (nearest == NO_ROW || !duplicate_row_is_kept(choosing->rows, row) ||
        item->nearest_similarity <= 0 ||
        (double)item->nearest_similarity >= choosing->rows->threshold)
        return false;
    if (duplicate_rows_have_reference(choosing->rows))
        return true;
    if (!duplicate_row_is_kept(choosing->rows, nearest))
        return false;
    return row > nearest || row_at(choosing, nearest)->nearest_row != row;
}

static cog_status choose_below(struct choosing *choosing, cog_error *error) {
    struct report_pairs *below = &choosing->choice->below;
    for (uint32_t row = 0; row < choosing->rows->count; row++)
        if (is_below(choosing, row))
            TRY(add_pair(below, row_at(choosing, row)->nearest_row, row,
                         row_at(choosing, row)->nearest_similarity, error));
    below->found = below->count;
    if (below->count)
        qsort(below->pairs, below->count, sizeof *below->pairs, by_falling_similarity);
    below->count = below->count < BELOW_PAIRS ? below->count : BELOW_PAIRS;
    return list_pairs(choosing, below, error);
}

/* Every removal is drawn with the same probability (reservoir sampling of `most`). */
static cog_status draw_removals(struct choosing *choosing, bool identical, size_t most,
                                cog_error *error) {
    struct report_pairs *sample = &choosing->choice->sample;
    struct random random = random_seeded(SAMPLE_SEED);
    size_t first = sample->count, seen = 0;
    for (uint32_t row = 0; row < choosing->rows->count; row++) {
        const struct duplicate_row *item = row_at(choosing, row);
        if (item->kept_row == row || item->identical != identical)
            continue;
        uint64_t place = seen++ < most ? seen - 1 : random_below(&random, seen);
        if (place < sample->count - first)
            sample->pairs[first + place] =
                (struct report_pair){item->kept_row, row, item->similarity};
        else if (place < most)
            TRY(add_pair(sample, item->kept_row, row, item->similarity, error));
    }
    sample->found += seen;
    for (size_t left = sample->count - first; left > 1;
         left--) { /* shuffle, so that they are not in row order */
        struct report_pair *drawn = &sample->pairs[first + random_below(&random, left)];
        struct report_pair *last = &sample->pairs[first + left - 1], swapped = *drawn;
        *drawn = *last;
        *last = swapped;
    }
    return COG_OK;
}

static cog_status choose_sample(struct choosing *choosing, cog_error *error) {
    TRY(draw_removals(choosing, false, SAMPLE_NEAR, error));
    TRY(draw_removals(choosing, true, SAMPLE_IDENTICAL, error));
    return list_pairs(choosing, &choosing->choice->sample, error);
}

static cog_status choose_references(struct choosing *choosing, cog_error *error) {
    struct report_pairs *references = &choosing->choice->references;
    for (uint32_t row = 0; row < choosing->rows->count; row++)
        if (row_at(choosing, row)->reference_row != NO_ROW)
            TRY(add_pair(references, row_at(choosing, row)->reference_row, row,
                         row_at(choosing, row)->similarity, error));
    references->found = references->count;
    if (references->count)
        qsort(references->pairs, references->count, sizeof *references->pairs,
              by_rising_similarity);
    references->count = references->count < REFERENCE_PAIRS ? references->count : REFERENCE_PAIRS;
    return list_pairs(choosing, references, error);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static void want_text(struct choosing *choosing, uint32_t position) {
    struct report_choice *choice = choosing->choice;
    uint64_t bytes = row_at(choosing, choice->documents[position])->text_bytes;
    bytes = (bytes < REPORT_TEXT_BYTES ? bytes : REPORT_TEXT_BYTES) + TEXT_OVERHEAD;
    if (choice->has_text[position] || choosing->text_bytes + bytes > TEXT_BYTES)
        return;
    choice->has_text[position] = 1;
    choosing->text_bytes += bytes;
}

static void want_pairs(struct choosing *choosing, const struct report_pairs *pairs, size_t from,
                       size_t to) {
    for (size_t i = from; i < pairs->count && i < to; i++) {
        if (!duplicate_rows_have_reference(choosing->rows))
            want_text(choosing, pairs->pairs[i].a);
        want_text(choosing, pairs->pairs[i].b);
    }
}

static void want_cluster(struct choosing *choosing, const struct listed_cluster *cluster,
                         size_t most) {
    for (uint32_t i = 0; i < cluster->listed && i < most; i++)
        want_text(choosing, cluster->first + i);
}

/* Includes the texts of survivors and the members least similar to them. */
static cog_status want_worst(struct choosing *choosing, cog_error *error) {
    const struct report_choice *choice = choosing->choice;
    struct listed_cluster *sorted;
    TAKE(sorted, choice->cluster_count, "clusters", error);
    if (choice->cluster_count)
        memcpy(sorted, choice->clusters, choice->cluster_count * sizeof *sorted);
    qsort(sorted, choice->cluster_count, sizeof *sorted, by_worst);
    for (size_t i = 0; i < choice->cluster_count && i < FIRST_PAIRS; i++)
        want_cluster(choosing, &sorted[i], 2);
    free(sorted);
    return COG_OK;
}

static cog_status want_reference_texts(struct report_choice *choice, cog_error *error) {
    const struct report_pairs *kinds[] = {&choice->references, &choice->below};
    for (size_t kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < kinds[kind]->count && i < REFERENCE_TEXTS; i++) {
            GROW(choice->reference_rows, choice->reference_capacity, choice->reference_count + 1,
                 "the texts of the report", error);
            choice->reference_rows[choice->reference_count++] = kinds[kind]->pairs[i].a;
        }
    choice->reference_count = sort_distinct_u32(choice->reference_rows, choice->reference_count);
    return COG_OK;
}

/* Includes the texts that people look at first, then others while there is room; small results have
 * all. */
static cog_status choose_texts(struct choosing *choosing, cog_error *error) {
    struct report_choice *choice = choosing->choice;
    const struct report_pairs *kinds[] = {&choice->below, &choice->sample, &choice->references};
    TAKE_ZEROED(choice->has_text, choice->document_count, "the texts of the report", error);
    for (size_t i = 0; i < 3; i++)
        want_pairs(choosing, kinds[i], 0, FIRST_PAIRS);
    TRY(want_worst(choosing, error));
    for (size_t i = 0; i < choice->cluster_count && i < LARGEST_CLUSTERS; i++)
        want_cluster(choosing, &choice->clusters[i], LARGEST_DOCUMENTS);
    for (size_t i = 0; i < 3; i++)
        want_pairs(choosing, kinds[i], FIRST_PAIRS, SIZE_MAX);
    for (size_t i = 0; i < choice->cluster_count; i++)
        want_cluster(choosing, &choice->clusters[i], LARGEST_DOCUMENTS);
    for (size_t i = 0; i < choice->cluster_count; i++)
        want_cluster(choosing, &choice->clusters[i], SIZE_MAX);
    return choosing->rows->reference ? want_reference_texts(choice, error) : COG_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

cog_status report_choice_make(const struct duplicate_rows *rows, struct report_choice *choice,
                              cog_error *error) {
    struct choosing choosing = {.rows = rows, .choice = choice};
    cog_status status = TAKEN(choosing.position_of_row, rows->count, "the report", error);
    for (size_t row = 0; status == COG_OK && row < rows->count; row++)
        choosing.position_of_row[row] = NO_ROW;
    THEN(status, list_clusters(&choosing, error));
    THEN(status, choose_below(&choosing, error));
    THEN(status, choose_sample(&choosing, error));
    THEN(status, choose_references(&choosing, error));
    THEN(status, choose_texts(&choosing, error));
    FREE(choosing.starts, choosing.members, choosing.position_of_row, choosing.clusters);
    buffer_free(&choosing.id);
    return status;
}

void report_choice_free(struct report_choice *choice) {
    FREE(choice->documents, choice->clusters, choice->below.pairs, choice->sample.pairs,
         choice->references.pairs, choice->has_text, choice->reference_rows);
    *choice = (struct report_choice){0};
}
