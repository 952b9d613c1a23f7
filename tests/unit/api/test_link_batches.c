/* The public steps of a spread link: together they give the links of one call, and they refuse what
 * does not fit. python/tests/test_link_batch.py runs them on parts. */
#include <cognate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "test.h"
#include "two_languages.h"

enum { TEXTS = 60, WORDS = 12, VOCABULARY = 200, TEXT_BYTES = WORDS * 12 };

struct bilingual {
    char texts[2][TEXTS][TEXT_BYTES];
    cog_document items[2][TEXTS];
    cog_documents *documents[2];
    cog_lexicon *lexicon;
};

/* Words above the vocabulary are in no lexicon. */
static void make_texts(struct bilingual *collection) {
    struct random random = random_seeded(8);
    for (int t = 0; t < TEXTS; t++) {
        int at[2] = {0, 0};
        for (int w = 0; w < WORDS; w++) {
            int word = (int)random_below(&random, VOCABULARY + 20);
            const char *formats[2] = {word < VOCABULARY ? "fq%dx " : "name%d ",
                                      word < VOCABULARY ? "tz%dy " : "name%d "};
            for (int side = 0; side < 2; side++)
                at[side] += snprintf(collection->texts[side][t] + at[side],
                                     TEXT_BYTES - (size_t)at[side], formats[side], word);
        }
    }
    collection->texts[0][7][0] = 0; /* a document without terms */
}

static cog_status open_collection(struct bilingual *collection, cog_error *error) {
    make_texts(collection);
    TRY(two_languages_train(VOCABULARY, &collection->lexicon, error));
    for (int side = 0; side < 2; side++)
        TRY(two_languages_read(collection->texts[side][0], TEXT_BYTES, TEXTS,
                               collection->items[side], &collection->documents[side], error));
    return COG_OK;
}

static void close_collection(struct bilingual *collection) {
    cog_documents_close(collection->documents[0]);
    cog_documents_close(collection->documents[1]);
    cog_lexicon_free(collection->lexicon);
}

static const int64_t none[] = {0};

/* The first array of a stream, which ends. */
static void take_array(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    CHECK(stream->get_next(stream, array) == 0 && array->release);
    stream->release(stream);
}

/* A column of lists of int64 as rows, with offsets of 8 bytes. */
static cog_number_rows rows_of(const struct ArrowArray *column, int64_t *offsets) {
    const int32_t *narrow = column->buffers[1];
    for (int64_t i = 0; i <= column->length; i++)
        offsets[i] = column->length ? narrow[i] : 0;
    return (cog_number_rows){offsets, column->children[0]->buffers[1], (size_t)column->length};
}

struct side {
    cog_link_terms terms;
    struct ArrowArray rows, words, vectors;
    double lengths[TEXTS];
    int64_t term_offsets[TEXTS + 1], vector_offsets[TEXTS + 1], hit_offsets[TEXTS + 1];
    cog_number_rows term_rows, vector_rows;
    cog_link_side known;
    struct ArrowArray hits;
};

static void read_side(struct side *side, const struct bilingual *collection, int number) {
    CHECK_OK(cog_link_terms_read(collection->documents[number], collection->lexicon, number, NULL,
                                 &side->terms, NULL, error));
    take_array(&side->terms.rows, &side->rows);
    take_array(&side->terms.words, &side->words);
    CHECK(side->rows.length == TEXTS && (side->words.length > 10) == (number == 0));
    side->term_rows = rows_of(side->rows.children[1], side->term_offsets);
    side->known = (cog_link_side){.statistics = side->terms.statistics};
    memcpy(side->known.languages, side->terms.languages, sizeof side->terms.languages);
    if (side->words.length) {
        side->known.word_offsets = side->words.children[0]->buffers[1];
        side->known.words = side->words.children[0]->buffers[2];
        side->known.word_count = (size_t)side->words.length;
    }
}

static void make_vectors(struct side *side, cog_link_projector *projector, int number) {
    double sum = 0;
    CHECK_OK(cog_link_lengths(projector, number, &side->term_rows, side->lengths, error));
    for (int i = 0; i < TEXTS; i++)
        sum += side->lengths[i];
    struct ArrowArrayStream stream;
    CHECK_OK(cog_link_vectors(projector, number, &side->term_rows, sum / TEXTS, &stream, error));
    take_array(&stream, &side->vectors);
    side->vector_rows = rows_of(side->vectors.children[0], side->vector_offsets);
}

static void find_nearest(struct side *side, const struct side *other, int number,
                         const cog_link_options *options, cog_link_neighbours *neighbours) {
    struct ArrowArrayStream stream;
    CHECK_OK(cog_link_nearest(&side->vector_rows, &other->vector_rows, number, options, NULL,
                              &stream, error));
    take_array(&stream, &side->hits);
    const int64_t *queries = side->hits.children[0]->buffers[1];
    memset(side->hit_offsets, 0, sizeof side->hit_offsets);
    for (int64_t i = 0; i < side->hits.length; i++)
        side->hit_offsets[queries[i] + 1] = i + 1;
    for (int row = 0; row < TEXTS; row++)
        if (side->hit_offsets[row + 1] == 0)
            side->hit_offsets[row + 1] = side->hit_offsets[row];
    *neighbours = (cog_link_neighbours){TEXTS,
                                        side->lengths,
                                        side->hit_offsets,
                                        side->hits.children[1]->buffers[1],
                                        side->hits.children[3]->buffers[1],
                                        0};
}

static void release_side(struct side *side) {
    struct ArrowArray *arrays[] = {&side->rows, &side->words, &side->vectors, &side->hits};
    for (size_t i = 0; i < 4; i++)
        if (arrays[i]->release)
            arrays[i]->release(arrays[i]);
    cog_statistics_free(side->terms.statistics);
}

static void check_links(const struct ArrowArray *steps, const cog_links *whole) {
    const int64_t *from = steps->children[0]->buffers[1], *to = steps->children[1]->buffers[1];
    const double *scores = steps->children[3]->buffers[1];
    const double *probabilities = steps->children[4]->buffers[1];
    CHECK((size_t)steps->length == cog_links_count(whole) && steps->length > TEXTS / 2);
    for (int64_t i = 0; i < steps->length; i++) {
        cog_link_item item = cog_links_item(whole, (size_t)i);
        CHECK(from[i] == item.from_row && to[i] == item.to_row && scores[i] == item.score &&
              probabilities[i] == item.probability);
    }
}

TEST(link_batches_give_the_links_of_one_call) {
    static struct bilingual collection;
    static struct side sides[2];
    cog_link_options options;
    cog_links *whole = NULL;
    cog_link_projector *projector = NULL;
    cog_link_neighbours from = {0}, to = {0};
    struct ArrowArrayStream stream;
    CHECK_OK(open_collection(&collection, error));
    cog_link_options_init(&options);
    options.method = COG_METHOD_EXACT;
    options.one_to_one = true;
    for (int side = 0; side < 2; side++)
        read_side(&sides[side], &collection, side);
    CHECK_OK(cog_link_projector_create(collection.lexicon, &sides[0].known, &sides[1].known,
                                       &options.projection, NULL, &projector, NULL, error));
    for (int side = 0; side < 2; side++)
        make_vectors(&sides[side], projector, side);
    find_nearest(&sides[0], &sides[1], 0, &options, &from);
    find_nearest(&sides[1], &sides[0], 1, &options, &to);
    CHECK_OK(cog_link_decide(&from, &to, &options, NULL, &stream, NULL, error));
    struct ArrowArray links = {0};
    take_array(&stream, &links);
    CHECK_OK(cog_link(collection.documents[0], collection.documents[1], collection.lexicon,
                      &options, NULL, &whole, NULL, error));
    check_links(&links, whole);
    links.release(&links);
    cog_links_free(whole);
    cog_link_projector_free(projector);
    release_side(&sides[0]);
    release_side(&sides[1]);
    close_collection(&collection);
}

TEST(posting_lists_refuse_what_does_not_fit) {
    static const int64_t offsets[] = {0, 1}, entry[] = {5ll << 32};
    static const uint32_t frequencies[8] = {0};
    static const uint64_t tally[COG_LINK_LISTS_TALLY];
    const cog_number_rows row = {offsets, entry, 1};
    const cog_link_neighbours nothing = {0};
    uint64_t found[COG_LINK_LISTS_TALLY];
    struct ArrowArrayStream stream;
    double budget = 1, beyond;
    int64_t kept;
    cog_link_options options;
    cog_link_lists lists = {.frequencies = frequencies, .column_count = 8};
    cog_error failure;
    cog_link_options_init(&options);
    options.method = COG_METHOD_LISTS;
    CHECK(cog_link_lists_propose(&row, &row, &lists, 1, &options, &stream, &failure) ==
          COG_ERR_USAGE); /* no blocks */
    lists.block_count = 1;
    CHECK(cog_link_lists_propose(&row, &row, &lists, 1, &options, &stream, &failure) ==
          COG_ERR_USAGE);
    CHECK(strstr(failure.message, "column 5 is in the block"));
    CHECK(cog_link_lists_propose(&row, &row, &lists, 0, &options, &stream, &failure) ==
          COG_ERR_USAGE);
    CHECK(cog_link_lists_try(&row, &row, 0, &nothing, &lists, &options, found, &failure) ==
          COG_ERR_USAGE);
    CHECK(cog_link_lists_keep(NULL, NULL, offsets, 1, NULL, &lists, &options, &kept, &failure) ==
          COG_ERR_USAGE);
    CHECK_OK(cog_link_lists_plan(&nothing, tally, &options, &budget, &beyond, error));
    CHECK(budget == 4096 && beyond == (double)(float)0.35);
    options.method = COG_METHOD_FLAT;
    CHECK(cog_link_lists_plan(&nothing, tally, &options, &budget, &beyond, &failure) ==
          COG_ERR_USAGE);
    CHECK(cog_link_block_rows(NULL, 3, 0) == 0);
}

TEST(link_batches_refuse_what_does_not_fit) {
    const cog_number_rows empty = {none, NULL, 0};
    const int64_t falling[] = {0, 2, 1}, offsets[] = {0, 2}, before[] = {-1, 2};
    const int64_t twice[] = {5ll << 32, 5ll << 32}, far[] = {7, 8};
    const double similarities[] = {0.5, 0.4};
    struct ArrowArrayStream stream;
    cog_link_options options;
    cog_link_plan plan;
    cog_error failure;
    cog_link_options_init(&options);
    CHECK(cog_link_plan_of(&options, &plan, &failure) == COG_ERR_USAGE); /* auto */
    options.method = COG_METHOD_FLAT;
    CHECK_OK(cog_link_plan_of(&options, &plan, error));
    CHECK(plan.neighbours[0] == 30 && plan.proposals[1] == 128);
    const cog_number_rows wrong[] = {
        {falling, twice, 2}, {offsets, twice, 1}, {before, twice, 1}, {offsets, NULL, 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(cog_link_nearest(&wrong[i], &empty, 0, &options, NULL, &stream, &failure) ==
              COG_ERR_USAGE);
    CHECK(cog_link_nearest(&empty, &empty, 2, &options, NULL, &stream, &failure) == COG_ERR_USAGE);
    const cog_link_neighbours one = {1, similarities, offsets, far, similarities, 0};
    CHECK(cog_link_decide(&one, &(cog_link_neighbours){0}, &options, NULL, &stream, NULL,
                          &failure) == COG_ERR_USAGE);
    CHECK(cog_link_decide(&one, NULL, &options, NULL, &stream, NULL, &failure) == COG_ERR_USAGE);
    double cosine;
    CHECK(cog_link_cosines(&empty, &empty, far, far, 1, NULL, &cosine, &failure) == COG_ERR_USAGE);
    CHECK(cog_link_sign(&wrong[0], &options, NULL, NULL, &failure) == COG_ERR_USAGE);
    CHECK(cog_link_radius(NULL, 1, &options, NULL, &cosine, &failure) == COG_ERR_USAGE);
    options.method = COG_METHOD_WINDOW;
    CHECK(cog_link_nearest(&empty, &empty, 0, &options, NULL, &stream, &failure) == COG_ERR_USAGE);
    CHECK(cog_link_lengths(NULL, 0, &empty, NULL, &failure) == COG_ERR_USAGE);
    CHECK(cog_link_terms_read(NULL, NULL, 0, NULL, NULL, NULL, &failure) == COG_ERR_USAGE);
}
