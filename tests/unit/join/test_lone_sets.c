#include "join/sets/lone_sets.h"

#include "../vector/set_data.h"
#include "test.h"

/* Every third document is a changed copy of the one before. Documents after them have members of
 * their own, and a few that many have. */
static struct set_data documents_with_copies(uint64_t seed, size_t rows) {
    enum { MOST = 400 };
    uint64_t members[MOST], words[20], frequent[50];
    struct random random = random_seeded(seed);
    struct set_data data = {0};
    size_t count = 0;
    for (size_t i = 0; i < 50; i++)
        frequent[i] = member_of_hash(random_next(&random));
    for (size_t row = 0; row < rows; row++) {
        const size_t word_count = row % 7 == 0 ? 1 + random_below(&random, 20) : 0;
        if (row % 3 != 2 || count == 0) {
            count = random_below(&random, 10) == 0 ? random_below(&random, 8)
                                                   : random_below(&random, MOST);
            for (size_t i = 0; i < count; i++)
                members[i] = random_below(&random, 3) == 0 ? frequent[random_below(&random, 50)]
                                                           : member_of_hash(random_next(&random));
        } else {
            for (size_t changes = random_below(&random, count / 8 + 1); changes > 0; changes--)
                members[random_below(&random, count)] = member_of_hash(random_next(&random));
        }
        for (size_t i = 0; i < word_count; i++)
            words[i] = frequent[random_below(&random, 50)];
        set_data_add(&data, members, count, words, word_count);
    }
    set_data_write(&data);
    return data;
}

static double similarity_of(const struct set_data *data, size_t a, size_t b,
                            const struct set_measure *measure) {
    const struct set_document *x = &data->documents[a], *y = &data->documents[b];
    if (x->term_count && y->term_count)
        return set_similarity(
            measure, x->term_count, y->term_count,
            member_set_overlap(x->terms, x->term_count, y->terms, y->term_count, 0));
    return set_similarity(measure, x->word_count, y->word_count,
                          member_set_overlap(x->words, x->word_count, y->words, y->word_count, 0));
}

static bool has_partner(const struct set_data *data, size_t row, const uint8_t *marks,
                        const struct set_measure *measure) {
    for (size_t other = 0; other < data->count; other++)
        if (other != row && marks[other] &&
            similarity_of(data, row, other, measure) >= measure->threshold)
            return true;
    return false;
}

static uint64_t all_members(const struct set_data *data) {
    uint64_t members = 0;
    for (size_t row = 0; row < data->count; row++)
        members += data->documents[row].term_count + data->documents[row].word_count;
    return members;
}

TEST(lone_sets_never_unmarks_a_document_with_a_partner) {
    enum { ROWS = 400 };
    struct set_data data = documents_with_copies(11, ROWS);
    for (unsigned threads = 1; threads <= 5; threads += 2)
        for (unsigned percent = 70; percent <= 100; percent += 10) {
            const struct set_measure measure = {false, percent / 100.0};
            uint8_t before[ROWS], marks[ROWS];
            uint64_t taken = 0;
            size_t unmarked = 0;
            for (size_t row = 0; row < ROWS; row++)
                before[row] = marks[row] = row % 11 != 0;
            CHECK_OK(lone_sets_unmark(&data.file, all_members(&data), &measure, 1 << 30, threads,
                                      marks, &taken, error));
            for (size_t row = 0; row < ROWS; row++) {
                CHECK_MSG(marks[row] == before[row] ||
                              (before[row] && !has_partner(&data, row, before, &measure)),
                          "row %zu at %g", row, measure.threshold);
                unmarked += before[row] && !marks[row];
            }
            CHECK_MSG(unmarked > ROWS / 4, "%zu at %g", unmarked, measure.threshold);
            CHECK(taken > 0);
        }
    set_data_free(&data);
}

/* Tables of their own for one and for three threads, a shared one for 16. */
TEST(lone_sets_do_not_depend_on_the_number_of_threads) {
    enum { ROWS = 1000 };
    struct set_data data = documents_with_copies(13, ROWS);
    const struct set_measure measure = {false, 0.8};
    const unsigned threads[] = {1, 3, 16};
    uint64_t taken[3];
    uint8_t marks[3][ROWS];
    memset(marks, 1, sizeof marks);
    for (size_t i = 0; i < 3; i++)
        CHECK_OK(lone_sets_unmark(&data.file, all_members(&data), &measure, 1 << 30, threads[i],
                                  marks[i], &taken[i], error));
    CHECK(taken[1] > 2 * taken[0] && taken[2] == taken[0]);
    CHECK(memcmp(marks[1], marks[0], ROWS) == 0 && memcmp(marks[2], marks[0], ROWS) == 0);
    set_data_free(&data);
}

TEST(lone_sets_leaves_what_does_not_pay) {
    enum { ROWS = 60 };
    struct set_data data = documents_with_copies(12, ROWS);
    const struct set_measure measures[] = {{true, 0.9}, {false, 0.5}, {false, 0.9}};
    for (size_t i = 0; i < 3; i++) {
        /* The last one would, but its table is too large. */
        const uint64_t members = i < 2 ? all_members(&data) : (uint64_t)1 << 40;
        uint8_t marks[ROWS];
        uint64_t taken = 1;
        memset(marks, 1, sizeof marks);
        CHECK_OK(
            lone_sets_unmark(&data.file, members, &measures[i], 1 << 20, 1, marks, &taken, error));
        for (size_t row = 0; row < ROWS; row++)
            CHECK(marks[row] == 1);
        CHECK(taken == 0);
    }
    set_data_free(&data);
}
