/* The join of member sets against a double loop. */
#include "join/sets/set_join.h"
#include "join/sets/set_verify.h"

#include <pthread.h>

#include "../vector/set_data.h"
#include "join/sets/set_index.h"
#include "test.h"

#define NONE UINT32_MAX

/* ---- Collections ----------------------------------------------------------------------------- */

/* How members are spread over the counts and the heads of posting lists. */
enum spread {
    SPREAD_HASHES,
    SPREAD_ONE_COUNT, /* all members share a few counts and a few tags */
    SPREAD_ONE_HEAD,  /* all members share a head, and differ by their tags */
    SPREAD_KINDS
};

static uint64_t member(enum spread spread, uint64_t number) {
    switch (spread) {
    case SPREAD_ONE_COUNT:
        return number % 3 << (MEMBER_BITS - 2) | number;
    case SPREAD_ONE_HEAD:
        return (number * 2654435761u % (1u << 20)) << (MEMBER_BITS - 20) | number >> 8 << 12;
    default:
        return member_of_hash(hash_mix(number + 1));
    }
}

struct shape {
    size_t documents;
    uint64_t vocabulary;
    size_t most_terms;
    enum spread spread;
    bool has_words;
};

enum { TERMS_MOST = 200, WORDS_MOST = 12 };

/* One document, changed from call to call. */
struct draft {
    uint64_t terms[TERMS_MOST], words[WORDS_MOST];
    size_t term_count, word_count;
};

static uint64_t random_term(struct random *random, const struct shape *shape) {
    double skewed = random_unit(random) * random_unit(random);
    return member(shape->spread, (uint64_t)(skewed * (double)shape->vocabulary));
}

static uint64_t random_word(struct random *random, const struct shape *shape) {
    return member(shape->spread, 1000000 + random_below(random, 25));
}

static void new_draft(struct random *random, const struct shape *shape, struct draft *draft) {
    const uint64_t kind = random_below(random, 10);
    draft->word_count = 0;
    draft->term_count = kind == 0   ? random_below(random, 2)
                        : kind == 1 ? shape->most_terms / 2
                                    : 1 + random_below(random, shape->most_terms);
    for (size_t i = 0; i < draft->term_count; i++)
        draft->terms[i] = random_term(random, shape);
    if (!shape->has_words || random_below(random, 3) == 0)
        return;
    if (random_below(random, 2) == 0)
        draft->term_count = 0;
    draft->word_count = 1 + random_below(random, WORDS_MOST);
    for (size_t i = 0; i < draft->word_count; i++)
        draft->words[i] = random_word(random, shape);
}

static void change_draft(struct random *random, const struct shape *shape, struct draft *draft) {
    for (uint64_t i = random_below(random, 4); i > 0; i--) {
        if (draft->term_count)
            draft->terms[random_below(random, draft->term_count)] = random_term(random, shape);
        if (draft->word_count && i == 1)
            draft->words[random_below(random, draft->word_count)] = random_word(random, shape);
    }
    if (draft->term_count > 1 && random_below(random, 3) == 0)
        draft->term_count -= 1 + random_below(random, (draft->term_count + 3) / 4);
}

static void add_draft(struct set_data *data, const struct draft *draft) {
    set_data_add(data, draft->terms, draft->term_count, draft->words, draft->word_count);
}

/* Families around a document, chains that drift away, equal and single documents, mixed. */
static struct set_data random_collection(uint64_t seed, struct shape shape) {
    struct random random = random_seeded(seed);
    struct set_data data = {0};
    struct draft draft, copy;
    while (data.count < shape.documents) {
        new_draft(&random, &shape, &draft);
        const uint64_t kind = random_below(&random, 4);
        for (uint64_t left = 1 + random_below(&random, kind ? 12 : 1); left > 0; left--) {
            copy = draft;
            change_draft(&random, &shape, &copy);
            if (kind == 1)
                draft = copy;
            add_draft(&data, kind == 3 && left % 2 ? &draft : &copy);
        }
    }
    for (size_t i = data.count; i > 1; i--) { /* families are not neighbours */
        size_t other = random_below(&random, i);
        struct set_document swap = data.documents[i - 1];
        data.documents[i - 1] = data.documents[other];
        data.documents[other] = swap;
    }
    set_data_write(&data);
    return data;
}

/* ---- The double loop ------------------------------------------------------------------------- */

static size_t shared_members(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count) {
    size_t shared = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        if (a[i] == b[j])
            shared++, i++, j++;
        else if (a[i] < b[j])
            i++;
        else
            j++;
    }
    return shared;
}

static double similarity(const struct set_document *a, const struct set_document *b,
                         bool containment) {
    const bool by_words = a->term_count == 0 || b->term_count == 0;
    const size_t x = by_words ? a->word_count : a->term_count;
    const size_t y = by_words ? b->word_count : b->term_count;
    const size_t shared = by_words ? shared_members(a->words, x, b->words, y)
                                   : shared_members(a->terms, x, b->terms, y);
    if (x == 0 || y == 0)
        return 0;
    return (double)shared / (double)(containment ? (x < y ? x : y) : x + y - shared);
}

struct truth {
    size_t count;
    double *similarities; /* of ranks: [later * (later - 1) / 2 + earlier] */
    uint32_t *order;
    bool containment;
};

static const struct set_data *sorted_data;
static int by_falling_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    size_t p = sorted_data->documents[x].term_count, q = sorted_data->documents[y].term_count;
    return p != q ? (p > q ? -1 : 1) : (x < y ? -1 : x > y);
}

/* A random order; by falling size for containment within a collection. */
static uint32_t *make_order(const struct set_data *data, bool by_size) {
    struct random random = random_seeded(data->count);
    uint32_t *order = malloc((data->count + 1) * sizeof *order);
    for (uint32_t i = 0; i < data->count; i++) {
        size_t other = random_below(&random, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    sorted_data = data;
    if (by_size)
        qsort(order, data->count, sizeof *order, by_falling_size);
    return order;
}

static struct truth make_truth(const struct set_data *data, bool containment, bool by_size) {
    const size_t count = data->count;
    struct truth truth = {count, malloc((count * count / 2 + 1) * sizeof(double)),
                          make_order(data, by_size), containment};
    double *at = truth.similarities;
    for (size_t later = 0; later < count; later++)
        for (size_t earlier = 0; earlier < later; earlier++)
            *at++ = similarity(&data->documents[truth.order[later]],
                               &data->documents[truth.order[earlier]], containment);
    return truth;
}

static void truth_free(struct truth *truth) {
    free(truth->similarities);
    free(truth->order);
}

static double true_similarity(const struct truth *truth, size_t a, size_t b) {
    return a > b ? truth->similarities[a * (a - 1) / 2 + b]
                 : truth->similarities[b * (b - 1) / 2 + a];
}

/* Whether two ranks, the first of them earlier, are compared at all. */
static bool are_compared(size_t earlier, size_t later, size_t reference) {
    return reference == 0 || (earlier < reference && later >= reference);
}

static void expect_representatives(const struct truth *truth, double threshold, size_t reference,
                                   uint32_t *partner) {
    for (uint32_t later = 0; later < truth->count; later++) {
        partner[later] = later;
        for (uint32_t earlier = 0; earlier < later && partner[later] == later; earlier++)
            if (partner[earlier] == earlier && are_compared(earlier, later, reference) &&
                true_similarity(truth, earlier, later) >= threshold)
                partner[later] = earlier;
    }
}

/* The first rank of each component: labels sink until nothing changes. */
static void expect_components(const struct truth *truth, double threshold, uint32_t *partner) {
    bool changed = true;
    for (uint32_t rank = 0; rank < truth->count; rank++)
        partner[rank] = rank;
    while (changed) {
        changed = false;
        for (size_t later = 0; later < truth->count; later++)
            for (size_t earlier = 0; earlier < later; earlier++)
                if (partner[later] != partner[earlier] &&
                    true_similarity(truth, earlier, later) >= threshold) {
                    uint32_t least =
                        partner[later] < partner[earlier] ? partner[later] : partner[earlier];
                    partner[later] = partner[earlier] = least;
                    changed = true;
                }
    }
}

static void note(uint32_t *nearest, float *similarities, size_t rank, uint32_t other,
                 double similarity) {
    const float rounded = (float)similarity;
    if (rounded > similarities[rank] || (rounded == similarities[rank] && other < nearest[rank])) {
        nearest[rank] = other;
        similarities[rank] = rounded;
    }
}

/* A document notes the most similar one of the earlier representatives. A representative is noted
 * by that one as well. */
static void expect_nearest(const struct truth *truth, const uint32_t *partner, double floor,
                           size_t reference, uint32_t *nearest, float *similarities) {
    for (size_t rank = 0; rank < truth->count; rank++) {
        nearest[rank] = NONE;
        similarities[rank] = 0;
    }
    for (uint32_t later = 0; later < truth->count; later++)
        for (uint32_t earlier = 0; earlier < later; earlier++) {
            const double similarity = true_similarity(truth, earlier, later);
            if (similarity < floor || !are_compared(earlier, later, reference) ||
                partner[earlier] != earlier)
                continue;
            note(nearest, similarities, later, earlier, similarity);
        }
    for (uint32_t later = 0; later < truth->count; later++)
        if (partner[later] == later && nearest[later] != NONE)
            note(nearest, similarities, nearest[later], later, (double)similarities[later]);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static cog_status run_join(const struct set_data *data, const struct truth *truth,
                           const struct set_join_options *options, unsigned threads,
                           struct set_join_result *result, cog_error *error) {
    const cog_run_options run = {.threads = threads};
    struct job job;
    job_begin(&job, &run, NULL);
    cog_status status =
        set_join_run(&data->file, truth->order, truth->count, options, &job, result, error);
    job_end(&job);
    return status;
}

static bool same_pairs(const struct truth *truth, const struct set_join_options *options,
                       struct match_list *found) {
    size_t at = 0;
    match_list_sort(found);
    for (uint32_t a = 0; a < truth->count; a++)
        for (uint32_t b = a + 1; b < truth->count; b++) {
            const double similarity = true_similarity(truth, a, b);
            if (similarity < options->measure.threshold || !are_compared(a, b, options->reference))
                continue;
            const struct match *match = at < found->count ? &found->items[at] : NULL;
            if (!match || match->a != a || match->b != b ||
                match->similarity != (float)similarity) {
                printf("  pair %u %u of %g: found %d %d\n", a, b, similarity,
                       match ? (int)match->a : -1, match ? (int)match->b : -1);
                return false;
            }
            at++;
        }
    return at == found->count;
}

static bool same_partners(const struct truth *truth, const uint32_t *partner, bool connected,
                          const struct set_join_result *result) {
    for (uint32_t rank = 0; rank < truth->count; rank++) {
        const uint32_t other = result->partner[rank];
        if (other != partner[rank]) {
            printf("  rank %u: partner %u (%g) instead of %u (%g)\n", rank, other,
                   other < truth->count && other != rank ? true_similarity(truth, rank, other) : 1,
                   partner[rank],
                   partner[rank] != rank ? true_similarity(truth, rank, partner[rank]) : 1);
            return false;
        }
        const float expected = other == rank ? 1 : (float)true_similarity(truth, rank, other);
        if (result->similarity[rank] != expected && !(connected && result->similarity[rank] == 0)) {
            printf("  rank %u: similarity %g\n", rank, (double)result->similarity[rank]);
            return false;
        }
    }
    return true;
}

static bool same_nearest(const struct truth *truth, const uint32_t *partner,
                         const struct set_join_options *options,
                         const struct set_join_result *result) {
    uint32_t *nearest = malloc((truth->count + 1) * sizeof *nearest);
    float *similarities = malloc((truth->count + 1) * sizeof *similarities);
    bool same = true;
    expect_nearest(truth, partner, options->floor, options->reference, nearest, similarities);
    for (size_t rank = 0; rank < truth->count && same; rank++) {
        same = result->nearest[rank] == nearest[rank] &&
               result->nearest_similarity[rank] == similarities[rank];
        if (!same)
            printf("  rank %zu: nearest %d (%g) instead of %d (%g)\n", rank,
                   (int)result->nearest[rank], (double)result->nearest_similarity[rank],
                   (int)nearest[rank], (double)similarities[rank]);
    }
    free(nearest);
    free(similarities);
    return same;
}

static uint32_t *expect_partners(const struct truth *truth,
                                 const struct set_join_options *options) {
    uint32_t *partner = malloc((truth->count + 1) * sizeof *partner);
    if (options->mode == SET_JOIN_CONNECTED)
        expect_components(truth, options->measure.threshold, partner);
    else
        expect_representatives(truth, options->measure.threshold, options->reference, partner);
    return partner;
}

static bool join_agrees(const struct set_data *data, const struct truth *truth,
                        const uint32_t *partner, const struct set_join_options *options,
                        unsigned threads, struct set_join_result *result) {
    const bool connected = options->mode == SET_JOIN_CONNECTED;
    cog_error error = {0};
    bool agrees = run_join(data, truth, options, threads, result, &error) == COG_OK;
    if (!agrees)
        printf("  %s\n", error.message);
    if (options->mode == SET_JOIN_PAIRS)
        agrees = agrees && same_pairs(truth, options, &result->pairs);
    else
        agrees = agrees && same_partners(truth, partner, connected, result);
    if (agrees && options->floor > 0 && options->mode == SET_JOIN_REPRESENTATIVES)
        agrees = same_nearest(truth, partner, options, result);
    return agrees;
}

/* The least memory that the join of a collection can do with: the offsets of prefixes, and an index
 * that holds the largest document. */
static uint64_t least_memory(const struct set_data *data) {
    size_t most = 0;
    for (size_t row = 0; row < data->count; row++) {
        const size_t members = data->documents[row].term_count + data->documents[row].word_count;
        most = members > most ? members : most;
    }
    return data->count * sizeof(uint64_t) + (set_index_bytes(most) + 4096) * 4 / 3;
}

static const double thresholds[] = {0.05, 0.3, 0.5, 2.0 / 3, 0.75, 0.8, 0.9, 1};
enum { THRESHOLDS = sizeof thresholds / sizeof *thresholds };
static const unsigned thread_counts[] = {1, 2, 5};

/* Every threshold, without a limit of memory and with one of three, which take turns as the numbers
 * of threads do; false and a line about the first that fails. */
static bool all_agree(const struct set_data *data, const struct truth *truth,
                      struct set_join_options options, uint64_t *most_rounds) {
    const uint64_t least = least_memory(data);
    const uint64_t memories[] = {least, least + 20000, (uint64_t)1 << 22};
    bool agrees = true;
    options.near_path = "-";
    for (size_t t = 0; t < THRESHOLDS && agrees; t++) {
        options.measure = (struct set_measure){truth->containment, thresholds[t]};
        uint32_t *partner = expect_partners(truth, &options);
        for (size_t limited = 0; limited < 2 && agrees; limited++) {
            const unsigned threads = thread_counts[(t + limited) % 3];
            struct set_join_result result = {0};
            options.memory_bytes = limited ? memories[t % 3] : 0;
            agrees = join_agrees(data, truth, partner, &options, threads, &result);
            *most_rounds = result.rounds > *most_rounds ? result.rounds : *most_rounds;
            set_join_result_free(&result);
            if (!agrees)
                printf(
                    "  mode %d, threshold %g, reference %zu, floor %g, memory %llu, threads %u\n",
                    (int)options.mode, thresholds[t], options.reference, options.floor,
                    (unsigned long long)options.memory_bytes, threads);
        }
        free(partner);
    }
    return agrees;
}

static const struct shape shapes[] = {
    {300, 4000, 60, SPREAD_HASHES, false},  {300, 4000, 60, SPREAD_HASHES, true},
    {250, 60, 30, SPREAD_HASHES, true},     {250, 3000, 50, SPREAD_ONE_COUNT, true},
    {250, 80, 20, SPREAD_ONE_COUNT, false}, {250, 2000, 40, SPREAD_ONE_HEAD, true},
    {200, 12, 6, SPREAD_HASHES, true},      {40, 500, 200, SPREAD_HASHES, false},
    {1, 10, 5, SPREAD_HASHES, false},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

#define CHECK_ALL_AGREE(reference_of, ...)                                                         \
    do {                                                                                           \
        uint64_t rounds = 0;                                                                       \
        for (size_t s = 0; s < SHAPES; s++) {                                                      \
            struct set_data data = random_collection(s + 1, shapes[s]);                            \
            struct truth truth = make_truth(&data, false, false);                                  \
            struct set_join_options options = {__VA_ARGS__};                                       \
            options.reference = (reference_of);                                                    \
            bool agree = all_agree(&data, &truth, options, &rounds);                               \
            truth_free(&truth);                                                                    \
            set_data_free(&data);                                                                  \
            CHECK_MSG(agree, "shape %zu", s);                                                      \
        }                                                                                          \
        CHECK_MSG(rounds > 1, "%d rounds", (int)rounds);                                           \
    } while (0)

TEST(set_join_finds_the_first_representative) {
    CHECK_ALL_AGREE(0, .mode = SET_JOIN_REPRESENTATIVES);
}

TEST(set_join_finds_connected_components) {
    CHECK_ALL_AGREE(0, .mode = SET_JOIN_CONNECTED);
}

TEST(set_join_finds_all_pairs) {
    CHECK_ALL_AGREE(0, .mode = SET_JOIN_PAIRS);
}

TEST(set_join_compares_with_a_reference_collection) {
    CHECK_ALL_AGREE(data.count / 3, .mode = SET_JOIN_REPRESENTATIVES);
    CHECK_ALL_AGREE(data.count / 2, .mode = SET_JOIN_PAIRS);
}

TEST(set_join_notes_the_nearest) {
    CHECK_ALL_AGREE(0, .mode = SET_JOIN_REPRESENTATIVES, .floor = 0.05);
    CHECK_ALL_AGREE(data.count / 3, .mode = SET_JOIN_REPRESENTATIVES, .floor = 0.05);
}

/* Containment is by terms alone, so the collections have no words. reference_parts: 0, or which
 * part of the collection is the reference. */
static void check_containment(const struct set_join_options *cases, size_t count,
                              const size_t *reference_parts) {
    uint64_t rounds = 0;
    for (size_t s = 0; s < SHAPES; s++) {
        struct shape shape = shapes[s];
        shape.has_words = false;
        struct set_data data = random_collection(50 + s, shape);
        struct truth truth = make_truth(&data, true, reference_parts[0] == 0);
        for (size_t i = 0; i < count; i++) {
            struct set_join_options options = cases[i];
            options.reference = reference_parts[i] ? data.count / reference_parts[i] : 0;
            CHECK_MSG(all_agree(&data, &truth, options, &rounds), "shape %zu", s);
        }
        truth_free(&truth);
        set_data_free(&data);
    }
    CHECK(rounds > 1);
}

TEST(set_join_finds_contained_sets) {
    const struct set_join_options cases[] = {{.mode = SET_JOIN_REPRESENTATIVES},
                                             {.mode = SET_JOIN_CONNECTED},
                                             {.mode = SET_JOIN_PAIRS},
                                             {.mode = SET_JOIN_REPRESENTATIVES, .floor = 0.05}};
    check_containment(cases, 4, (const size_t[]){0, 0, 0, 0});
}

TEST(set_join_finds_contained_sets_of_a_reference_collection) {
    const struct set_join_options cases[] = {{.mode = SET_JOIN_REPRESENTATIVES},
                                             {.mode = SET_JOIN_PAIRS}};
    check_containment(cases, 2, (const size_t[]){2, 4});
}

/* Blocks are of 4096 documents: partners are before the block, in it, and in earlier rounds. */
TEST(set_join_goes_on_from_block_to_block) {
    const struct shape shape = {4500, 9000, 9, SPREAD_HASHES, true};
    struct set_data data = random_collection(7, shape);
    struct truth truth = make_truth(&data, false, false);
    const uint64_t memories[] = {0, data.count * sizeof(uint64_t) + 90000};
    const size_t references[] = {0, 100, 4096, 4200};
    for (size_t i = 0; i < 4 * 2 * 3; i++) {
        struct set_join_options options = {.mode = (enum set_join_mode)(i / 8),
                                           .measure = {false, i / 8 ? 0.6 : 0.5},
                                           .floor = i % 8 == 3 ? 0.3 : 0,
                                           .reference = references[i / 2 % 4],
                                           .memory_bytes = memories[i % 2],
                                           .near_path = "-"};
        struct set_join_result result = {0};
        if (options.mode == SET_JOIN_CONNECTED && options.reference)
            continue;
        uint32_t *partner = expect_partners(&truth, &options);
        bool agrees = join_agrees(&data, &truth, partner, &options, thread_counts[i % 3], &result);
        free(partner);
        const uint64_t rounds = result.rounds;
        set_join_result_free(&result);
        CHECK_MSG(agrees, "case %zu", i);
        CHECK_MSG(rounds == 1 || options.memory_bytes, "%d rounds", (int)rounds);
    }
    truth_free(&truth);
    set_data_free(&data);
}

/* Every quotient that small sets can have, as the threshold. */
TEST(set_join_includes_the_threshold_itself) {
    const struct shape shape = {150, 14, 8, SPREAD_HASHES, false};
    struct set_data data = random_collection(19, shape);
    for (int containment = 0; containment < 2; containment++) {
        struct truth truth = make_truth(&data, containment, containment);
        for (unsigned either = 1; either <= 12; either++)
            for (unsigned shared = 1; shared <= either; shared++) {
                struct set_join_options options = {
                    .mode = SET_JOIN_PAIRS,
                    .measure = {containment, (double)shared / either},
                    .near_path = "-"};
                struct set_join_result result = {0};
                bool agrees = join_agrees(&data, &truth, NULL, &options, 1, &result);
                set_join_result_free(&result);
                CHECK_MSG(agrees, "%u / %u", shared, either);
            }
        truth_free(&truth);
    }
    set_data_free(&data);
}

/* A family of near-copies costs a comparison per document, not per pair. */
TEST(set_join_of_a_large_family_is_linear) {
    enum { COPIES = 3000, MEMBERS = 40 };
    struct random random = random_seeded(5);
    struct set_data data = {0};
    for (size_t i = 0; i < COPIES; i++) {
        uint64_t terms[MEMBERS];
        for (size_t m = 0; m < MEMBERS; m++)
            terms[m] = member(SPREAD_HASHES, m);
        terms[random_below(&random, MEMBERS)] = member(SPREAD_HASHES, 1000 + i % 50);
        set_data_add(&data, terms, MEMBERS, NULL, 0);
    }
    set_data_write(&data);
    struct truth truth = {.count = COPIES, .order = make_order(&data, false)};
    for (int mode = SET_JOIN_REPRESENTATIVES; mode <= SET_JOIN_CONNECTED; mode++) {
        struct set_join_options options = {
            .mode = (enum set_join_mode)mode, .measure = {false, 0.8}, .near_path = "-"};
        struct set_join_result result = {0};
        CHECK_OK(run_join(&data, &truth, &options, 2, &result, error));
        for (size_t rank = 0; rank < COPIES; rank++)
            CHECK(result.partner[rank] == 0);
        CHECK_MSG(result.candidates <= 2 * COPIES, "%d candidates", (int)result.candidates);
        set_join_result_free(&result);
    }
    truth_free(&truth);
    set_data_free(&data);
}

TEST(set_join_refuses_a_memory_that_one_document_does_not_fit) {
    struct set_data data = random_collection(3, shapes[0]);
    struct truth truth = make_truth(&data, false, false);
    struct set_join_options options = {.mode = SET_JOIN_REPRESENTATIVES,
                                       .measure = {false, 0.5},
                                       .memory_bytes = 1,
                                       .near_path = "-"};
    struct set_join_result result = {0};
    cog_error error = {0};
    CHECK(run_join(&data, &truth, &options, 2, &result, &error) == COG_ERR_MEMORY);
    CHECK(strstr(error.message, "raise it") != NULL);
    set_join_result_free(&result);
    truth_free(&truth);
    set_data_free(&data);
}

TEST(set_join_keeps_a_limit_on_pairs) {
    struct set_data data = random_collection(3, shapes[2]);
    struct truth truth = make_truth(&data, false, false);
    struct set_join_options options = {
        .mode = SET_JOIN_PAIRS, .measure = {false, 0.05}, .near_path = "-"};
    struct set_join_result result = {.pairs.limit = 10};
    cog_error error = {0};
    CHECK(run_join(&data, &truth, &options, 2, &result, &error) == COG_ERR_MEMORY);
    set_join_result_free(&result);
    truth_free(&truth);
    set_data_free(&data);
}

struct taken_pairs {
    pthread_mutex_t lock;
    struct match_list list;
};

/* As match_sieve.keep: keeps nothing. */
static cog_status take_all(void *context, struct match *items, size_t *count, cog_error *error) {
    struct taken_pairs *taken = context;
    cog_status status = COG_OK;
    pthread_mutex_lock(&taken->lock);
    for (size_t i = 0; i < *count; i++)
        THEN(status, match_list_add(&taken->list, items[i], error));
    pthread_mutex_unlock(&taken->lock);
    *count = 0;
    return status;
}

TEST(set_join_hands_pairs_to_a_sieve) {
    struct set_data data = random_collection(3, shapes[2]);
    struct truth truth = make_truth(&data, false, false);
    struct taken_pairs taken = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct match_sieve sieve = {take_all, &taken};
    struct set_join_options options = {
        .mode = SET_JOIN_PAIRS, .measure = {false, 0.05}, .sieve = &sieve, .near_path = "-"};
    struct set_join_result result = {0};
    CHECK_OK(run_join(&data, &truth, &options, 3, &result, error));
    CHECK(result.pairs.count == 0 && taken.list.count > MATCH_BATCH / 2);
    CHECK(same_pairs(&truth, &options, &taken.list));
    match_list_free(&taken.list);
    set_join_result_free(&result);
    truth_free(&truth);
    set_data_free(&data);
}

/* A row may be in the reference collection and after it. */
TEST(set_join_with_rows_that_stand_on_both_sides) {
    struct set_data data = random_collection(6, shapes[1]);
    struct truth truth = make_truth(&data, false, false);
    const size_t count = truth.count;
    struct set_join_options options = {
        .mode = SET_JOIN_PAIRS, .measure = {false, 0.5}, .reference = count, .near_path = "-"};
    struct set_join_result result = {0};
    size_t expected = 0, found = 0;
    uint32_t *order = malloc(2 * count * sizeof *order);
    memcpy(order, truth.order, count * sizeof *order);
    memcpy(order + count, truth.order, count * sizeof *order);
    const struct truth doubled = {.count = 2 * count, .order = order};
    CHECK_OK(run_join(&data, &doubled, &options, 2, &result, error));
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++)
            expected += a != b && true_similarity(&truth, a, b) >= 0.5;
    for (size_t i = 0; i < result.pairs.count; i++) {
        const struct match *pair = &result.pairs.items[i];
        CHECK(pair->a < count && pair->b >= count);
        found += pair->a != pair->b - count;
    }
    CHECK_MSG(found == expected, "%zu instead of %zu", found, expected);
    free(order);
    set_join_result_free(&result);
    truth_free(&truth);
    set_data_free(&data);
}

struct shown {
    uint64_t last, calls, wrong, most;
};

/* Progress never goes back, and ends at its total. */
static bool watch_progress(void *context, const cog_progress *progress) {
    struct shown *shown = context;
    if (strcmp(progress->stage, "joining") != 0)
        return true;
    shown->calls++;
    shown->wrong += progress->done < shown->last || progress->done > progress->total;
    shown->last = progress->done;
    shown->most = progress->total;
    return true;
}

TEST(set_join_shows_the_progress_of_all_rounds) {
    struct set_data data =
        random_collection(3, (struct shape){6000, 3000, 20, SPREAD_HASHES, true});
    struct truth truth = {.count = data.count, .order = make_order(&data, false)};
    for (int limited = 0; limited < 2; limited++) {
        struct shown shown = {0};
        const cog_run_options run = {
            .threads = 2, .progress = watch_progress, .progress_context = &shown};
        struct set_join_options options = {.mode = SET_JOIN_PAIRS,
                                           .measure = {false, 0.5},
                                           .memory_bytes =
                                               limited ? least_memory(&data) + 300000 : 0,
                                           .near_path = "-"};
        struct set_join_result result = {0};
        struct job job;
        job_begin(&job, &run, NULL);
        CHECK_OK(
            set_join_run(&data.file, truth.order, truth.count, &options, &job, &result, error));
        job_end(&job);
        CHECK((result.rounds > 1) == limited);
        CHECK_MSG(shown.calls > 0 && shown.wrong == 0, "%d calls, %d wrong", (int)shown.calls,
                  (int)shown.wrong);
        CHECK(shown.last == shown.most);
        set_join_result_free(&result);
    }
    truth_free(&truth);
    set_data_free(&data);
}

TEST(set_join_of_nothing_and_of_empty_sets) {
    struct set_data data = {0};
    set_data_write(&data);
    struct truth truth = make_truth(&data, false, false);
    struct set_join_options options = {
        .mode = SET_JOIN_REPRESENTATIVES, .measure = {false, 0.5}, .floor = 0.1, .near_path = "-"};
    struct set_join_result result = {0};
    CHECK_OK(run_join(&data, &truth, &options, 2, &result, error));
    set_join_result_free(&result);
    truth_free(&truth);
    set_data_free(&data);
    set_data_add(&data, NULL, 0, NULL, 0);
    set_data_add(&data, NULL, 0, NULL, 0);
    set_data_write(&data);
    truth = make_truth(&data, false, false);
    CHECK_OK(run_join(&data, &truth, &options, 2, &result, error));
    CHECK(result.partner[0] == 0 && result.partner[1] == 1 && result.nearest[1] == NONE);
    set_join_result_free(&result);
    truth_free(&truth);
    set_data_free(&data);
}

TEST(set_pair_similarity_is_the_measure) {
    struct set_data data = random_collection(4, shapes[1]);
    for (uint32_t a = 0; a < data.count; a += 3)
        for (uint32_t b = 0; b < data.count; b += 7)
            for (int containment = 0; containment < 2; containment++) {
                const struct set_measure measure = {containment, 0.9};
                double found = -1;
                CHECK_OK(set_pair_similarity(&data.file, a, b, &measure, &found, error));
                CHECK(found == similarity(&data.documents[a], &data.documents[b], containment));
            }
    set_data_free(&data);
}

TEST(set_measure_needs_the_smallest_overlap_that_reaches_the_threshold) {
    for (int containment = 0; containment < 2; containment++)
        for (unsigned part = 1; part <= 20; part++)
            for (uint64_t a = 0; a <= 30; a++)
                for (uint64_t b = 0; b <= 30; b++) {
                    const struct set_measure measure = {containment, part / 20.0};
                    const uint64_t smaller = a < b ? a : b;
                    uint64_t overlap = 0;
                    while (overlap <= smaller &&
                           set_similarity(&measure, a, b, overlap) < measure.threshold)
                        overlap++;
                    CHECK(set_needed_overlap(&measure, a, b) == overlap);
                    CHECK(overlap > smaller || (!containment && a == 0) || (containment && a > b) ||
                          set_least_overlap(&measure, a) <= overlap);
                }
}
