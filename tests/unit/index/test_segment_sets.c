/* Sets of a damaged segment. */
#include "index/segment_sets.h"
#include "test.h"

/* The two sizes add up to 0 in 32 bits, as if the row were a text without terms. */
TEST(segment_sets_of_sizes_that_wrap_are_damaged) {
    struct set_row row = {0, UINT32_C(1) << 31, UINT32_C(1) << 31};
    const struct segment_sets sets = {.rows = &row, .size_bytes = UINT64_C(1) << 32};
    struct bytes_view record;
    CHECK(!segment_sets_record(&sets, 0, &record));
}
