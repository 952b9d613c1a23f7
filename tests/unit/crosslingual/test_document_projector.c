#include <math.h>

#include "base/hash.h"
#include "crosslingual/document_projector.h"
#include "test.h"

static cog_status add_words(struct word_table *table, const char *const *words, cog_error *error) {
    cog_status status = COG_OK;
    for (uint32_t number; *words && status == COG_OK; words++)
        status = word_table_add_string(table, view_of_text(*words), 5, &number, error);
    return status;
}

/* haus: house 0.75, the 0.25; wald: forest; der: the. */
static cog_status small_lexicon(struct lexicon *lexicon, cog_error *error) {
    static const char *const from[] = {"haus", "wald", "der", NULL};
    static const char *const to[] = {"house", "the", "forest", "linux", NULL};
    struct lexicon_entry entries[] = {
        {0, 0, 0.75f, 1}, {0, 1, 0.25f, 0.5f}, {1, 2, 1, 1}, {2, 1, 1, 0.5f}};
    struct prune_options prune = {15, 1};
    cog_status status = add_words(&lexicon->from, from, error);
    if (status == COG_OK)
        status = add_words(&lexicon->to, to, error);
    return status == COG_OK ? lexicon_build(lexicon, entries, 4, &prune, error) : status;
}

static double weight_of(const struct bag_view *bag, const char *term) {
    double sum = 0;
    for (size_t i = 0; i < bag->count; i++)
        if (bag->hashes[i] == hash_bytes(term, strlen(term)))
            sum += (double)bag->weights[i];
    return sum;
}

static cog_status project(struct projector_worker *worker, const char *text, struct bag_view *bag,
                          cog_error *error) {
    return projector_worker_run(worker, view_of_text(text), bag, error);
}

static bool is_near(double x, double y) {
    return fabs(x - y) < 1e-6;
}

TEST(document_projector_sums_translations) {
    struct lexicon lexicon = {0};
    struct projection_options options;
    struct term_options from, to;
    struct document_projector projector;
    struct projector_worker *worker = NULL;
    struct bag_view bag;
    projection_options_init(&options);
    term_options_init(&from);
    from.stem = from.drop_stop_words = false;
    strcpy(from.language, "de");
    to = from;
    strcpy(to.language, "en");
    CHECK_OK(small_lexicon(&lexicon, error));
    CHECK_OK(document_projector_init(&projector, &lexicon, &options, &from, &to, error));
    CHECK_OK(projector_worker_create(&projector, &worker, error));
    for (int round = 0; round < 2; round++) { /* the second one remembers the unknown words */
        CHECK_OK(project(worker, "Der Wald, das Haus, der Waldhaus Linux Haus", &bag, error));
        CHECK(is_near(weight_of(&bag, "house"), 2 * 0.75 + 0.5 * 0.75));
        CHECK(is_near(weight_of(&bag, "forest"), 1.5));
        CHECK(is_near(weight_of(&bag, "the"), 2 + 2 * 0.25 + 0.5 * 0.25));
        CHECK(is_near(weight_of(&bag, "linux"), 1));      /* a word of the target language */
        CHECK(is_near(weight_of(&bag, "das"), 1));        /* too short to be split */
        CHECK(is_near(weight_of(&bag, "waldhaus"), 0.5)); /* a compound, perhaps a name */
        CHECK(bag.count == 6 && bag.length == 9);
    }
    CHECK_OK(project(worker, "", &bag, error));
    CHECK(bag.count == 0 && bag.length == 0 && bag.weights);
    projector_worker_free(worker);
    document_projector_free(&projector);
    /* Without stop words, whose stems the lexicon has; and without what cannot be translated. */
    to.drop_stop_words = true;
    options.keep_unknown = false;
    CHECK_OK(document_projector_init(&projector, &lexicon, &options, &from, &to, error));
    CHECK_OK(projector_worker_create(&projector, &worker, error));
    CHECK_OK(project(worker, "Der Wald, das Haus, der Waldhaus Linux Haus", &bag, error));
    CHECK(weight_of(&bag, "the") == 0 && is_near(weight_of(&bag, "forest"), 1.5));
    CHECK(bag.count == 2 && bag.length == 3);
    projector_worker_free(worker);
    document_projector_free(&projector);
    lexicon_free(&lexicon);
}
