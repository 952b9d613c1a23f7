/* Bags in a scratch file come back as they were, from the beginning and from any document on. */
#include "base/hash.h"
#include "collection/bag_spool.h"
#include "test.h"

enum { DOCUMENTS = 1000, TERMS_MAX = 60, BATCH = 7 };

/* Document i, which follows from its number: empty, with weights, with a frequency that takes more
 * than a byte. */
struct made_bag {
    uint64_t hashes[TERMS_MAX];
    uint32_t frequencies[TERMS_MAX];
    float weights[TERMS_MAX];
    char id[16];
    struct bag_view view;
};

static void make_bag(struct made_bag *made, size_t i) {
    struct random random = random_seeded(i);
    const size_t count = i % 9 == 0 ? 0 : random_below(&random, TERMS_MAX);
    for (size_t t = 0; t < count; t++) {
        made->hashes[t] = random_next(&random);
        made->frequencies[t] = (uint32_t)random_below(&random, i % 5 == 0 ? 100000 : 256);
        made->weights[t] = (float)random_unit(&random);
    }
    snprintf(made->id, sizeof made->id, "%zu", i * i);
    made->view = (struct bag_view){made->hashes, made->frequencies, count, count * 3 + i,
                                   i % 7 == 3 ? made->weights : NULL};
}

static bool bag_is(const struct bag_view *bag, struct bytes_view id, const struct made_bag *made) {
    const struct bag_view *view = &made->view;
    return bag->count == view->count && bag->length == view->length &&
           (bag->weights != NULL) == (view->weights != NULL) &&
           view_equals(id, view_of_text(made->id)) &&
           memcmp(bag->hashes, view->hashes, view->count * sizeof *view->hashes) == 0 &&
           memcmp(bag->frequencies, view->frequencies, view->count * sizeof *view->frequencies) ==
               0 &&
           (!bag->weights ||
            memcmp(bag->weights, view->weights, view->count * sizeof *view->weights) == 0);
}

/* Checks what the spool reads from document `row` on; returns the number after the last. */
static size_t read_from(struct bag_spool *spool, size_t row) {
    struct buffer batch = {0};
    struct made_bag made;
    for (bool end = false; !end;) {
        if (bag_spool_read(spool, &batch, &end, NULL) != COG_OK)
            break;
        for (size_t at = 0; at < batch.size; row++) {
            struct bytes_view id;
            struct bag_view bag;
            bag_spool_decode(&batch, &at, &id, &bag);
            make_bag(&made, row);
            if (!bag_is(&bag, id, &made)) {
                buffer_free(&batch);
                return 0;
            }
        }
    }
    buffer_free(&batch);
    return row;
}

TEST(bag_spool_gives_back_what_it_was_given) {
    struct bag_spool *spool = NULL;
    struct buffer batch = {0};
    struct made_bag made;
    CHECK_OK(bag_spool_create("-", &spool, error));
    for (size_t i = 0; i < DOCUMENTS; i++) {
        make_bag(&made, i);
        CHECK(bag_spool_encode(&batch, view_of_text(made.id), &made.view));
        if (i % BATCH == BATCH - 1 || i + 1 == DOCUMENTS) {
            bag_spool_write(spool, &batch);
            buffer_reset(&batch);
        }
    }
    CHECK(bag_spool_is_complete(spool) && bag_spool_size_bytes(spool) > 0);
    bag_spool_rewind(spool);
    CHECK(read_from(spool, 0) == DOCUMENTS);
    for (size_t row = 0; row < DOCUMENTS; row += 13) {
        size_t first = bag_spool_seek(spool, row);
        CHECK(first == row / BATCH * BATCH);
        CHECK(read_from(spool, first) == DOCUMENTS);
    }
    buffer_free(&batch);
    bag_spool_free(spool);
}
