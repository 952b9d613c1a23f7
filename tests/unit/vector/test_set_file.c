#include "vector/set_file.h"

#include <unistd.h>

#include "set_data.h"
#include "test.h"

/* Sets of all sizes; a few rows of half a MiB, so that a cursor reads several times. */
static struct set_data random_file(uint64_t seed, size_t rows) {
    static uint64_t members[120100];
    struct random random = random_seeded(seed);
    struct set_data data = {0};
    for (size_t row = 0; row < rows; row++) {
        const uint64_t kind = random_below(&random, 40);
        const size_t terms = kind == 0   ? 60000 + random_below(&random, 60000)
                             : kind < 10 ? 0
                                         : random_below(&random, 600);
        const size_t words = kind < 20 ? random_below(&random, 21) : 0;
        for (size_t i = 0; i < terms + words; i++)
            members[i] = member_of_hash(random_next(&random));
        set_data_add(&data, members, terms, members + terms, words);
    }
    set_data_write(&data);
    return data;
}

static bool is_document(const struct loaded_sets *sets, const struct set_document *document) {
    return sets->term_count == document->term_count && sets->word_count == document->word_count &&
           (!sets->term_count ||
            memcmp(sets->terms, document->terms, sets->term_count * sizeof *sets->terms) == 0) &&
           (!sets->word_count ||
            memcmp(sets->words, document->words, sets->word_count * sizeof *sets->words) == 0);
}

TEST(set_file_loads_rows_in_any_order) {
    struct set_data data = random_file(1, 300);
    struct random random = random_seeded(2);
    struct loaded_sets sets = {0};
    for (size_t i = 0; i < 600; i++) {
        const size_t row = i < 2 ? (data.count - 1) * i : random_below(&random, data.count);
        CHECK_OK(set_file_load(&data.file, row, &sets, error));
        CHECK_MSG(is_document(&sets, &data.documents[row]), "row %zu", row);
    }
    loaded_sets_free(&sets);
    set_data_free(&data);
}

TEST(set_file_cursor_and_single_loads_agree) {
    struct set_data data = random_file(3, 400);
    const size_t ranges[][2] = {{0, 400}, {0, 0}, {399, 400}, {7, 300}, {400, 400}, {120, 121}};
    CHECK(data.file.size_bytes > (uint64_t)3 << 20);
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        struct set_cursor cursor = {.next = ranges[r][0], .end = ranges[r][1]};
        const struct loaded_sets *sets;
        for (size_t row = ranges[r][0]; row < ranges[r][1]; row++) {
            CHECK_OK(set_cursor_next(&cursor, &data.file, &sets, error));
            CHECK_MSG(sets && is_document(sets, &data.documents[row]), "row %zu", row);
        }
        CHECK_OK(set_cursor_next(&cursor, &data.file, &sets, error));
        CHECK(sets == NULL);
        /* The same cursor again, from a row that it has in memory and from one that it has not. */
        for (size_t row = ranges[r][0]; row < ranges[r][1]; row += 37) {
            cursor.next = row;
            CHECK_OK(set_cursor_next(&cursor, &data.file, &sets, error));
            CHECK_MSG(sets && is_document(sets, &data.documents[row]), "row %zu again", row);
        }
        set_cursor_free(&cursor);
    }
    set_data_free(&data);
}

/* The members below a bound are the first ones of a document's sets. */
static bool is_beginning(const uint64_t *part, size_t part_count, const uint64_t *whole,
                         size_t whole_count, uint64_t below) {
    size_t count = 0;
    while (count < whole_count && whole[count] < below)
        count++;
    return part_count == count && (count == 0 || memcmp(part, whole, count * sizeof *part) == 0);
}

TEST(set_file_cursor_takes_marked_rows_and_shares_of_members) {
    struct set_data data = random_file(6, 300);
    uint8_t marks[300];
    for (size_t row = 0; row < 300; row++)
        marks[row] = row % 5 == 0 || (row > 100 && row < 160);
    for (unsigned share = 0; share <= MEMBER_SHARES; share += 32) {
        const uint64_t below = (uint64_t)(share ? share : MEMBER_SHARES) << 40;
        struct set_cursor cursor = {.next = 1, .end = 300, .marks = marks, .share = share};
        const struct loaded_sets *sets;
        for (size_t row = 1; row < 300; row++) {
            const struct set_document *document = &data.documents[row];
            if (!marks[row])
                continue;
            CHECK_OK(set_cursor_next(&cursor, &data.file, &sets, error));
            CHECK(sets && cursor.next == row + 1);
            CHECK_MSG(is_beginning(sets->terms, sets->term_count, document->terms,
                                   document->term_count, below) &&
                          is_beginning(sets->words, sets->word_count, document->words,
                                       document->word_count, below),
                      "row %zu, share %u", row, share);
        }
        CHECK_OK(set_cursor_next(&cursor, &data.file, &sets, error));
        CHECK(sets == NULL);
        set_cursor_free(&cursor);
    }
    set_data_free(&data);
}

TEST(set_file_has_the_ids) {
    struct set_data data = random_file(4, 100);
    struct buffer id = {0}, expected = {0};
    for (size_t row = 0; row < data.count; row++) {
        buffer_reset(&id);
        buffer_reset(&expected);
        CHECK(buffer_append_text(&id, "before ") && buffer_append_text(&expected, "before "));
        CHECK_OK(set_file_id(&data.file, row, &id, error));
        set_data_id(row, &expected);
        CHECK(view_equals(view_of(id.data, id.size), view_of(expected.data, expected.size)));
    }
    buffer_free(&id);
    buffer_free(&expected);
    set_data_free(&data);
}

TEST(set_file_that_is_too_short_is_an_error) {
    struct set_data data = random_file(5, 50);
    struct loaded_sets sets = {0};
    struct set_cursor cursor = {.next = 0, .end = data.count};
    const struct loaded_sets *next = NULL;
    struct buffer id = {0};
    size_t row = data.count - 1;
    cog_status status = COG_OK;
    while (data.documents[row].term_count == 0 || row % 5 == 0)
        row--;
    CHECK(ftruncate(data.file.descriptor, (off_t)data.rows[row].offset + 3) == 0);
    CHECK(set_file_load(&data.file, row, &sets, NULL) == COG_ERR_IO);
    CHECK(set_file_id(&data.file, row, &id, NULL) == COG_ERR_IO);
    while (status == COG_OK && cursor.next < data.count)
        status = set_cursor_next(&cursor, &data.file, &next, NULL);
    CHECK(status == COG_ERR_IO);
    buffer_free(&id);
    loaded_sets_free(&sets);
    set_cursor_free(&cursor);
    set_data_free(&data);
}
