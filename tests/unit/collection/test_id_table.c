#include "collection/corpus.h"
#include "test.h"

enum { IDS = 5000, ID_BYTES = 8 };

static struct bytes_view id_at(const void *context, uint32_t row) {
    const char *id = (const char *)context + row * (size_t)ID_BYTES;
    return view_of_text(id);
}

TEST(id_table_finds_what_was_added) {
    static char ids[2 * IDS][ID_BYTES];
    struct id_table *table = NULL;
    bool added = false;
    uint32_t row = 0;
    CHECK_OK(id_table_create(&table, error));
    for (uint32_t i = 0; i < 2 * IDS; i++)
        snprintf(ids[i], ID_BYTES, "%u", i);
    for (uint32_t i = 0; i < IDS; i++) {
        CHECK(!id_table_find(table, id_at(ids, i), id_at, ids, &row));
        CHECK_OK(id_table_add(table, id_at(ids, i), i, id_at, ids, &added, &row, error));
        CHECK(added);
    }
    for (uint32_t i = 0; i < 2 * IDS; i++)
        CHECK(id_table_find(table, id_at(ids, i), id_at, ids, &row) == (i < IDS) &&
              (i >= IDS || row == i));
    CHECK_OK(id_table_add(table, id_at(ids, 7), IDS, id_at, ids, &added, &row, error));
    CHECK(!added && row == 7);
    id_table_free(table);
}
