/* Pairs with short documents, of every method, against the Jaccard coefficients of all pairs. */
#include "base/hash.h"
#include "cognate.h"
#include "test.h"

enum { DOCUMENTS = 250, WORDS_MAX = 8, VOCABULARY = 30, SHORT_TERMS = 5 };

struct short_world {
    uint32_t terms[DOCUMENTS]; /* a bit for each word */
    char texts[DOCUMENTS][WORDS_MAX * 8];
    cog_document items[DOCUMENTS];
};

static void make_world(struct short_world *world, uint64_t seed) {
    struct random random = random_seeded(seed);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        size_t words = random_below(&random, WORDS_MAX + 1), at = 0;
        world->texts[i][0] = world->terms[i] = 0;
        for (size_t w = 0; w < words; w++) {
            unsigned word = (unsigned)random_below(&random, VOCABULARY);
            at += (size_t)snprintf(world->texts[i] + at, 8, "qw%ux ", word);
            world->terms[i] |= 1u << word;
        }
        world->items[i] = (cog_document){.text = world->texts[i], .text_size = at};
    }
}

static double jaccard(uint32_t a, uint32_t b) {
    int either = __builtin_popcount(a | b);
    return either ? (double)__builtin_popcount(a & b) / either : 0;
}

static bool is_short(uint32_t terms) {
    return __builtin_popcount(terms) < SHORT_TERMS;
}

/* Whether the pairs with a short document are those of the threshold, each once, in order. */
static bool pairs_are_right(const cog_pairs *pairs, const struct short_world *a,
                            const struct short_world *b, double threshold) {
    size_t at = 0, count = cog_pairs_count(pairs);
    for (uint32_t i = 0; i < DOCUMENTS; i++)
        for (uint32_t j = a == b ? i + 1 : 0; j < DOCUMENTS; j++) {
            double true_value = jaccard(a->terms[i], b->terms[j]);
            bool listed =
                at < count && cog_pairs_get(pairs, at).a == i && cog_pairs_get(pairs, at).b == j;
            cog_pair pair = listed ? cog_pairs_get(pairs, at++) : (cog_pair){0};
            if (!is_short(a->terms[i]) && !is_short(b->terms[j]))
                continue;
            if (listed != (true_value >= threshold))
                return false;
            if (listed && ((float)pair.similarity != (float)true_value || pair.distance != -1))
                return false;
        }
    return at == count;
}

TEST(short_documents_are_measured_by_their_term_sets) {
    static const cog_method methods[] = {COG_METHOD_EXACT, COG_METHOD_FLAT, COG_METHOD_LSH,
                                         COG_METHOD_WINDOW};
    static struct short_world worlds[2];
    cog_documents *documents[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        make_world(&worlds[i], 7 + (uint64_t)i);
        CHECK_OK(cog_documents_from_memory(worlds[i].items, DOCUMENTS, &documents[i], error));
    }
    for (int method = 0; method < 4; method++)
        for (int sides = 1; sides <= 2; sides++)
            for (double threshold = 0.4; threshold < 1; threshold += 0.2) {
                cog_pairs *pairs = NULL;
                cog_pairs_options options;
                cog_pairs_options_init(&options, COG_MEASURE_COSINE);
                options.method = methods[method];
                options.threshold = threshold;
                options.sign.weights.min_collection_frequency = 1;
                CHECK_OK(cog_pairs_find(documents[0], sides == 2 ? documents[1] : NULL, &options,
                                        NULL, &pairs, NULL, error));
                CHECK_MSG(pairs_are_right(pairs, &worlds[0], &worlds[sides - 1], threshold),
                          "method %d, %d sides, threshold %g", method, sides, threshold);
                cog_pairs_free(pairs);
            }
    cog_documents_close(documents[0]);
    cog_documents_close(documents[1]);
}
