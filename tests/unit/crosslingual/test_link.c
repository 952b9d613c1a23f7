#include <math.h>

#include "base/hash.h"
#include "crosslingual/projection.h"
#include "jobs/evaluate/link_scores.h"
#include "jobs/lexicon/lexicon_job.h"
#include "jobs/link/link_job.h"
#include "test.h"

enum { FROM_WORDS = 40, TO_WORDS = 30, ENTRIES = 150, DOCUMENTS = 25 };

static cog_status add_words(struct word_table *table, const char *prefix, uint32_t count,
                            cog_error *error) {
    cog_status status = COG_OK;
    for (uint32_t i = 0; i < count && status == COG_OK; i++) {
        char word[32];
        uint32_t number;
        int size = snprintf(word, sizeof word, "%s%u", prefix, i);
        status = word_table_add_string(table, view_of(word, (size_t)size), 5, &number, error);
    }
    return status;
}

/* Random translations, several a word, each pair once. */
static cog_status random_lexicon(struct lexicon *lexicon, cog_error *error) {
    struct lexicon_entry entries[ENTRIES];
    struct random random = random_seeded(3);
    for (size_t i = 0; i < ENTRIES; i++)
        entries[i] = (struct lexicon_entry){
            (uint32_t)(i % FROM_WORDS), (uint32_t)((i * 7 + i / FROM_WORDS) % TO_WORDS),
            (float)random_unit(&random), (float)random_unit(&random)};
    struct prune_options prune = {15, 0.9};
    cog_status status = add_words(&lexicon->from, "f", FROM_WORDS, error);
    if (status == COG_OK)
        status = add_words(&lexicon->to, "t", TO_WORDS, error);
    return status == COG_OK ? lexicon_build(lexicon, entries, ENTRIES, &prune, error) : status;
}

/* Documents of both sides: words of the lexicon, and "x0" .. "x3" that it does not know. */
struct random_documents {
    uint64_t hashes[DOCUMENTS][12];
    uint32_t frequencies[DOCUMENTS][12];
    size_t counts[DOCUMENTS];
};

static uint64_t hash_of(const char *prefix, unsigned number) {
    char word[320];
    int size = snprintf(word, sizeof word, "%s%u", prefix, number);
    return hash_bytes(word, (size_t)size);
}

static void make_documents(struct random_documents *documents, const char *prefix, unsigned words,
                           uint64_t seed) {
    struct random random = random_seeded(seed);
    for (int d = 0; d < DOCUMENTS; d++) {
        documents->counts[d] = 3 + random_below(&random, 6);
        for (size_t i = 0; i < documents->counts[d]; i++) {
            unsigned word =
                (unsigned)random_below(&random, words / 12) + (unsigned)(i * words / 12);
            documents->hashes[d][i] =
                i == 0 ? hash_of("x", (unsigned)random_below(&random, 4)) : hash_of(prefix, word);
            documents->frequencies[d][i] = 1 + (uint32_t)random_below(&random, 4);
        }
    }
}

static struct bag_view bag_of(const struct random_documents *documents, int d) {
    return (struct bag_view){documents->hashes[d], documents->frequencies[d], documents->counts[d],
                             documents->counts[d], NULL};
}

static cog_status count_documents(const struct random_documents *documents,
                                  struct statistics **statistics, cog_error *error) {
    struct statistics_batch *batch = NULL;
    cog_status status = statistics_create(statistics, error);
    if (status == COG_OK)
        status = statistics_batch_create(*statistics, &batch, error);
    for (int d = 0; d < DOCUMENTS && status == COG_OK; d++) {
        struct bag_view bag = bag_of(documents, d);
        status = statistics_batch_add(batch, &bag, error);
    }
    if (status == COG_OK)
        status = statistics_batch_flush(batch, error);
    statistics_batch_free(batch);
    return status;
}

/* w(e, f) by looking through everything; target words, then x0 .. x3. */
static double naive_weight(const struct lexicon *lexicon, uint64_t source, uint64_t target,
                           bool backward) {
    for (uint32_t f = 0; f < lexicon->from.count; f++)
        for (uint64_t i = lexicon->offsets[f]; i < lexicon->offsets[f + 1]; i++)
            if (lexicon->from.hashes[f] == source &&
                lexicon->to.hashes[lexicon->targets[i]] == target)
                return (double)(backward ? lexicon->from_given_to : lexicon->to_given_from)[i];
    for (unsigned x = 0; x < 4; x++)
        if (source == hash_of("x", x))
            return target == source;
    return 0;
}

static void check_projection(bool backward) {
    struct lexicon lexicon = {0};
    struct random_documents from, to;
    struct statistics *from_counts = NULL, *to_counts = NULL;
    struct unknown_words unknown = {0};
    struct projection *projection = NULL;
    struct projection_options options;
    struct term_options terms;
    struct column_sums sums = {0};
    CHECK_OK(random_lexicon(&lexicon, error));
    make_documents(&from, "f", FROM_WORDS, 11);
    make_documents(&to, "t", TO_WORDS, 12);
    CHECK_OK(count_documents(&from, &from_counts, error));
    CHECK_OK(count_documents(&to, &to_counts, error));
    CHECK_OK(add_words(&unknown.strings, "x", 4, error));
    unknown.target_hashes = unknown.strings.hashes;
    projection_options_init(&options);
    options.source_given_target = backward;
    term_options_init(&terms);
    CHECK_OK(projection_create(&lexicon, &options, &terms, from_counts, to_counts, &unknown,
                               &projection, error));
    CHECK_OK(column_sums_init(&sums, term_numbers_count(projection->targets), error));
    for (unsigned t = 0; t < TO_WORDS + 4; t++) {
        uint64_t target = t < TO_WORDS ? hash_of("t", t) : hash_of("x", t - TO_WORDS);
        uint32_t column = term_numbers_find(projection->targets, target);
        double df = 0;
        for (int d = 0; d < DOCUMENTS; d++) {
            struct bag_view bag = bag_of(&from, d);
            double tf = 0;
            for (size_t i = 0; i < bag.count; i++) {
                double weight = naive_weight(&lexicon, bag.hashes[i], target, backward);
                tf += weight * bag.frequencies[i];
                df += weight;
            }
            CHECK_OK(projection_add(projection, &bag, &sums, error));
            double found = column == TERM_NUMBER_NONE ? 0 : sums.sums[column];
            CHECK_MSG(fabs(found - tf) < 1e-6, "tf* %g, not %g", found, tf);
            column_sums_clear(&sums);
        }
        double found = column == TERM_NUMBER_NONE ? 0 : projection->document_frequencies[column];
        CHECK_MSG(fabs(found - df) < 1e-5, "df* %g, not %g", found, df);
    }
    column_sums_free(&sums);
    projection_free(projection);
    statistics_free(from_counts);
    statistics_free(to_counts);
    word_table_free(&unknown.strings);
    lexicon_free(&lexicon);
}

TEST(link_projection_is_the_double_sum) {
    check_projection(false);
    check_projection(true);
}

TEST(link_compounds_are_split_into_known_words) {
    static const char *const known[] = {"benutz", "oberflach", "datei", "system", "haus", "tur"};
    static const struct {
        const char *word, *first, *second, *third;
    } cases[] = {
        {"dateisystem", "datei", "system", NULL},
        {"haustur", NULL, NULL, NULL},
        {"benutzsoberflach", "benutz", "oberflach", NULL},
        {"systemendatei", "system", "datei", NULL},
        {"hausdateisystem", "haus", "datei", "system"},
        {"dateixsystem", NULL, NULL, NULL},
        {"datei", NULL, NULL, NULL},
    };
    struct lexicon lexicon = {0};
    uint32_t number;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        CHECK_OK(word_table_add_string(&lexicon.from, view_of_text(known[i]), 3, &number, error));
    struct compound_options options = {"s,en", 8, 4};
    struct term_options terms;
    struct compound_splitter *splitter = NULL;
    term_options_init(&terms);
    CHECK_OK(compound_splitter_create(&lexicon, &options, &terms, &splitter, error));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char *expected[] = {cases[c].first, cases[c].second, cases[c].third};
        uint32_t parts[COMPOUND_PARTS_MAX];
        unsigned count = 0;
        CHECK_OK(compound_split(splitter, view_of_text(cases[c].word), parts, &count, error));
        for (unsigned i = 0; i < 3; i++) {
            CHECK_MSG((i < count) == (expected[i] != NULL), "%s: %u parts", cases[c].word, count);
            struct bytes_view part =
                i < count ? word_table_string(&lexicon.from, parts[i]) : view_of("", 0);
            CHECK(i >= count || (part.size == strlen(expected[i]) &&
                                 memcmp(part.data, expected[i], part.size) == 0));
        }
    }
    compound_splitter_free(splitter);
    lexicon_free(&lexicon);
}

/* ---- Links ----------------------------------------------------------------------------------- */

enum { LINKS = 200, ROWS = 20 };

/* Candidates with few cosines, so that ties occur, and the same as links by rows. */
static size_t random_links(struct cosine_neighbours *candidates, struct link *links,
                           struct random *random) {
    size_t count = 0;
    for (uint32_t from = 0; from < ROWS; from++)
        for (uint32_t to = 0; to < ROWS; to++) {
            if (random_below(random, 3) || candidates->counts[from] == candidates->k)
                continue;
            float cosine = (float)random_below(random, 8) * 0.125f;
            cosine_neighbours_offer(candidates, from, (struct cosine_neighbour){to, cosine});
            links[count++] = (struct link){.from = from, .to = to, .contrast = cosine};
        }
    return count;
}

/* The best remaining link again and again. */
static size_t naive_one_to_one(const struct link *links, size_t count, struct link *kept) {
    bool from_taken[ROWS] = {0}, to_taken[ROWS] = {0};
    size_t size = 0;
    for (;;) {
        const struct link *best = NULL;
        for (size_t i = 0; i < count; i++) {
            const struct link *link = &links[i];
            if (!from_taken[link->from] && !to_taken[link->to] &&
                (!best || link->contrast > best->contrast))
                best = link; /* links come by rows: the first of equal ones */
        }
        if (!best)
            return size;
        from_taken[best->from] = to_taken[best->to] = true;
        kept[size++] = *best;
    }
}

TEST(link_one_to_one_is_greedy) {
    struct random random = random_seeded(5);
    const struct link_means none[2] = {{NULL, NULL}, {NULL, NULL}};
    for (int round = 0; round < 200; round++) {
        struct link expected[ROWS], all[ROWS * ROWS], *links = NULL;
        struct cosine_neighbours candidates = {0};
        size_t count = 0;
        CHECK_OK(cosine_neighbours_take(&candidates, ROWS, LINKS / ROWS, error));
        size_t size = naive_one_to_one(all, random_links(&candidates, all, &random), expected);
        CHECK_OK(links_one_to_one(&candidates, ROWS, none, &links, &count, error));
        CHECK(count == size);
        for (size_t i = 0; i < size && count == size; i++) {
            bool found = false;
            for (size_t j = 0; j < size; j++)
                found |= links[j].from == expected[i].from && links[j].to == expected[i].to;
            CHECK(found);
            CHECK(i == 0 || links[i - 1].from < links[i].from);
        }
        free(links);
        cosine_topk_free(&candidates);
    }
}

TEST(link_best_is_the_first_of_each) {
    struct link links[] = {{1, 4, 0.5f, 0.2f, 0, 0},
                           {0, 3, 0.4f, 0.1f, 1, 0},
                           {1, 2, 0.5f, 0.2f, 0, 0},
                           {0, 1, 0.3f, 0.3f, 0, 0},
                           {2, 2, 0.9f, -1, 0, 0}};
    size_t count = 5;
    links_best(links, &count, 1);
    CHECK(count == 3);
    CHECK(links[0].from == 0 && links[0].to == 1);
    CHECK(links[1].from == 1 && links[1].to == 2);
    CHECK(links[2].from == 2);
}

TEST(link_scores_correct_hubs) {
    struct link links[] = {{.to = 1, .similarity = 0.5f}};
    float from_means[] = {0.25f}, to_means[] = {0, 0.5f};
    struct link_means none = {NULL, NULL}, means = {from_means, to_means};
    links_score(links, 1, none, none);
    CHECK(links[0].score == 0.5f && links[0].contrast == 0.5f);
    links_score(links, 1, means, none);
    CHECK(links[0].score == 0.5f && links[0].contrast == 0.25f);
    links_score(links, 1, none, means);
    CHECK(links[0].score == 0.25f && links[0].contrast == 0.5f);
}

TEST(link_scores_against_known_links) {
    const char *path = write_text("gold.tsv", "a\tA\nb\tB\nc\tC\nd\tD\n");
    struct link_gold gold = {0};
    CHECK_OK(link_gold_read(&gold, path, error));
    static const struct {
        const char *from, *to;
        double score;
        bool first;
    } links[] = {{"a", "A", 0.9, false}, {"b", "B", 0.8, false}, {"c", "X", 0.7, false},
                 {"d", "D", 0.6, false}, {"a", "A", 0, true},    {"b", "X", 0, true}};
    for (size_t i = 0; i < 6; i++)
        CHECK_OK(link_gold_take(&gold, view_of(links[i].from, 1), view_of(links[i].to, 1),
                                links[i].score, 0.5f, links[i].first, error));
    cog_link_scores scores;
    link_gold_scores(&gold, &scores);
    CHECK(scores.known == 4 && scores.links == 4);
    CHECK(scores.precision == 0.75 && scores.recall == 0.75 && scores.recall_at_1 == 0.25);
    CHECK(scores.recall_at_precision_99 == 0.5);
    link_gold_free(&gold);
}

/* ---- From texts to links --------------------------------------------------------------------- */

enum { TEXTS = 60, TEXT_WORDS = 30 };

struct texts {
    char from[TEXTS][512], to[TEXTS][512], from_ids[TEXTS][8], to_ids[TEXTS][8];
    cog_document from_items[TEXTS], to_items[TEXTS];
};

/* Text i and its translation word by word ("fa7x" is "tb7y"); the translations stand in reverse. */
static void make_texts(struct texts *texts) {
    struct random random = random_seeded(9);
    for (int i = 0; i < TEXTS; i++) {
        int other = TEXTS - 1 - i, at = 0, to_at = 0;
        for (int w = 0; w < TEXT_WORDS; w++) {
            int word = (int)random_below(&random, 200);
            at += snprintf(texts->from[i] + at, sizeof texts->from[i] - (size_t)at, "fa%dx ", word);
            to_at += snprintf(texts->to[other] + to_at, sizeof texts->to[other] - (size_t)to_at,
                              "tb%dy ", word);
        }
        snprintf(texts->from_ids[i], sizeof texts->from_ids[i], "a%d", i);
        snprintf(texts->to_ids[other], sizeof texts->to_ids[other], "b%d", i);
    }
    for (int i = 0; i < TEXTS; i++) {
        texts->from_items[i] = (cog_document){.id = texts->from_ids[i],
                                              .id_size = strlen(texts->from_ids[i]),
                                              .text = texts->from[i],
                                              .text_size = strlen(texts->from[i])};
        texts->to_items[i] = (cog_document){.id = texts->to_ids[i],
                                            .id_size = strlen(texts->to_ids[i]),
                                            .text = texts->to[i],
                                            .text_size = strlen(texts->to[i])};
    }
}

static cog_status train_words(cog_lexicon **lexicon, cog_error *error) {
    const char *path = test_path("words.tsv");
    FILE *file = fopen(path, "w");
    for (int w = 0; file && w < 200; w++)
        for (int twice = 0; twice < 2; twice++)
            fprintf(file, "fa%dx\ttb%dy\n", w, w);
    if (file)
        fclose(file);
    cog_lexicon_options options;
    cog_lexicon_options_init(&options);
    options.from = "qaa";
    options.to = "qab";
    return cog_lexicon_train(&path, 1, &options, NULL, lexicon, NULL, error);
}

TEST(link_finds_the_translations) {
    static struct texts texts;
    cog_documents *from = NULL, *to = NULL;
    cog_lexicon *lexicon = NULL;
    make_texts(&texts);
    CHECK_OK(train_words(&lexicon, error));
    CHECK_OK(cog_documents_from_memory(texts.from_items, TEXTS, &from, error));
    CHECK_OK(cog_documents_from_memory(texts.to_items, TEXTS, &to, error));
    double first_sum = 0;
    for (unsigned threads = 1; threads <= 3; threads++) {
        cog_link_options options;
        cog_links *links = NULL;
        cog_run_options run = {.threads = threads};
        cog_link_options_init(&options);
        options.one_to_one = true;
        CHECK_OK(cog_link(from, to, lexicon, &options, &run, &links, NULL, error));
        CHECK(cog_links_count(links) == TEXTS);
        double sum = 0;
        for (size_t i = 0; i < TEXTS; i++) {
            cog_link_item item = cog_links_item(links, i);
            CHECK(item.from_row == i && item.to_row == TEXTS - 1 - i);
            CHECK(item.from_size == item.to_size &&
                  memcmp(item.from + 1, item.to + 1, item.to_size - 1) == 0);
            CHECK(item.similarity > 0.9 && item.score <= 2 * item.similarity);
            sum += item.similarity + item.score;
        }
        CHECK(threads == 1 || sum == first_sum);
        first_sum = sum;
        cog_links_free(links);
    }
    cog_documents_close(from);
    cog_documents_close(to);
    cog_lexicon_free(lexicon);
}
