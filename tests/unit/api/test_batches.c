/* Batches: every step compared with the job that it is a part of, or with brute force. */
#include <math.h>

#include "base/hash.h"
#include "cognate.h"
#include "test.h"

enum { TEXTS = 240, TEXT_BYTES = 400 };

struct texts {
    char bytes[TEXTS][TEXT_BYTES];
    cog_document items[TEXTS];
};

/* Every third text is an edit of an earlier one, every tenth is short, and one is null. */
static struct texts *make_texts(void) {
    static struct texts texts;
    struct random random = random_seeded(3);
    for (size_t i = 0; i < TEXTS; i++) {
        size_t words = i % 10 == 9 ? 6 : 30, size = 0;
        size_t from = i % 3 == 2 && i > 3 ? i - 1 : TEXTS;
        struct random own = random_seeded(from < TEXTS ? from : i);
        for (size_t word = 0; word < words && size + 20 < TEXT_BYTES; word++) {
            uint64_t number = random_next(&own) % 500;
            if (from < TEXTS && random_next(&random) % 40 == 0)
                number += 1000;
            size += (size_t)snprintf(texts.bytes[i] + size, TEXT_BYTES - size, "w%llu ",
                                     (unsigned long long)number);
        }
        texts.items[i] = (cog_document){.text = texts.bytes[i], .text_size = size};
    }
    texts.items[17] = (cog_document){0};
    return &texts;
}

/* The only array of a stream. */
struct received {
    struct ArrowSchema schema;
    struct ArrowArray array;
};

static bool receive(struct ArrowArrayStream *stream, struct received *received) {
    struct ArrowArray more;
    bool good = stream->get_next(stream, &received->array) == 0 &&
                stream->get_schema(stream, &received->schema) == 0 &&
                stream->get_next(stream, &more) == 0 && !more.release;
    stream->release(stream);
    return good;
}

static void dismiss(struct received *received) {
    received->array.release(&received->array);
    received->schema.release(&received->schema);
}

static const int64_t *numbers_of(const struct received *received, int column) {
    return received->array.children[column]->buffers[1];
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static cog_status collect(const cog_document *items, size_t count, cog_statistics **statistics,
                          cog_error *error) {
    cog_documents *documents = NULL;
    cog_term_options terms;
    cog_term_options_init(&terms);
    terms.lang = "en";
    cog_status status = cog_documents_from_memory(items, count, &documents, error);
    if (status == COG_OK)
        status = cog_statistics_collect(documents, &terms, NULL, statistics, NULL, error);
    cog_documents_close(documents);
    return status;
}

TEST(batch_statistics_of_parts_are_those_of_the_whole) {
    const struct texts *texts = make_texts();
    cog_statistics *whole = NULL, *sum = NULL;
    uint8_t *whole_bytes = NULL, *sum_bytes = NULL;
    size_t whole_size = 0, sum_size = 0;
    CHECK_OK(collect(texts->items, TEXTS, &whole, error));
    CHECK_OK(cog_statistics_to_bytes(whole, &whole_bytes, &whole_size, error));
    static const size_t parts[][2] = {{150, TEXTS}, {0, 90}, {90, 150}};
    for (size_t i = 0; i < 3; i++) {
        cog_statistics *part = NULL, *copy = NULL;
        uint8_t *bytes = NULL;
        size_t size = 0;
        CHECK_OK(collect(texts->items + parts[i][0], parts[i][1] - parts[i][0], &part, error));
        CHECK_OK(cog_statistics_to_bytes(part, &bytes, &size, error));
        CHECK_OK(cog_statistics_from_bytes(bytes, size, NULL, &copy, error));
        if (sum)
            CHECK_OK(cog_statistics_merge(sum, copy, error));
        else {
            sum = copy;
            copy = NULL;
        }
        cog_statistics_free(part);
        cog_statistics_free(copy);
        cog_free(bytes);
    }
    CHECK_OK(cog_statistics_to_bytes(sum, &sum_bytes, &sum_size, error));
    CHECK(sum_size == whole_size && memcmp(sum_bytes, whole_bytes, sum_size) == 0);
    CHECK(cog_statistics_documents(sum) == TEXTS - 1);
    /* The bytes are those of the file. */
    const char *path = test_path("batch.stat");
    CHECK_OK(cog_statistics_save(whole, path, error));
    FILE *file = fopen(path, "rb");
    CHECK(file && fread(sum_bytes, 1, sum_size, file) == sum_size && fgetc(file) == EOF);
    fclose(file);
    CHECK(memcmp(sum_bytes, whole_bytes, sum_size) == 0);
    cog_free(sum_bytes);
    cog_free(whole_bytes);
    cog_statistics_free(sum);
    cog_statistics_free(whole);
}

TEST(batch_statistics_refuse_damaged_bytes_and_other_terms) {
    const struct texts *texts = make_texts();
    cog_statistics *statistics = NULL, *none = NULL;
    cog_term_options terms;
    uint8_t *bytes = NULL;
    size_t size = 0;
    CHECK_OK(collect(texts->items, 20, &statistics, error));
    CHECK_OK(cog_statistics_to_bytes(statistics, &bytes, &size, error));
    for (size_t i = 0; i < size; i += 7) {
        bytes[i] ^= 0x40;
        CHECK(cog_statistics_from_bytes(bytes, size, NULL, &none, NULL) == COG_ERR_FORMAT);
        bytes[i] ^= 0x40;
        CHECK(cog_statistics_from_bytes(bytes, i, NULL, &none, NULL) == COG_ERR_FORMAT);
    }
    cog_term_options_init(&terms);
    terms.ngram = 2;
    CHECK(cog_statistics_from_bytes(bytes, size, &terms, &none, NULL) == COG_ERR_USAGE);
    CHECK(!none);
    cog_free(bytes);
    cog_statistics_free(statistics);
}

TEST(batch_lexicon_travels_as_bytes) {
    static const char lines[] =
        "das Haus\tthe house\ndas Buch\tthe book\nein Haus\ta house\nein Buch\ta book\n";
    char text[5 * sizeof lines] = "";
    for (int i = 0; i < 5; i++)
        strcat(text, lines);
    const char *path = write_text("batch.tsv", text);
    cog_lexicon_options options;
    cog_lexicon *lexicon = NULL, *copy = NULL;
    uint8_t *bytes = NULL, *again = NULL;
    size_t size = 0, again_size = 0;
    cog_lexicon_options_init(&options);
    options.from = "de";
    options.to = "en";
    CHECK_OK(cog_lexicon_train(&path, 1, &options, NULL, &lexicon, NULL, error));
    CHECK_OK(cog_lexicon_to_bytes(lexicon, &bytes, &size, error));
    CHECK_OK(cog_lexicon_from_bytes(bytes, size, &copy, error));
    CHECK(cog_lexicon_entries(copy) == cog_lexicon_entries(lexicon));
    CHECK_OK(cog_lexicon_to_bytes(copy, &again, &again_size, error));
    CHECK(again_size == size && memcmp(bytes, again, size) == 0);
    cog_lexicon_free(copy);
    copy = NULL;
    bytes[size / 2] ^= 1;
    CHECK(cog_lexicon_from_bytes(bytes, size, &copy, NULL) == COG_ERR_FORMAT && !copy);
    cog_free(bytes);
    cog_free(again);
    cog_lexicon_free(lexicon);
}

/* ---- Measures, sets, clusters ---------------------------------------------------------------- */

/* All pairs of rows. */
struct all_pairs {
    int64_t a[TEXTS * (TEXTS - 1) / 2], b[TEXTS * (TEXTS - 1) / 2];
    double similarities[TEXTS * (TEXTS - 1) / 2];
    size_t count;
};

static struct all_pairs *list_pairs(void) {
    static struct all_pairs pairs;
    pairs.count = 0;
    for (int64_t a = 0; a < TEXTS; a++)
        for (int64_t b = a + 1; b < TEXTS; b++) {
            pairs.a[pairs.count] = a;
            pairs.b[pairs.count++] = b;
        }
    return &pairs;
}

/* The pairs at or above a threshold are those that a join lists, with the same similarities. */
static void compare_with_join(cog_measure measure, double threshold) {
    const struct texts *texts = make_texts();
    struct all_pairs *pairs = list_pairs();
    cog_documents *documents = NULL;
    cog_verify_options options;
    cog_pairs_options asked;
    cog_pairs *found = NULL;
    size_t at = 0;
    cog_pairs_options_init(&asked, measure);
    cog_verify_options_init(&options, measure);
    asked.threshold = threshold;
    asked.sign.terms.lang = options.terms.lang = "en";
    options.short_texts = false;
    CHECK_OK(cog_documents_from_memory(texts->items, TEXTS, &documents, error));
    CHECK_OK(cog_pairs_find(documents, NULL, &asked, NULL, &found, NULL, error));
    CHECK_OK(cog_verify_pairs(documents, NULL, pairs->a, pairs->b, pairs->count, &options, NULL,
                              pairs->similarities, NULL, error));
    for (size_t i = 0; i < pairs->count; i++) {
        CHECK(isnan(pairs->similarities[i]) == (pairs->a[i] == 17 || pairs->b[i] == 17));
        if (!(pairs->similarities[i] >= threshold - 1e-9))
            continue;
        cog_pair pair = cog_pairs_get(found, at++);
        CHECK((int64_t)cog_pairs_position(found, 0, pair.a) == pairs->a[i] &&
              (int64_t)cog_pairs_position(found, 0, pair.b) == pairs->b[i]);
        CHECK(fabs(pair.similarity - pairs->similarities[i]) < 1e-6);
    }
    CHECK(at == cog_pairs_count(found) && at > 20);
    cog_pairs_free(found);
    cog_documents_close(documents);
}

TEST(batch_verify_gives_what_joins_list) {
    compare_with_join(COG_MEASURE_COSINE, 0.5);
    compare_with_join(COG_MEASURE_JACCARD, 0.3);
}

/* With statistics of the whole, a part of the documents has the cosines of the whole. */
TEST(batch_verify_takes_statistics_of_the_whole) {
    const struct texts *texts = make_texts();
    cog_documents *whole = NULL, *part = NULL;
    cog_statistics *statistics = NULL;
    cog_verify_options options;
    static const int64_t a[] = {0, 30, 33}, b[] = {1, 31, 35}, moved_a[] = {0, 3},
                         moved_b[] = {1, 5};
    double of_whole[3], of_part[2];
    cog_verify_options_init(&options, COG_MEASURE_COSINE);
    options.terms.lang = "en";
    CHECK_OK(cog_documents_from_memory(texts->items, TEXTS, &whole, error));
    CHECK_OK(cog_documents_from_memory(texts->items + 30, 20, &part, error));
    CHECK_OK(collect(texts->items, TEXTS, &statistics, error));
    CHECK_OK(cog_verify_pairs(whole, NULL, a, b, 3, &options, NULL, of_whole, NULL, error));
    options.statistics = statistics;
    CHECK_OK(
        cog_verify_pairs(part, NULL, moved_a, moved_b, 2, &options, NULL, of_part, NULL, error));
    CHECK(of_part[0] == of_whole[1] && of_part[1] == of_whole[2]);
    /* Between two collections. */
    CHECK_OK(
        cog_verify_pairs(whole, part, a + 1, moved_b, 2, &options, NULL, of_part, NULL, error));
    CHECK(of_part[0] == of_whole[1] && of_part[1] == of_whole[2]);
    options.terms.ngram = 2;
    CHECK(cog_verify_pairs(part, NULL, a, b, 1, &options, NULL, of_part, NULL, NULL) ==
          COG_ERR_USAGE);
    cog_statistics_free(statistics);
    cog_documents_close(whole);
    cog_documents_close(part);
}

static double similarity_of_lists(const struct received *sets, size_t a, size_t b, int column,
                                  bool containment) {
    const struct ArrowArray *lists = sets->array.children[column];
    const int32_t *offsets = lists->buffers[1];
    const int64_t *items = lists->children[0]->buffers[1];
    double shared = 0, sizes[2] = {offsets[a + 1] - offsets[a], offsets[b + 1] - offsets[b]};
    for (int32_t i = offsets[a]; i < offsets[a + 1]; i++)
        for (int32_t j = offsets[b]; j < offsets[b + 1]; j++)
            shared += items[i] == items[j];
    double least = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
    return shared / (containment ? least : sizes[0] + sizes[1] - shared);
}

/* Sets, measured by hand, have the similarities of verified pairs. */
static void compare_sets(cog_measure measure) {
    const struct texts *texts = make_texts();
    struct all_pairs *pairs = list_pairs();
    cog_documents *documents = NULL;
    cog_verify_options options;
    struct ArrowArrayStream stream;
    struct received sets;
    size_t row_of[TEXTS] = {0}, above = 0, by_words = 0;
    cog_verify_options_init(&options, measure);
    CHECK_OK(cog_documents_from_memory(texts->items, TEXTS, &documents, error));
    CHECK_OK(cog_term_sets(documents, &options.terms, measure, NULL, &stream, NULL, error));
    CHECK(receive(&stream, &sets));
    CHECK(sets.array.length == TEXTS - 1 && sets.array.n_children == 5);
    for (size_t row = 0; row < TEXTS - 1; row++)
        row_of[numbers_of(&sets, 0)[row]] = row;
    const uint64_t *skipped = NULL;
    CHECK(cog_documents_skipped(documents, &skipped) == 1 && skipped[0] == 17);
    CHECK_OK(cog_verify_pairs(documents, NULL, pairs->a, pairs->b, pairs->count, &options, NULL,
                              pairs->similarities, NULL, error));
    for (size_t i = 0; i < pairs->count; i++) {
        size_t a = row_of[pairs->a[i]], b = row_of[pairs->b[i]];
        const int32_t *terms = sets.array.children[1]->buffers[1];
        if (pairs->a[i] == 17 || pairs->b[i] == 17)
            continue;
        bool words = terms[a] == terms[a + 1] || terms[b] == terms[b + 1];
        double expected =
            similarity_of_lists(&sets, a, b, words ? 2 : 1, measure == COG_MEASURE_CONTAINMENT);
        expected = isnan(expected) ? 0 : expected;
        CHECK(fabs(pairs->similarities[i] - expected) < 1e-12);
        above += expected > 0.5;
        by_words += words && expected > 0;
    }
    CHECK(above > 20 && (by_words > 0) == (measure == COG_MEASURE_JACCARD));
    dismiss(&sets);
    cog_documents_close(documents);
}

TEST(batch_term_sets_are_what_dedup_compares) {
    compare_sets(COG_MEASURE_JACCARD);
    compare_sets(COG_MEASURE_CONTAINMENT);
}

/* ---- Term sets of an index ------------------------------------------------------------------- */

/* An index of all texts in two segments, of which some were removed. */
static void index_texts(const struct texts *texts, const cog_index_options *options,
                        const char *const *removed, size_t removed_count, cog_index **index) {
    static char ids[TEXTS][8];
    cog_document items[TEXTS];
    cog_documents *first = NULL, *second = NULL;
    for (size_t i = 0; i < TEXTS; i++) {
        items[i] = texts->items[i];
        snprintf(ids[i], sizeof ids[i], "%zu", i);
        items[i].id = ids[i];
        items[i].id_size = strlen(ids[i]);
    }
    CHECK_OK(cog_documents_from_memory(items, 150, &first, error));
    CHECK_OK(cog_documents_from_memory(items + 150, TEXTS - 150, &second, error));
    CHECK_OK(cog_index_build(first, options, NULL, index, NULL, error));
    CHECK_OK(cog_index_add(*index, second, NULL, NULL, error));
    CHECK_OK(cog_index_remove(*index, removed, removed_count, NULL, error));
    cog_documents_close(first);
    cog_documents_close(second);
}

static bool same_list(const struct received *a, size_t a_row, const struct received *b,
                      size_t b_row, int column) {
    const struct ArrowArray *lists[] = {a->array.children[column], b->array.children[column]};
    const int32_t *ends[] = {(const int32_t *)lists[0]->buffers[1] + a_row,
                             (const int32_t *)lists[1]->buffers[1] + b_row};
    const size_t bytes = (size_t)(ends[0][1] - ends[0][0]) * sizeof(int64_t);
    const int64_t *items[] = {lists[0]->children[0]->buffers[1], lists[1]->children[0]->buffers[1]};
    return ends[0][1] - ends[0][0] == ends[1][1] - ends[1][0] &&
           (bytes == 0 || memcmp(items[0] + ends[0][0], items[1] + ends[1][0], bytes) == 0);
}

/* Position `row` of the index is the row `other` of the texts' sets. */
static bool same_row(const struct received *index, size_t row, const struct received *texts,
                     size_t other) {
    const struct ArrowArray *ids = index->array.children[5];
    const int64_t *at = ids->buffers[1];
    const uint8_t *prints[] = {index->array.children[4]->buffers[1],
                               texts->array.children[4]->buffers[1]};
    char id[8];
    int size = snprintf(id, sizeof id, "%lld", (long long)numbers_of(texts, 0)[other]);
    return same_list(index, row, texts, other, 1) && same_list(index, row, texts, other, 2) &&
           memcmp(prints[0] + 16 * row, prints[1] + 16 * other, 16) == 0 &&
           at[row + 1] - at[row] == size &&
           memcmp((const char *)ids->buffers[2] + at[row], id, (size_t)size) == 0;
}

static void compare_index_sets(cog_measure measure) {
    static const char *const removed[] = {"0", "149", "150", "151", "239"};
    const struct texts *texts = make_texts();
    cog_documents *documents = NULL;
    cog_index *index = NULL;
    cog_index_options options;
    struct ArrowArrayStream stream;
    struct received sets, page;
    cog_index_options_init_for(&options, measure);
    index_texts(texts, &options, removed, 5, &index);
    CHECK_OK(cog_documents_from_memory(texts->items, TEXTS, &documents, error));
    CHECK_OK(cog_term_sets(documents, &options.sign.terms, measure, NULL, &stream, NULL, error));
    CHECK(receive(&stream, &sets));
    static const size_t pages[][2] = {{0, 100}, {100, 60}, {160, 1}, {161, 1000}, {234, 5}};
    size_t other = 0, position = 0;
    for (size_t i = 0; i < 5; i++) {
        CHECK_OK(cog_index_term_sets(index, &options.sign.terms, measure, pages[i][0], pages[i][1],
                                     &stream, error));
        CHECK(receive(&stream, &page));
        CHECK(page.array.n_children == 6);
        for (size_t row = 0; row < (size_t)page.array.length; row++, other++, position++) {
            for (size_t k = 0; k < 5; k++) /* the next text that was not removed */
                other += numbers_of(&sets, 0)[other] == atoi(removed[k]);
            CHECK(numbers_of(&page, 0)[row] == (int64_t)position);
            CHECK(same_row(&page, row, &sets, other));
        }
        dismiss(&page);
    }
    CHECK(position == TEXTS - 1 - 5);
    cog_error refused;
    options.sign.terms.ngram++;
    CHECK(cog_index_term_sets(index, &options.sign.terms, measure, 0, 1, &stream, &refused) ==
          COG_ERR_USAGE);
    options.sign.terms.ngram--;
    for (int other_measure = 0; other_measure <= COG_MEASURE_CONTAINMENT; other_measure++)
        CHECK((cog_index_term_sets(index, &options.sign.terms, (cog_measure)other_measure, 234, 1,
                                   &stream, &refused) == COG_ERR_USAGE) ==
              (other_measure != (int)measure));
    stream.release(&stream);
    dismiss(&sets);
    cog_documents_close(documents);
    cog_index_close(index);
}

TEST(batch_term_sets_of_an_index_are_those_of_its_documents) {
    compare_index_sets(COG_MEASURE_JACCARD);
    compare_index_sets(COG_MEASURE_CONTAINMENT);
}

/* Verified pairs, clustered in keep order, are the clusters of dedup. */
static void compare_clusters(cog_grouping grouping) {
    const struct texts *texts = make_texts();
    struct all_pairs *pairs = list_pairs();
    cog_documents *documents = NULL;
    cog_verify_options verify;
    cog_dedup_options options;
    cog_clusters *clusters = NULL;
    struct ArrowArrayStream stream;
    struct received found;
    uint64_t keys[TEXTS];
    size_t count = 0;
    cog_verify_options_init(&verify, COG_MEASURE_JACCARD);
    cog_dedup_options_init(&options);
    options.pairs.threshold = 0.4;
    options.grouping = grouping;
    CHECK_OK(cog_documents_from_memory(texts->items, TEXTS, &documents, error));
    CHECK_OK(cog_dedup(documents, &options, NULL, NULL, &clusters, NULL, error));
    CHECK_OK(cog_verify_pairs(documents, NULL, pairs->a, pairs->b, pairs->count, &verify, NULL,
                              pairs->similarities, NULL, error));
    for (size_t i = 0; i < pairs->count; i++)
        if (pairs->similarities[i] >= 0.4) {
            pairs->a[count] = pairs->b[i]; /* in any order */
            pairs->b[count] = pairs->a[i];
            pairs->similarities[count++] = pairs->similarities[i];
        }
    for (size_t row = 0; row < TEXTS; row++)
        keys[row] = texts->items[row].text_size;
    CHECK_OK(cog_clusters_of_pairs(TEXTS, pairs->a, pairs->b, pairs->similarities, count, keys,
                                   grouping, &stream, error));
    CHECK(receive(&stream, &found));
    CHECK((size_t)found.array.length == cog_clusters_member_count(clusters) && count > 20);
    const double *similarities = found.array.children[3]->buffers[1];
    const uint8_t *kept = found.array.children[4]->buffers[1];
    for (size_t i = 0; i < (size_t)found.array.length; i++) {
        cog_cluster_member member = cog_clusters_member(clusters, i);
        CHECK(numbers_of(&found, 0)[i] == member.cluster);
        CHECK(numbers_of(&found, 1)[i] == (int64_t)cog_clusters_position(clusters, member.row));
        CHECK(numbers_of(&found, 2)[i] ==
              (int64_t)cog_clusters_position(clusters, member.representative));
        CHECK(fabs(similarities[i] - member.similarity) < 1e-6 || grouping == COG_GROUP_CONNECTED);
        CHECK((kept[i / 8] >> i % 8 & 1) == (member.row == member.representative));
    }
    dismiss(&found);
    cog_clusters_free(clusters);
    cog_documents_close(documents);
}

TEST(batch_clusters_are_those_of_dedup) {
    compare_clusters(COG_GROUP_REPRESENTATIVE);
    compare_clusters(COG_GROUP_CONNECTED);
}

TEST(batch_clusters_refuse_rows_that_are_not_there) {
    static const int64_t a[] = {0, 1}, b[] = {1, 5};
    struct ArrowArrayStream stream;
    CHECK(cog_clusters_of_pairs(5, a, b, NULL, 2, NULL, COG_GROUP_CONNECTED, &stream, NULL) ==
          COG_ERR_USAGE);
    CHECK(cog_clusters_of_pairs(6, a, NULL, NULL, 2, NULL, COG_GROUP_CONNECTED, &stream, NULL) ==
          COG_ERR_USAGE);
    CHECK_OK(
        cog_clusters_of_pairs(0, NULL, NULL, NULL, 0, NULL, COG_GROUP_CONNECTED, &stream, error));
    stream.release(&stream);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

TEST(batch_distances_are_hamming_distances) {
    static const uint8_t rows[] = {0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 1};
    static const int64_t a[] = {0, 1, 0}, b[] = {1, 1, 0}, wrong[] = {0, 2, -1};
    cog_signatures *signatures = NULL;
    uint32_t distances[3];
    CHECK_OK(cog_signatures_from_memory(rows, 2, 64, &signatures, error));
    CHECK_OK(cog_verify_distances(signatures, NULL, a, b, 3, distances, error));
    CHECK(distances[0] == 9 && distances[1] == 0 && distances[2] == 0);
    CHECK(cog_verify_distances(signatures, NULL, a, wrong, 2, distances, NULL) == COG_ERR_USAGE);
    CHECK(cog_verify_distances(signatures, NULL, wrong + 2, a, 1, distances, NULL) ==
          COG_ERR_USAGE);
    cog_signatures_free(signatures);
}

/* The bits of a row from `first` on, in their order. */
static uint64_t bits_of(const uint8_t *row, unsigned first, unsigned count) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < count; i++)
        bits = bits << 1 | (row[(first + i) / 8] >> (7 - (first + i) % 8) & 1);
    return bits;
}

TEST(batch_keys_are_half_keys_of_the_signature) {
    enum { ROWS = 50, BITS = 128, BYTES = BITS / 8, TABLES = 3, KEY_BITS = 16 };
    static uint8_t rows[ROWS * BYTES];
    static float margins[ROWS * BITS];
    static uint32_t counts[ROWS];
    static const unsigned halves[TABLES][2] = {{0, 1}, {0, 2}, {1, 2}};
    struct random random = random_seeded(5);
    cog_signatures *signatures = NULL;
    struct ArrowArrayStream stream;
    struct received keys;
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (uint8_t)random_next(&random);
    for (size_t i = 0; i < ROWS * BITS; i++)
        margins[i] = (float)(random_next(&random) % 1000) + 1;
    for (size_t i = 0; i < ROWS; i++)
        counts[i] = i != 4;
    cog_key_plan plan = {.tables = TABLES, .key_bits = KEY_BITS};
    CHECK_OK(cog_signatures_from_memory(rows, ROWS, BITS, &signatures, error));
    CHECK_OK(cog_table_keys(signatures, NULL, counts, &plan, false, NULL, &stream, error));
    CHECK(receive(&stream, &keys));
    CHECK(keys.array.length == (ROWS - 1) * TABLES);
    for (int64_t i = 0; i < keys.array.length; i++) {
        int64_t row = numbers_of(&keys, 0)[i];
        int32_t table = ((const int32_t *)keys.array.children[1]->buffers[1])[i];
        CHECK(row != 4 && table == (int32_t)(i % TABLES));
        const uint8_t *bytes = rows + row * BYTES;
        uint64_t expected =
            bits_of(bytes, halves[table][0] * 8, 8) << 8 | bits_of(bytes, halves[table][1] * 8, 8);
        CHECK((uint64_t)numbers_of(&keys, 2)[i] == expected << (64 - KEY_BITS));
    }
    dismiss(&keys);
    /* Flips: one more key per table, one bit from the own key. */
    plan.flips = 1;
    plan.flip_mode = COG_FLIP_DISTANCE;
    CHECK_OK(cog_table_keys(signatures, margins, NULL, &plan, true, NULL, &stream, error));
    CHECK(receive(&stream, &keys));
    CHECK(keys.array.length == ROWS * TABLES * 2);
    for (int64_t i = 0; i < keys.array.length; i += 2 * TABLES)
        for (int own = 0; own < TABLES; own++)
            for (int flipped = TABLES; flipped < 2 * TABLES; flipped++) {
                const int32_t *tables = keys.array.children[1]->buffers[1];
                uint64_t apart = (uint64_t)numbers_of(&keys, 2)[i + own] ^
                                 (uint64_t)numbers_of(&keys, 2)[i + flipped];
                CHECK(tables[i + own] != tables[i + flipped] || __builtin_popcountll(apart) == 1);
            }
    dismiss(&keys);
    CHECK(cog_table_keys(signatures, NULL, NULL, &plan, true, NULL, &stream, NULL) ==
          COG_ERR_USAGE);
    plan.flip_mode = (cog_flip_mode)9;
    CHECK(cog_table_keys(signatures, margins, NULL, &plan, true, NULL, &stream, NULL) ==
          COG_ERR_USAGE);
    cog_signatures_free(signatures);
}

/* Rows that share a band, verified, are the pairs of the method lsh with the same bands. */
TEST(batch_bands_find_what_the_join_by_bands_finds) {
    enum { VALUES = 64, VALUE_BITS = 32, BITS = VALUES * VALUE_BITS, BYTES = BITS / 8 };
    const struct texts *texts = make_texts();
    static uint8_t signatures[TEXTS * BYTES], is_candidate[TEXTS * TEXTS];
    static uint32_t counts[TEXTS];
    struct all_pairs *pairs = list_pairs();
    cog_documents *documents = NULL;
    cog_pairs_options options;
    cog_verify_options verify;
    cog_key_plan plan;
    cog_pairs *found = NULL;
    cog_signatures *rows = NULL;
    struct ArrowArrayStream stream;
    struct received keys;
    double recall = 0.9;
    CHECK_OK(cog_key_plan_bands(0.4, VALUES, VALUE_BITS, &recall, &plan, error));
    CHECK(recall >= 0.9 && plan.tables * plan.band_values <= VALUES);
    cog_pairs_options_init(&options, COG_MEASURE_JACCARD);
    options.threshold = 0.4;
    options.method = COG_METHOD_LSH;
    options.sign.signature.bits = BITS;
    options.sign.signature.value_bits = VALUE_BITS;
    CHECK_OK(cog_knobs_set(&options.knobs, COG_METHOD_LSH, "tables", plan.tables, error));
    CHECK_OK(cog_knobs_set(&options.knobs, COG_METHOD_LSH, "band-values", plan.band_values, error));
    CHECK_OK(cog_documents_from_memory(texts->items, TEXTS, &documents, error));
    CHECK_OK(cog_pairs_find(documents, NULL, &options, NULL, &found, NULL, error));
    cog_sign_buffers buffers = {TEXTS, signatures, NULL, counts};
    CHECK_OK(cog_sign_rows(documents, &options.sign, NULL, &buffers, NULL, NULL, error));
    CHECK_OK(cog_signatures_from_memory(signatures, TEXTS, BITS, &rows, error));
    CHECK_OK(cog_table_keys(rows, NULL, counts, &plan, false, NULL, &stream, error));
    CHECK(receive(&stream, &keys));
    const int32_t *tables = keys.array.children[1]->buffers[1];
    for (int64_t i = 0; i < keys.array.length; i++)
        for (int64_t j = 0; j < i; j++)
            if (tables[i] == tables[j] && numbers_of(&keys, 2)[i] == numbers_of(&keys, 2)[j])
                is_candidate[numbers_of(&keys, 0)[j] * TEXTS + numbers_of(&keys, 0)[i]] = 1;
    cog_verify_options_init(&verify, COG_MEASURE_JACCARD);
    verify.short_texts = false;
    CHECK_OK(cog_verify_pairs(documents, NULL, pairs->a, pairs->b, pairs->count, &verify, NULL,
                              pairs->similarities, NULL, error));
    size_t at = 0;
    for (size_t i = 0; i < pairs->count; i++)
        if (pairs->similarities[i] >= 0.4 && is_candidate[pairs->a[i] * TEXTS + pairs->b[i]]) {
            cog_pair pair = cog_pairs_get(found, at++);
            CHECK((int64_t)cog_pairs_position(found, 0, pair.a) == pairs->a[i] &&
                  (int64_t)cog_pairs_position(found, 0, pair.b) == pairs->b[i]);
        }
    CHECK(at == cog_pairs_count(found) && at > 20);
    dismiss(&keys);
    cog_signatures_free(rows);
    cog_pairs_free(found);
    cog_documents_close(documents);
}
