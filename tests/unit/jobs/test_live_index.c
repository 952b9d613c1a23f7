/* An index that changes against a model in memory: after any sequence of additions, removals,
 * searches, merges and openings it answers as an index that is built of the same documents. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cognate.h"
#include "jobs/index/index_job.h"
#include "test.h"
#include "text/analyzer.h"

enum { MOST_DOCUMENTS = 400, TEXT_BYTES = 400, QUERIES = 6, K = 40, STEPS = 60 };

/* K is so large that signatures propose every row, and methods must agree. Before an index is
 * compacted, its similarities differ from those of a fresh build by rounding alone: terms are
 * summed in another order. */
#define TOLERANCE 3e-7

struct world {
    struct random random;
    char texts[MOST_DOCUMENTS][TEXT_BYTES], ids[MOST_DOCUMENTS][12];
    size_t made;
    size_t live[MOST_DOCUMENTS]; /* numbers of documents in the order of the rows */
    size_t live_count;
    char folder[4096];
    cog_index *index;
    cog_index_options options;
};

static bool is_of_sets(const struct world *world) {
    return world->options.measure != COG_MEASURE_COSINE && world->options.vectors;
}

static bool is_of_minhash(const struct world *world) {
    return world->options.measure != COG_MEASURE_COSINE && !world->options.vectors;
}

/* Words come from a vocabulary that moves on, so that later documents bring new ones. */
static void make_text(struct world *world, size_t number, char *text) {
    size_t words = 5 + (size_t)random_below(&world->random, 25), at = 0;
    for (size_t i = 0; i < words; i++) {
        uint64_t word = random_below(&world->random, 40) + random_below(&world->random, 3) * number;
        at += (size_t)snprintf(text + at, TEXT_BYTES - at, "w%03u ", (unsigned)word);
    }
}

static cog_document document_of(const struct world *world, size_t number) {
    const char *id = world->ids[number], *text = world->texts[number];
    return (cog_document){id, strlen(id), text, strlen(text), "en", 2};
}

static cog_status open_documents(const struct world *world, const size_t *numbers, size_t count,
                                 cog_document items[MOST_DOCUMENTS], cog_documents **documents,
                                 cog_error *error) {
    for (size_t i = 0; i < count; i++)
        items[i] = document_of(world, numbers[i]);
    return cog_documents_from_memory(items, count, documents, error);
}

/* A few new documents, every third a changed copy of an earlier one. */
static cog_status add_some(struct world *world, cog_error *error) {
    static cog_document items[MOST_DOCUMENTS];
    size_t count = 1 + (size_t)random_below(&world->random, 4), numbers[8];
    cog_documents *documents = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t number = world->made++;
        snprintf(world->ids[number], sizeof world->ids[number], "d%zu", number);
        make_text(world, number, world->texts[number]);
        if (number % 3 == 2) {
            memcpy(world->texts[number], world->texts[number / 2], TEXT_BYTES);
            memcpy(world->texts[number], "x", 1);
        }
        if (is_of_sets(world) && number % 11 == 5)
            snprintf(world->texts[number], TEXT_BYTES, "%.*s", (int)(number / 11 % 4), "?!?!");
        numbers[i] = world->live[world->live_count++] = number;
    }
    cog_status status = open_documents(world, numbers, count, items, &documents, error);
    if (status == COG_OK)
        status = cog_index_add(world->index, documents, NULL, NULL, error);
    cog_documents_close(documents);
    return status;
}

static cog_status remove_one(struct world *world, cog_error *error) {
    if (world->live_count < 3)
        return COG_OK;
    size_t place = (size_t)random_below(&world->random, world->live_count);
    const char *id = world->ids[world->live[place]];
    memmove(world->live + place, world->live + place + 1,
            (--world->live_count - place) * sizeof *world->live);
    return cog_index_remove(world->index, &id, 1, NULL, error);
}

/* Several at once, one of them an id that never was. */
static cog_status remove_several(struct world *world, cog_error *error) {
    enum { MOST = 5 };
    const char *ids[MOST + 1] = {"none"};
    size_t count = 1;
    while (count <= MOST && world->live_count > 2) {
        size_t place = (size_t)random_below(&world->random, world->live_count);
        ids[count++] = world->ids[world->live[place]];
        memmove(world->live + place, world->live + place + 1,
                (--world->live_count - place) * sizeof *world->live);
    }
    return cog_index_remove(world->index, ids, count, NULL, error);
}

static cog_status reopen(struct world *world, cog_error *error) {
    if (!world->folder[0])
        return COG_OK;
    cog_index_close(world->index);
    world->index = NULL;
    return cog_index_open(world->folder, &world->index, error);
}

/* By another handle of the folder: copies of documents of the index, and a document of words of its
 * own twice. Only its first copy is added. */
static cog_status add_unless_similar(struct world *world, cog_error *error) {
    cog_live *live = NULL;
    cog_add_options options;
    size_t first = world->made;
    if (!world->folder[0] || world->live_count == 0)
        return COG_OK;
    cog_add_options_init(&options);
    options.unless_similar = 0.97;
    cog_status status = cog_live_open(world->folder, &live, error);
    for (size_t i = 0; i < 4 && status == COG_OK; i++) {
        size_t number = world->made++;
        char *text = world->texts[number];
        snprintf(world->ids[number], sizeof world->ids[number], "d%zu", number);
        if (i % 2)
            memcpy(text, world->texts[world->live[number % world->live_count]], TEXT_BYTES);
        else
            for (size_t word = 0, at = 0; word < 12; word++)
                at += (size_t)snprintf(text + at, TEXT_BYTES - at, "n%zux%zu ", first, word);
        cog_document document = document_of(world, number);
        cog_live_outcome outcome;
        status = cog_live_add(live, &document, &options, &outcome, error);
        if (status == COG_OK && outcome.added != (i == 0))
            status = error_set(error, COG_ERR_INPUT, "document %zu: %s", i,
                               outcome.added ? "added" : "left out");
        if (i == 0)
            world->live[world->live_count++] = number;
    }
    cog_live_close(live);
    THEN(status, reopen(world, error));
    return status;
}

/* Another text under an id that is there, and a new document. */
static cog_status upsert_one(struct world *world, cog_error *error) {
    static cog_document items[MOST_DOCUMENTS];
    cog_documents *documents = NULL;
    cog_add_options options;
    if (world->live_count == 0)
        return COG_OK;
    cog_add_options_init(&options);
    options.upsert = true;
    size_t place = (size_t)random_below(&world->random, world->live_count);
    size_t numbers[2] = {world->live[place], world->made++};
    memmove(world->live + place, world->live + place + 1,
            (--world->live_count - place) * sizeof *world->live);
    snprintf(world->ids[numbers[1]], sizeof world->ids[0], "d%zu", numbers[1]);
    for (size_t i = 0; i < 2; i++) {
        make_text(world, world->made + i, world->texts[numbers[i]]);
        world->live[world->live_count++] = numbers[i];
    }
    cog_status status = open_documents(world, numbers, 2, items, &documents, error);
    if (status == COG_OK)
        status = cog_index_add_with(world->index, documents, &options, NULL, NULL, error);
    cog_documents_close(documents);
    return status;
}

static bool same_id(const cog_index *a, uint32_t row_a, const cog_index *b, uint32_t row_b) {
    size_t size_a, size_b;
    const char *x = cog_index_id(a, row_a, &size_a), *y = cog_index_id(b, row_b, &size_b);
    return x && y && size_a == size_b && memcmp(x, y, size_a) == 0;
}

/* Where two are as near as rounding, either may be first. */
static bool hits_agree(const cog_hits *grown, const cog_hits *built, double tolerance) {
    bool agree = cog_hits_count(grown) == cog_hits_count(built);
    for (size_t i = 0; i < cog_hits_count(built) && agree; i++) {
        cog_hit x = cog_hits_get(grown, i), y = cog_hits_get(built, i);
        agree =
            x.query == y.query && x.rank == y.rank &&
            fabs(x.similarity - y.similarity) <= tolerance &&
            (tolerance > 0 || same_id(cog_hits_index(grown), x.row, cog_hits_index(built), y.row));
    }
    return agree;
}

static cog_status search(const cog_index *index, cog_method method, cog_documents *queries,
                         cog_hits **hits, cog_error *error) {
    cog_search_options options;
    cog_search_options_init(&options);
    options.method = method;
    options.k = K;
    return cog_index_search(index, queries, &options, NULL, hits, NULL, error);
}

static char query_texts[QUERIES][TEXT_BYTES];

/* New texts; by Jaccard and containment also a document of the index, changed or not; of sets one
 * without terms. */
static void make_queries(struct world *world, cog_document asked[QUERIES]) {
    for (size_t i = 0; i < QUERIES; i++) {
        char *text = query_texts[i];
        make_text(world, world->made + 7 * i, text);
        if (world->options.measure != COG_MEASURE_COSINE && world->live_count && i > 1)
            memcpy(text, world->texts[world->live[i * 7 % world->live_count]], TEXT_BYTES);
        if (world->options.measure != COG_MEASURE_COSINE && i == 3 && strlen(text) > 40)
            memcpy(text + 20, "yyy", 3);
        if (is_of_sets(world) && i == 4)
            strcpy(text, "?!");
        asked[i] = (cog_document){&"qrstuv"[i], 1, text, strlen(text), "en", 2};
    }
}

/* ---- Sets by brute force --------------------------------------------------------------------- */

/* Terms, then words, each once. */
struct plain_set {
    uint64_t members[2][TEXT_BYTES];
    size_t count[2];
};

static void make_plain(struct analyzer *analyzer, const char *text, struct plain_set *set) {
    static struct term_list list;
    *set = (struct plain_set){0};
    analyzer_run(analyzer, view_of_text(text), view_of("en", 2), &list, NULL);
    for (size_t i = 0; i < list.count; i++) {
        const size_t kind = i >= list.count - list.short_terms;
        uint64_t member = list.hashes[i] >> 16;
        bool known = false;
        for (size_t j = 0; j < set->count[kind]; j++)
            known |= set->members[kind][j] == member;
        if (!known)
            set->members[kind][set->count[kind]++] = member;
    }
}

static double plain_similarity(const struct world *world, const struct plain_set *a,
                               const struct plain_set *b, bool same_text) {
    const size_t kind = a->count[0] == 0 || b->count[0] == 0;
    size_t shared = 0, x = a->count[kind], y = b->count[kind];
    if (a->count[0] + a->count[1] == 0 || b->count[0] + b->count[1] == 0)
        return same_text;
    for (size_t i = 0; i < x; i++)
        for (size_t j = 0; j < y; j++)
            shared += a->members[kind][i] == b->members[kind][j];
    if (shared == 0)
        return 0;
    return world->options.measure == COG_MEASURE_JACCARD ? (double)shared / (double)(x + y - shared)
                                                         : (double)shared / (double)(x < y ? x : y);
}

/* Documents at least as similar, at most k of them (0: all), as ids in their order. */
static bool hits_are(const struct world *world, const cog_hits *hits, uint32_t query,
                     const double *similarities, double threshold, size_t k) {
    size_t at = cog_hits_first(hits, query), end = cog_hits_first(hits, query + 1);
    static bool is_taken[MOST_DOCUMENTS];
    memset(is_taken, 0, sizeof is_taken);
    for (size_t rank = 0; k == 0 || rank < k; rank++) {
        size_t best = MOST_DOCUMENTS;
        for (size_t i = 0; i < world->live_count; i++)
            if (!is_taken[i] && similarities[i] > 0 && similarities[i] >= threshold &&
                (best == MOST_DOCUMENTS || (float)similarities[i] > (float)similarities[best]))
                best = i;
        if (best == MOST_DOCUMENTS)
            break;
        is_taken[best] = true;
        size_t size = 0;
        const char *id =
            at < end ? cog_index_id(world->index, cog_hits_get(hits, at).row, &size) : NULL;
        const char *expected = world->ids[world->live[best]];
        if (!id || size != strlen(expected) || memcmp(id, expected, size) != 0 ||
            (float)cog_hits_get(hits, at).similarity != (float)similarities[best])
            return false;
        at++;
    }
    return at == end;
}

static bool first_is_right(const cog_hits *hits, uint32_t query, const double *similarities,
                           size_t count, double threshold) {
    bool any = false;
    size_t at = cog_hits_first(hits, query), found = cog_hits_first(hits, query + 1) - at;
    for (size_t i = 0; i < count; i++)
        any |= similarities[i] >= threshold;
    return found == any && (!any || cog_hits_get(hits, at).similarity >= threshold - 1e-6);
}

/* All thresholds and numbers of neighbours against the sets of the texts. */
static bool sets_are_right(struct world *world, cog_documents *queries, cog_error *error) {
    static const double thresholds[] = {0, 0.05, 0.3, 0.5, 0.8, 1};
    static const size_t most[] = {1, 3, K};
    static struct plain_set asked, sets[MOST_DOCUMENTS];
    static double similarities[QUERIES][MOST_DOCUMENTS];
    struct analyzer *analyzer = NULL;
    bool right = analyzer_create(&world->index->terms, &analyzer, error) == COG_OK;
    for (size_t i = 0; i < world->live_count && right; i++)
        make_plain(analyzer, world->texts[world->live[i]], &sets[i]);
    for (size_t q = 0; q < QUERIES && right; q++) {
        make_plain(analyzer, query_texts[q], &asked);
        for (size_t i = 0; i < world->live_count; i++)
            similarities[q][i] = plain_similarity(
                world, &asked, &sets[i], strcmp(query_texts[q], world->texts[world->live[i]]) == 0);
    }
    for (size_t t = 0; t < 6 && right; t++)
        for (size_t m = 0; m < 4 && right; m++) {
            cog_search_options options;
            cog_hits *hits = NULL;
            cog_search_options_init(&options);
            options.threshold = thresholds[t];
            options.k = m < 3 ? most[m] : 0;
            options.first = m == 3 && t > 0 && world->made % 2;
            if (m == 3 && t == 0)
                continue;
            right = cog_index_search(world->index, queries, &options, NULL, &hits, NULL, error) ==
                    COG_OK;
            for (uint32_t q = 0; q < QUERIES && right; q++)
                right =
                    options.first
                        ? first_is_right(hits, q, similarities[q], world->live_count, thresholds[t])
                        : hits_are(world, hits, q, similarities[q], thresholds[t], options.k);
            cog_hits_free(hits);
        }
    analyzer_free(analyzer);
    return right;
}

/* ---- Minhash by brute force ------------------------------------------------------------------ */

static void sign_plain(struct analyzer *analyzer, struct signer *signer, const char *text,
                       uint8_t *signature) {
    static struct term_list list;
    struct signer_workspace *workspace = NULL;
    analyzer_run(analyzer, view_of_text(text), view_of("en", 2), &list, NULL);
    signer_workspace_create(signer, &workspace, NULL);
    signer_sign(signer, workspace, &(struct weighted_terms){list.hashes, NULL, list.count},
                signature, NULL);
    signer_workspace_free(workspace);
}

/* All thresholds against the estimates of all signatures. */
static bool minhash_is_right(struct world *world, cog_documents *queries, cog_error *error) {
    enum { SIGNATURE_BYTES = SIGNATURE_MAX_BITS / 8 };
    static const double thresholds[] = {0.05, 0.3, 0.5, 0.8, 1};
    static uint8_t asked[SIGNATURE_BYTES], signatures[MOST_DOCUMENTS][SIGNATURE_BYTES];
    static double similarities[QUERIES][MOST_DOCUMENTS];
    struct signature_options options;
    struct signer *signer = NULL;
    struct analyzer *analyzer = NULL;
    bool right = analyzer_create(&world->index->terms, &analyzer, error) == COG_OK &&
                 options_signature(&world->options.sign.signature, &options, error) == COG_OK &&
                 signer_create(&options, &signer, error) == COG_OK;
    for (size_t i = 0; i < world->live_count && right; i++)
        sign_plain(analyzer, signer, world->texts[world->live[i]], signatures[i]);
    for (size_t q = 0; q < QUERIES && right; q++) {
        sign_plain(analyzer, signer, query_texts[q], asked);
        for (size_t i = 0; i < world->live_count; i++)
            similarities[q][i] = signature_estimate(&options, asked, signatures[i]);
    }
    for (size_t t = 0; t < 5 && right; t++) {
        cog_search_options search_options;
        cog_hits *hits = NULL;
        cog_search_options_init(&search_options);
        search_options.threshold = thresholds[t];
        search_options.k = t % 2 ? 3 : 0;
        right = cog_index_search(world->index, queries, &search_options, NULL, &hits, NULL,
                                 error) == COG_OK &&
                cog_hits_are_estimates(hits);
        for (uint32_t q = 0; q < QUERIES && right; q++)
            right = hits_are(world, hits, q, similarities[q], thresholds[t], search_options.k);
        cog_hits_free(hits);
    }
    analyzer_free(analyzer);
    signer_free(signer);
    return right;
}

/* The index against one that is built of what is in it; `compacted`: to the last bit. */
static bool answers_are_right(struct world *world, bool compacted, cog_error *error) {
    static cog_document items[MOST_DOCUMENTS], asked[QUERIES];
    cog_documents *documents = NULL, *queries = NULL;
    cog_index *built = NULL;
    make_queries(world, asked);
    bool right =
        open_documents(world, world->live, world->live_count, items, &documents, error) == COG_OK &&
        cog_documents_from_memory(asked, QUERIES, &queries, error) == COG_OK &&
        cog_index_build(documents, &world->options, NULL, &built, NULL, error) == COG_OK;
    const cog_method methods[] = {COG_METHOD_EXACT, COG_METHOD_FLAT, world->options.method};
    const size_t first = is_of_sets(world) ? 2 : is_of_minhash(world) ? 1 : 0;
    for (size_t m = first; m < 3 && right; m++) {
        cog_hits *grown_hits = NULL, *built_hits = NULL;
        right =
            search(world->index, methods[m], queries, &grown_hits, error) == COG_OK &&
            search(built, methods[m], queries, &built_hits, error) == COG_OK &&
            hits_agree(grown_hits, built_hits, compacted || is_of_minhash(world) ? 0 : TOLERANCE);
        cog_hits_free(grown_hits);
        cog_hits_free(built_hits);
    }
    right = right && (!is_of_sets(world) || sets_are_right(world, queries, error)) &&
            (!is_of_minhash(world) || minhash_is_right(world, queries, error));
    right = right && cog_index_check(world->index, error) == COG_OK;
    cog_index_info grown_info, built_info;
    cog_index_describe(world->index, &grown_info);
    if (right)
        cog_index_describe(built, &built_info);
    right = right && grown_info.rows == built_info.rows &&
            grown_info.vocabulary_terms == built_info.vocabulary_terms;
    cog_index_close(built);
    cog_documents_close(documents);
    cog_documents_close(queries);
    return right;
}

/* One random change; *compacted: whether all is one segment now. */
static cog_status step(struct world *world, bool *compacted, cog_error *error) {
    uint64_t dice = random_below(&world->random, 14);
    if (dice == 9)
        return reopen(world, error);
    if (dice >= 12) {
        *compacted = false;
        return dice == 12 ? remove_several(world, error) : add_unless_similar(world, error);
    }
    *compacted = dice == 8;
    if (dice == 8)
        return cog_index_compact(world->index, NULL, NULL, error);
    if (dice > 9)
        return upsert_one(world, error);
    return dice < 5 ? add_some(world, error) : remove_one(world, error);
}

static struct world *begin_for(cog_measure measure, bool vectors, cog_signature_kind signature,
                               uint64_t seed, cog_method method, bool in_folder, cog_error *error) {
    struct world *world = calloc(1, sizeof *world);
    cog_documents *none = NULL;
    static cog_document nothing;
    world->random = random_seeded(seed);
    cog_index_options_init_for(&world->options, measure);
    world->options.method = method;
    world->options.vectors = vectors;
    if (measure == COG_MEASURE_COSINE)
        world->options.sign.signature.kind = signature;
    cog_status status = cog_documents_from_memory(&nothing, 0, &none, error);
    if (status == COG_OK)
        status = cog_index_build(none, &world->options, NULL, &world->index, NULL, error);
    if (status == COG_OK && in_folder) {
        char name[32];
        snprintf(name, sizeof name, "live-%u", (unsigned)seed);
        snprintf(world->folder, sizeof world->folder, "%s", test_path(name));
        status = cog_index_save(world->index, world->folder, error);
        if (status == COG_OK)
            status = reopen(world, error);
    }
    cog_documents_close(none);
    if (status == COG_OK)
        return world;
    free(world);
    return NULL;
}

static struct world *begin(uint64_t seed, cog_method method, bool in_folder, cog_error *error) {
    return begin_for(COG_MEASURE_COSINE, true, COG_SIGNATURE_RP, seed, method, in_folder, error);
}

/* By cosine against a fresh build, by Jaccard and containment against the sets of the texts too,
 * and minhash signatures alone against the estimates of all. */
TEST(live_index_answers_as_a_fresh_build_after_any_changes) {
    enum { KINDS = 8, ROUNDS = 3 };
    static const struct {
        cog_measure measure;
        bool vectors;
        cog_method method;
        cog_signature_kind signature; /* of cosines */
    } kinds[KINDS] = {{COG_MEASURE_COSINE, true, COG_METHOD_FLAT, COG_SIGNATURE_RP},
                      {COG_MEASURE_COSINE, true, COG_METHOD_SLICES, COG_SIGNATURE_RP},
                      {COG_MEASURE_COSINE, true, COG_METHOD_COLUMNS, COG_SIGNATURE_RP},
                      {COG_MEASURE_COSINE, true, COG_METHOD_FLAT, COG_SIGNATURE_SIMHASH},
                      {COG_MEASURE_JACCARD, true, COG_METHOD_AUTO, COG_SIGNATURE_RP},
                      {COG_MEASURE_CONTAINMENT, true, COG_METHOD_AUTO, COG_SIGNATURE_RP},
                      {COG_MEASURE_JACCARD, false, COG_METHOD_FLAT, COG_SIGNATURE_RP},
                      {COG_MEASURE_JACCARD, false, COG_METHOD_SLICES, COG_SIGNATURE_RP}};
    cog_error fault = {0};
    for (unsigned seed = 0; seed < KINDS * ROUNDS; seed++) {
        const unsigned kind = seed % KINDS;
        /* In a folder twice, then in memory. */
        struct world *world =
            begin_for(kinds[kind].measure, kinds[kind].vectors, kinds[kind].signature, seed,
                      kinds[kind].method, seed / KINDS % 3 < 2, &fault);
        CHECK_MSG(world, "%s", fault.message);
        bool compacted = false;
        CHECK_OK(add_some(world, error));
        for (int i = 0; i < STEPS; i++) {
            CHECK_MSG(step(world, &compacted, &fault) == COG_OK, "seed %u, step %d: %s", seed, i,
                      fault.message);
            CHECK_MSG(i % 3 || answers_are_right(world, compacted, &fault), "seed %u, step %d: %s",
                      seed, i, fault.message);
        }
        CHECK_OK(cog_index_compact(world->index, NULL, NULL, error));
        CHECK_MSG(answers_are_right(world, true, &fault), "seed %u: %s", seed, fault.message);
        cog_index_close(world->index);
        free(world);
    }
}

/* Single additions leave few segments, in a folder and in memory, and the index answers as before.
 */
TEST(live_index_merges_small_segments) {
    cog_error fault = {0};
    for (int in_folder = 0; in_folder < 2; in_folder++) {
        struct world *world = begin(50 + (uint64_t)in_folder, COG_METHOD_FLAT, in_folder, &fault);
        CHECK_MSG(world, "%s", fault.message);
        cog_index_info info;
        for (int i = 0; i < 60; i++) {
            CHECK_OK(add_some(world, error));
            cog_index_describe(world->index, &info);
            CHECK_MSG(info.segments <= 24, "%u segments", (unsigned)info.segments);
        }
        CHECK(info.rows == world->live_count);
        CHECK_MSG(answers_are_right(world, false, &fault), "%s", fault.message);
        cog_index_close(world->index);
        free(world);
    }
}

/* The words of a query that no document has count in its length, as do those of a document. */
TEST(live_index_counts_unknown_words) {
    cog_document items[] = {{"a", 1, "red green", 9, "en", 2}, {"b", 1, "blue black", 10, "en", 2}};
    cog_document asked[] = {{"q", 1, "red green", 9, "en", 2},
                            {"r", 1, "red green xylophone zebra", 25, "en", 2}};
    cog_documents *documents = NULL, *queries = NULL;
    cog_index *index = NULL;
    cog_hits *hits = NULL;
    cog_index_options options;
    cog_index_options_init(&options);
    CHECK_OK(cog_documents_from_memory(items, 2, &documents, error));
    CHECK_OK(cog_documents_from_memory(asked, 2, &queries, error));
    CHECK_OK(cog_index_build(documents, &options, NULL, &index, NULL, error));
    CHECK_OK(search(index, COG_METHOD_EXACT, queries, &hits, error));
    CHECK(cog_hits_count(hits) == 2);
    CHECK(fabs(cog_hits_get(hits, 0).similarity - 1) < 1e-6);
    CHECK(fabs(cog_hits_get(hits, 1).similarity - sqrt(0.5)) < 1e-6);
    cog_hits_free(hits);
    cog_index_close(index);
    cog_documents_close(documents);
    cog_documents_close(queries);
}

/* A query is signed as the rows of each segment were: a document finds itself at distance 0,
 * however much the statistics have changed since. */
TEST(live_index_signs_queries_to_match) {
    cog_error fault = {0};
    struct world *world = begin(77, COG_METHOD_FLAT, true, &fault);
    CHECK_MSG(world, "%s", fault.message);
    static cog_document items[MOST_DOCUMENTS];
    cog_documents *queries = NULL;
    cog_hits *hits = NULL;
    for (int i = 0; i < 30; i++)
        CHECK_OK(add_some(world, error));
    CHECK_OK(open_documents(world, world->live, world->live_count, items, &queries, error));
    cog_search_options options;
    cog_search_options_init(&options);
    options.method = COG_METHOD_FLAT;
    options.radius_bits = 0;
    options.k = 0;
    options.verify = false;
    CHECK_OK(cog_index_search(world->index, queries, &options, NULL, &hits, NULL, error));
    for (uint32_t query = 0; query < world->live_count; query++) {
        bool found = false;
        for (size_t i = cog_hits_first(hits, query); i < cog_hits_first(hits, query + 1); i++)
            found |= cog_hits_get(hits, i).row == query;
        CHECK_MSG(found, "document %u of %zu is not at distance 0", query, world->live_count);
    }
    cog_hits_free(hits);
    cog_documents_close(queries);
    cog_index_close(world->index);
    free(world);
}

TEST(live_index_refuses_files_of_the_earlier_version) {
    struct manifest manifest = {.next_number = 0};
    cog_error fault = {0};
    cog_index *index = NULL;
    const char *folder = test_path("earlier");
    CHECK_OK(settings_set_text(&manifest.settings, "signature", "rp", error));
    CHECK_OK(settings_set_u64(&manifest.settings, "statistics: fingerprint", 1, error));
    CHECK_OK(manifest_write(folder, &manifest, error));
    CHECK(cog_index_open(folder, &index, &fault) == COG_ERR_FORMAT);
    CHECK(strstr(fault.message, "earlier version") &&
          strstr(fault.message, "build the index again"));
    manifest_free(&manifest);
}
