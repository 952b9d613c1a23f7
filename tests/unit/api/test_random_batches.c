/* Random batches: clusters of given pairs and keys of signatures against brute force, and bytes of
 * statistics and lexicons that were changed. */
#include <math.h>

#include "api/random_documents.h"
#include "test.h"
#include "two_languages.h"

/* ---- Clusters of given pairs ----------------------------------------------------------------- */

enum { ROWS = 24, PAIRS = 40 };

struct given {
    size_t rows, count;
    int64_t a[PAIRS], b[PAIRS];
    double similarities[PAIRS];
    uint64_t keys[ROWS];
    bool keyed;
};

/* A pair that is given twice has the same similarity. */
static void draw_pairs(struct given *given, struct random *random) {
    given->rows = 1 + random_number(random, ROWS);
    given->count = random_number(random, PAIRS);
    given->keyed = random_one_in(random, 2);
    for (size_t row = 0; row < given->rows; row++)
        given->keys[row] = random_number(random, 4);
    for (size_t i = 0; i < given->count; i++) {
        given->a[i] = (int64_t)random_number(random, given->rows);
        given->b[i] = (int64_t)random_number(random, given->rows);
        given->similarities[i] = (double)((given->a[i] + 1) * (given->b[i] + 1) % 5) / 4;
    }
}

/* -1: they are no pair. */
static double similarity_of(const struct given *given, size_t a, size_t b) {
    for (size_t i = 0; i < given->count; i++)
        if ((given->a[i] == (int64_t)a && given->b[i] == (int64_t)b) ||
            (given->a[i] == (int64_t)b && given->b[i] == (int64_t)a))
            return given->similarities[i];
    return -1;
}

static bool comes_first(const struct given *given, size_t a, size_t b) {
    const uint64_t first = given->keyed ? given->keys[a] : 0;
    const uint64_t second = given->keyed ? given->keys[b] : 0;
    return first != second ? first > second : a < b;
}

/* Of near-duplicates the first by keys stays: a row stays if no row before it that stays is near.
 */
static void keep_by_hand(const struct given *given, bool kept[ROWS]) {
    bool decided[ROWS] = {false};
    for (size_t turn = 0; turn < given->rows; turn++) {
        size_t next = ROWS;
        for (size_t row = 0; row < given->rows; row++)
            if (!decided[row] && (next == ROWS || comes_first(given, row, next)))
                next = row;
        kept[next] = true;
        for (size_t row = 0; row < given->rows; row++)
            if (decided[row] && kept[row] && row != next && similarity_of(given, row, next) >= 0)
                kept[next] = false;
        decided[next] = true;
    }
}

/* Rows that pairs lead to from `row`. */
static void reach(const struct given *given, size_t row, bool reached[ROWS]) {
    reached[row] = true;
    for (size_t other = 0; other < given->rows; other++)
        if (!reached[other] && similarity_of(given, row, other) >= 0)
            reach(given, other, reached);
}

static void connect_by_hand(const struct given *given, bool kept[ROWS]) {
    for (size_t row = 0; row < given->rows; row++) {
        bool reached[ROWS] = {false};
        reach(given, row, reached);
        kept[row] = true;
        for (size_t other = 0; other < given->rows; other++)
            if (reached[other] && other != row && comes_first(given, other, row))
                kept[row] = false;
    }
}

static void compare_clusters(const struct given *given, cog_grouping grouping) {
    struct ArrowArrayStream stream;
    struct arrow_result clusters;
    bool kept[ROWS] = {false}, listed[ROWS] = {false};
    CHECK_OK(cog_clusters_of_pairs(given->rows, given->a, given->b, given->similarities,
                                   given->count, given->keyed ? given->keys : NULL, grouping,
                                   &stream, error));
    CHECK(arrow_result_read(&stream, &clusters));
    (grouping == COG_GROUP_CONNECTED ? connect_by_hand : keep_by_hand)(given, kept);
    const uint8_t *bits = arrow_column_named(&clusters, "kept")->buffers[1];
    for (size_t i = 0; i < (size_t)clusters.array.length; i++) {
        const size_t row = (size_t)arrow_whole(&clusters, "row", i);
        const size_t of = (size_t)arrow_whole(&clusters, "representative", i);
        CHECK(row < given->rows && of < given->rows && !listed[row] && kept[of]);
        CHECK((bits[i / 8] >> i % 8 & 1) == kept[row] && kept[row] == (row == of));
        listed[row] = true;
        if (row != of && grouping == COG_GROUP_REPRESENTATIVE)
            CHECK(arrow_real(&clusters, "similarity", i) == similarity_of(given, row, of));
    }
    for (size_t row = 0; row < given->rows; row++) {
        bool has_pair = false;
        for (size_t other = 0; other < given->rows; other++)
            has_pair |= other != row && similarity_of(given, row, other) >= 0;
        CHECK(listed[row] || kept[row]);
        CHECK(has_pair || !listed[row]);
    }
    arrow_result_free(&clusters);
}

TEST(random_clusters_are_those_of_brute_force) {
    struct random random = random_seeded(21);
    for (uint64_t round = 0; round < random_rounds(300); round++) {
        static const int64_t outside[] = {-1, ROWS, INT64_MAX, INT64_MIN, UINT32_MAX};
        struct given given;
        struct ArrowArrayStream stream;
        draw_pairs(&given, &random);
        compare_clusters(&given, COG_GROUP_REPRESENTATIVE);
        compare_clusters(&given, COG_GROUP_CONNECTED);
        if (!given.count)
            continue;
        given.b[random_number(&random, given.count)] = outside[random_number(&random, 5)];
        CHECK(cog_clusters_of_pairs(given.rows, given.a, given.b, NULL, given.count, NULL,
                                    COG_GROUP_CONNECTED, &stream, NULL) == COG_ERR_USAGE);
    }
}

TEST(clusters_refuse_similarities_that_are_no_numbers) {
    static const int64_t a[] = {0, 1}, b[] = {1, 2};
    static const double similarities[] = {1, NAN};
    struct ArrowArrayStream stream;
    cog_error error = {0};
    CHECK(cog_clusters_of_pairs(3, a, b, similarities, 2, NULL, COG_GROUP_CONNECTED, &stream,
                                &error) == COG_ERR_USAGE);
    CHECK_MSG(strstr(error.message, "pair 1"), "%s", error.message);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

enum { SIGNED = 16, BITS = 256 };

struct signed_rows {
    uint8_t bytes[SIGNED][BITS / 8];
    float margins[SIGNED][BITS];
    uint32_t terms[SIGNED];
    size_t with_terms;
};

static void draw_rows(struct signed_rows *rows, struct random *random) {
    rows->with_terms = 0;
    for (size_t row = 0; row < SIGNED; row++) {
        for (size_t bit = 0; bit < BITS; bit++) {
            const float margin = (float)random_unit(random) - 0.5F;
            const unsigned mask = 0x80U >> bit % 8;
            rows->margins[row][bit] = margin;
            rows->bytes[row][bit / 8] =
                (uint8_t)((rows->bytes[row][bit / 8] & ~mask) | (margin > 0 ? mask : 0));
        }
        if (row && random_one_in(random, 3)) {
            memcpy(rows->bytes[row], rows->bytes[row - 1], sizeof rows->bytes[row]);
            memcpy(rows->margins[row], rows->margins[row - 1], sizeof rows->margins[row]);
        }
        rows->terms[row] = (uint32_t)random_number(random, 4);
        rows->with_terms += rows->terms[row] > 0;
    }
}

static void draw_plan(cog_key_plan *plan, struct random *random) {
    static const unsigned counts[] = {0, 1, 2, 4, 8, 16, 64, 65, 1 << 20, UINT32_MAX};
    *plan = (cog_key_plan){.tables = 1 + (unsigned)random_number(random, 4)};
    if (random_one_in(random, 2)) {
        plan->band_values = 1 + (unsigned)random_number(random, 4);
        plan->value_bits = 8;
    } else {
        plan->key_bits = 2 * (unsigned)(1 + random_number(random, 8));
        plan->flips = (unsigned)random_number(random, 3);
        plan->flip_mode = (cog_flip_mode)random_number(random, COG_FLIP_ACROSS + 1);
    }
    switch (random_number(random, 10)) {
    case 0:
        plan->tables = counts[random_number(random, 10)];
        break;
    case 1:
        plan->key_bits = counts[random_number(random, 10)];
        break;
    case 2:
        plan->flips = counts[random_number(random, 10)];
        break;
    case 3:
        plan->band_values = counts[random_number(random, 10)];
        break;
    case 4:
        plan->value_bits = counts[random_number(random, 10)];
        break;
    default:
        break;
    }
}

/* Rows with terms have a key in every table, rows that are equal the same keys, and a band's key is
 * equal only if its values are. */
static void check_keys(const struct signed_rows *rows, const cog_key_plan *plan, bool flipped,
                       const struct arrow_result *keys) {
    const size_t count = (size_t)keys->array.length;
    const bool across = plan->flip_mode == COG_FLIP_ACROSS && plan->key_bits;
    const size_t per_table = 1 + (flipped && plan->key_bits && plan->flip_mode ? plan->flips : 0);
    if (!across)
        CHECK(count == rows->with_terms * plan->tables * per_table);
    const int64_t *row = arrow_column_named(keys, "row")->buffers[1];
    const int64_t *key = arrow_column_named(keys, "key")->buffers[1];
    const int32_t *table = arrow_column_named(keys, "table")->buffers[1];
    for (size_t i = 0; i < count; i++) {
        CHECK(row[i] >= 0 && row[i] < SIGNED && rows->terms[row[i]]);
        CHECK(table[i] >= 0 && (unsigned)table[i] < plan->tables);
        for (size_t j = 0; j < i && per_table == 1 && !across; j++) {
            if (table[i] != table[j])
                continue;
            const uint8_t *a = rows->bytes[row[i]], *b = rows->bytes[row[j]];
            if (memcmp(a, b, BITS / 8) == 0)
                CHECK(key[i] == key[j]);
            const size_t bytes = plan->band_values; /* of 8 bits */
            if (plan->band_values && plan->value_bits == 8)
                CHECK((key[i] == key[j]) == (memcmp(a + (size_t)table[i] * bytes,
                                                    b + (size_t)table[i] * bytes, bytes) == 0));
        }
    }
}

TEST(random_plans_give_keys_or_are_refused) {
    static struct signed_rows rows;
    struct random random = random_seeded(22);
    size_t answered = 0;
    for (uint64_t round = 0; round < random_rounds(300); round++) {
        cog_signatures *signatures = NULL;
        cog_key_plan plan;
        struct ArrowArrayStream stream;
        struct arrow_result keys;
        cog_error wrong = {0};
        const bool flipped = random_one_in(&random, 2), with_margins = !random_one_in(&random, 4);
        draw_rows(&rows, &random);
        draw_plan(&plan, &random);
        CHECK_OK(cog_signatures_from_memory(rows.bytes[0], SIGNED, BITS, &signatures, error));
        const cog_status status = cog_table_keys(signatures, with_margins ? rows.margins[0] : NULL,
                                                 rows.terms, &plan, flipped, NULL, &stream, &wrong);
        cog_signatures_free(signatures);
        CHECK_MSG(status == COG_OK || (status == COG_ERR_USAGE && wrong.message[0]), "%d %s",
                  status, wrong.message);
        if (status != COG_OK)
            continue;
        answered++;
        CHECK(arrow_result_read(&stream, &keys));
        check_keys(&rows, &plan, flipped, &keys);
        arrow_result_free(&keys);
    }
    CHECK(answered > random_rounds(300) / 4);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* A few bytes change, or the end is missing. */
static size_t damage(uint8_t *bytes, size_t size, struct random *random) {
    if (random_one_in(random, 4))
        return random_number(random, size);
    for (size_t i = 0; i < 1 + random_number(random, 3); i++)
        bytes[random_number(random, size)] ^= (uint8_t)(1 + random_number(random, 255));
    return size;
}

TEST(random_damage_of_bytes_is_found) {
    static struct random_documents documents;
    struct random random = random_seeded(23);
    cog_term_options terms;
    cog_statistics *statistics = NULL;
    cog_lexicon *lexicon = NULL;
    uint8_t *bytes[2] = {NULL};
    size_t sizes[2];
    cog_term_options_init(&terms);
    CHECK_OK(random_documents_open(&documents, &random, error));
    CHECK_OK(cog_statistics_collect(documents.forms[0], &terms, NULL, &statistics, NULL, error));
    CHECK_OK(cog_statistics_to_bytes(statistics, &bytes[0], &sizes[0], error));
    CHECK_OK(two_languages_train(20, &lexicon, error));
    CHECK_OK(cog_lexicon_to_bytes(lexicon, &bytes[1], &sizes[1], error));
    cog_statistics_free(statistics);
    cog_lexicon_free(lexicon);
    statistics = NULL;
    lexicon = NULL;
    for (uint64_t round = 0; round < random_rounds(300); round++) {
        const int which = (int)random_number(&random, 2);
        uint8_t *changed = malloc(sizes[which]);
        memcpy(changed, bytes[which], sizes[which]);
        const size_t size = damage(changed, sizes[which], &random);
        const cog_status status =
            which ? cog_lexicon_from_bytes(changed, size, &lexicon, NULL)
                  : cog_statistics_from_bytes(changed, size, NULL, &statistics, NULL);
        const bool same = size == sizes[which] && memcmp(changed, bytes[which], size) == 0;
        free(changed);
        CHECK(same || (status == COG_ERR_FORMAT && !lexicon && !statistics));
        cog_statistics_free(statistics);
        cog_lexicon_free(lexicon);
        statistics = NULL;
        lexicon = NULL;
    }
    cog_free(bytes[0]);
    cog_free(bytes[1]);
    random_documents_close(&documents);
}
