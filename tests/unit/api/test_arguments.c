/* Every enum, side and index of a public function takes any number: values that are none of the
 * enum's are COG_ERR_USAGE, an accessor out of range gives zeros. */
#include <limits.h>

#include "api/made_documents.h"
#include "base/error.h"
#include "test.h"
#include "two_languages.h"

enum { DOCUMENTS = 40, WORDS = 30 };

static const char languages[2][2][WORDS] = {{"fq1x fq2x fq3x", "fq4x fq5x fq6x"},
                                            {"tz1y tz2y tz3y", "tz4y tz5y tz6y"}};

static struct world {
    cog_document items[DOCUMENTS], sides[2][2];
    cog_documents *documents, *from, *to;
    cog_lexicon *lexicon;
    cog_statistics *statistics;
    cog_index *index, *sets; /* by cosine and by Jaccard */
    cog_signatures *signatures;
    cog_pairs *pairs;
    cog_clusters *clusters;
    cog_hits *hits;
    cog_links *links;
    cog_link_projector *projector;
    cog_overlap *overlap;
    const char *path; /* of a file with one document */
    const char *statistics_path;
    uint8_t *statistics_bytes;
    size_t statistics_size;
} world;

static cog_status make_projector(cog_error *error) {
    cog_documents *const sides[2] = {world.from, world.to};
    cog_link_side known[2] = {0};
    cog_link_terms terms[2];
    cog_projection_options options;
    cog_projection_options_init(&options);
    for (int side = 0; side < 2; side++) {
        TRY(cog_link_terms_read(sides[side], world.lexicon, side, NULL, &terms[side], NULL, error));
        terms[side].rows.release(&terms[side].rows);
        terms[side].words.release(&terms[side].words);
        known[side].statistics = terms[side].statistics;
    }
    cog_status status = cog_link_projector_create(world.lexicon, &known[0], &known[1], &options,
                                                  NULL, &world.projector, NULL, error);
    cog_statistics_free(terms[0].statistics);
    cog_statistics_free(terms[1].statistics);
    return status;
}

static cog_status open_world(cog_error *error) {
    static struct made_document made[DOCUMENTS];
    static const uint8_t bytes[DOCUMENTS * 8];
    cog_term_options terms;
    cog_index_options index;
    cog_pairs_options pairs;
    cog_dedup_options dedup;
    cog_search_options search;
    cog_link_options link;
    make_documents(DOCUMENTS, made, world.items);
    TRY(cog_documents_from_memory(world.items, DOCUMENTS, &world.documents, error));
    TRY(two_languages_train(20, &world.lexicon, error));
    TRY(two_languages_read(languages[0][0], WORDS, 2, world.sides[0], &world.from, error));
    TRY(two_languages_read(languages[1][0], WORDS, 2, world.sides[1], &world.to, error));
    cog_term_options_init(&terms);
    TRY(cog_statistics_collect(world.documents, &terms, NULL, &world.statistics, NULL, error));
    cog_index_options_init(&index);
    TRY(cog_index_build(world.documents, &index, NULL, &world.index, NULL, error));
    cog_index_options_init_for(&index, COG_MEASURE_JACCARD);
    TRY(cog_index_build(world.documents, &index, NULL, &world.sets, NULL, error));
    TRY(cog_signatures_from_memory(bytes, DOCUMENTS, 64, &world.signatures, error));
    cog_pairs_options_init(&pairs, COG_MEASURE_JACCARD);
    TRY(cog_pairs_find(world.documents, NULL, &pairs, NULL, &world.pairs, NULL, error));
    cog_dedup_options_init(&dedup);
    TRY(cog_dedup(world.documents, &dedup, NULL, NULL, &world.clusters, NULL, error));
    cog_search_options_init(&search);
    TRY(cog_index_search(world.index, world.documents, &search, NULL, &world.hits, NULL, error));
    cog_link_options_init(&link);
    TRY(cog_link(world.from, world.to, world.lexicon, &link, NULL, &world.links, NULL, error));
    TRY(make_projector(error));
    TRY(cog_pairs_overlap(world.documents, NULL, NULL, COG_MEASURE_JACCARD, &pairs.sign.terms, NULL,
                          &world.overlap, NULL, error));
    world.path = write_text("document.txt", "one little text");
    world.statistics_path = test_path("statistics");
    TRY(cog_statistics_save(world.statistics, world.statistics_path, error));
    return cog_statistics_to_bytes(world.statistics, &world.statistics_bytes,
                                   &world.statistics_size, error);
}

static void close_world(void) {
    cog_overlap_free(world.overlap);
    cog_link_projector_free(world.projector);
    cog_links_free(world.links);
    cog_hits_free(world.hits);
    cog_clusters_free(world.clusters);
    cog_pairs_free(world.pairs);
    cog_signatures_free(world.signatures);
    cog_index_close(world.sets);
    cog_index_close(world.index);
    cog_statistics_free(world.statistics);
    cog_free(world.statistics_bytes);
    cog_documents_close(world.to);
    cog_documents_close(world.from);
    cog_lexicon_free(world.lexicon);
    cog_documents_close(world.documents);
}

/* The call refuses `value`. */
#define REFUSED(call) CHECK_MSG((call) == COG_ERR_USAGE, "%d: %s", value, #call)

/* Where refused calls would put their results. */
static struct ArrowArrayStream stream;
static uint8_t bytes[DOCUMENTS * 128];
static double number;
static uint32_t row;
static cog_statistics *no_statistics;
static cog_signer *no_signer;
static cog_lexicon *no_lexicon;
static cog_index *no_index;
static cog_pairs *no_pairs;
static cog_clusters *no_clusters;
static cog_hits *no_hits;
static cog_searcher *no_searcher;
static cog_links *no_links;
static cog_overlap *no_overlap;

/* ---- Calls by the options that they take: each gets options with one wrong value ------------- */

static void pairs_refuse(const cog_pairs_options *options, int value) {
    cog_join_plan plan;
    cog_related_options related;
    cog_dedup_options dedup;
    cog_related_options_init(&related);
    cog_dedup_options_init(&dedup);
    related.pairs = dedup.pairs = *options;
    REFUSED(cog_pairs_find(world.documents, NULL, options, NULL, &no_pairs, NULL, NULL));
    REFUSED(cog_pairs_find_in_index(world.documents, world.index, options, NULL, &no_pairs, NULL,
                                    NULL));
    REFUSED(cog_related_find(world.documents, &related, NULL, &no_pairs, NULL, NULL));
    REFUSED(cog_dedup(world.documents, &dedup, NULL, NULL, &no_clusters, NULL, NULL));
    REFUSED(cog_plan_join(options, 100, 0, &plan, NULL));
}

static void sign_refuses(const cog_sign_options *options, int value) {
    const cog_sign_buffers buffers = {.rows = DOCUMENTS, .signatures = bytes};
    const cog_sign_outputs outputs = {.signatures = test_path("signatures.npy")};
    cog_signature_error results;
    cog_word_match *matches;
    size_t count;
    cog_index_options index;
    cog_pairs_options pairs;
    cog_index_options_init(&index);
    cog_pairs_options_init(&pairs, COG_MEASURE_COSINE);
    index.sign = pairs.sign = *options;
    REFUSED(cog_signer_create(options, world.statistics, &no_signer, NULL));
    REFUSED(cog_sign(world.documents, options, NULL, &outputs, NULL, NULL, NULL));
    REFUSED(cog_sign_rows(world.documents, options, NULL, &buffers, NULL, NULL, NULL));
    REFUSED(cog_index_build(world.documents, &index, NULL, &no_index, NULL, NULL));
    REFUSED(cog_index_expect(world.index, options, NULL));
    REFUSED(cog_pairs_explain(world.documents, NULL, NULL, options, NULL, &matches, &count, &number,
                              NULL, NULL));
    REFUSED(cog_evaluate_signatures(world.documents, options, &options->signature, 1, 10, 1, NULL,
                                    &results, NULL, NULL));
    pairs_refuse(&pairs, value);
}

static void verification_refuses(const cog_verify_options *options, int value) {
    static const int64_t rows[1] = {0};
    REFUSED(
        cog_verify_pairs(world.documents, NULL, rows, rows, 1, options, NULL, &number, NULL, NULL));
}

static void search_refuses(const cog_search_options *options, int value) {
    REFUSED(cog_index_search(world.index, world.documents, options, NULL, &no_hits, NULL, NULL));
    REFUSED(cog_index_search_signatures(world.index, world.signatures, NULL, options, NULL,
                                        &no_hits, NULL, NULL));
    REFUSED(cog_searcher_create(world.index, options, &no_searcher, NULL));
    REFUSED(cog_index_answer(world.index, world.documents, options, NULL, COG_OUTPUT_TSV,
                             test_path("answers"), NULL, NULL));
}

static void link_refuses(const cog_link_options *options, int value) {
    static const int64_t none[1] = {0};
    static const uint64_t distances[COG_LINK_LISTS_TALLY];
    const cog_number_rows rows = {none, none, 0};
    const cog_link_neighbours side = {0, &number, none, none, &number, 0};
    cog_link_plan plan;
    REFUSED(cog_link(world.from, world.to, world.lexicon, options, NULL, &no_links, NULL, NULL));
    REFUSED(cog_link_plan_of(options, &plan, NULL));
    REFUSED(cog_link_nearest(&rows, &rows, 0, options, NULL, &stream, NULL));
    REFUSED(cog_link_sign(&rows, options, NULL, bytes, NULL));
    REFUSED(cog_link_radius(distances, 0, options, &row, &number, NULL));
    REFUSED(cog_link_lists_plan(&side, distances, options, &number, &number, NULL));
    REFUSED(cog_link_decide(&side, &side, options, NULL, &stream, NULL, NULL));
}

static void lexicon_refuses(const cog_lexicon_options *options, cog_table_format table, int value) {
    REFUSED(cog_lexicon_convert(&world.path, 1, table, options, &no_lexicon, NULL, NULL));
    if (table == COG_TABLE_AUTO)
        REFUSED(cog_lexicon_train(&world.path, 1, options, NULL, &no_lexicon, NULL, NULL));
}

/* ---- One function per enum: every place that takes it ---------------------------------------- */

static void try_format(int value) {
    cog_documents *documents = NULL;
    cog_input_options options;
    cog_input_options_init(&options);
    options.format = (cog_format)value;
    REFUSED(cog_documents_open(&options, &world.path, 1, &documents, NULL));
    CHECK(cog_pairs_to_arrow(world.pairs, true, &stream, NULL) == COG_OK);
    REFUSED(cog_documents_from_arrow(&stream, &options, &documents, NULL));
    CHECK(!stream.release && !documents);
    CHECK(!cog_is_signature_file((cog_format)value, "a.npy"));
}

static void try_tokens(int value) {
    cog_sign_options sign;
    cog_verify_options verify;
    cog_lexicon_options lexicon;
    cog_sign_options_init(&sign, COG_SIGNATURE_RP);
    cog_verify_options_init(&verify, COG_MEASURE_COSINE);
    cog_lexicon_options_init(&lexicon);
    lexicon.from = "de";
    lexicon.to = "en";
    cog_term_options *terms = &sign.terms;
    terms->tokens = (cog_tokens)value;
    verify.terms = lexicon.terms = *terms;
    REFUSED(cog_statistics_collect(world.documents, terms, NULL, &no_statistics, NULL, NULL));
    REFUSED(cog_statistics_open(world.statistics_path, terms, &no_statistics, NULL));
    REFUSED(cog_statistics_from_bytes(world.statistics_bytes, world.statistics_size, terms,
                                      &no_statistics, NULL));
    REFUSED(cog_pairs_overlap(world.documents, NULL, NULL, COG_MEASURE_JACCARD, terms, NULL,
                              &no_overlap, NULL, NULL));
    REFUSED(cog_term_sets(world.documents, terms, COG_MEASURE_JACCARD, NULL, &stream, NULL, NULL));
    REFUSED(cog_index_term_sets(world.sets, terms, COG_MEASURE_JACCARD, 0, 9, &stream, NULL));
    verification_refuses(&verify, value);
    lexicon_refuses(&lexicon, COG_TABLE_AUTO, value);
    sign_refuses(&sign, value);
}

static void try_weighting(int value) {
    cog_sign_options sign;
    cog_verify_options verify;
    cog_sign_options_init(&sign, COG_SIGNATURE_RP);
    cog_verify_options_init(&verify, COG_MEASURE_COSINE);
    cog_weight_options_init(&sign.weights, (cog_weighting)value);
    verify.weights = sign.weights;
    verification_refuses(&verify, value);
    sign_refuses(&sign, value);
}

static void try_signature_kind(int value) {
    cog_sign_options sign;
    cog_sign_options_init(&sign, (cog_signature_kind)value);
    sign_refuses(&sign, value);
    cog_sign_options_init(&sign, COG_SIGNATURE_RP);
    cog_signature_options_init(&sign.signature, (cog_signature_kind)value);
    sign_refuses(&sign, value);
}

static void try_measure(int value) {
    static const int64_t none[1] = {0};
    const cog_set_list sets = {none, none, 0};
    const cog_member_counts counts = {.slots = bytes, .frequent = &row, .slot_bits = 1};
    const cog_key_rows rows = {0};
    const cog_measure measure = (cog_measure)value;
    cog_term_options terms;
    cog_pairs_options pairs;
    cog_index_options index;
    cog_verify_options verify;
    cog_term_options_init(&terms);
    cog_pairs_options_init(&pairs, measure);
    cog_index_options_init_for(&index, measure);
    cog_verify_options_init(&verify, measure);
    REFUSED(cog_index_build(world.documents, &index, NULL, &no_index, NULL, NULL));
    REFUSED(cog_pairs_overlap(world.documents, NULL, NULL, measure, &terms, NULL, &no_overlap, NULL,
                              NULL));
    REFUSED(cog_term_sets(world.documents, &terms, measure, NULL, &stream, NULL, NULL));
    REFUSED(cog_index_term_sets(world.sets, &terms, measure, 0, 9, &stream, NULL));
    REFUSED(cog_set_keys(&sets, &counts, measure, 0.5, &stream, NULL));
    REFUSED(cog_key_pairs(&rows, measure, 0.5, NULL, &stream, NULL));
    REFUSED(cog_measure_sets(&sets, &sets, NULL, NULL, measure, &number, NULL));
    verification_refuses(&verify, value);
    pairs_refuse(&pairs, value);
}

/* The number as method of the options, or of their knobs. */
static void try_method_in_options(int value, bool of_knobs) {
    cog_pairs_options pairs;
    cog_search_options search;
    cog_link_options link;
    cog_index_options index;
    cog_knobs knobs = {.given = 1, .values = {1}};
    cog_pairs_options_init(&pairs, COG_MEASURE_COSINE);
    cog_search_options_init(&search);
    cog_link_options_init(&link);
    cog_index_options_init(&index);
    knobs.method = (cog_method)value;
    if (of_knobs)
        pairs.knobs = search.knobs = link.knobs = index.knobs = knobs;
    else
        pairs.method = search.method = link.method = index.method = (cog_method)value;
    pairs_refuse(&pairs, value);
    search_refuses(&search, value);
    link_refuses(&link, value);
    REFUSED(cog_index_build(world.documents, &index, NULL, &no_index, NULL, NULL));
    REFUSED(cog_index_build_signatures(world.signatures, &index, NULL, &no_index, NULL, NULL));
    REFUSED(
        cog_pairs_find_signatures(world.signatures, NULL, 3, &pairs, NULL, &no_pairs, NULL, NULL));
    REFUSED(cog_pairs_find_across(world.from, world.to, world.lexicon, NULL, &pairs, NULL,
                                  &no_pairs, NULL, NULL));
}

static void try_method(int value) {
    const cog_method method = (cog_method)value;
    cog_knobs knobs = {0};
    try_method_in_options(value, false);
    try_method_in_options(value, true);
    REFUSED(cog_knobs_set(&knobs, method, "slice-bits", 8, NULL));
    CHECK(!cog_method_name(method) && !cog_method_summary(method) && !cog_method_answers(method));
    CHECK(!cog_method_keeps_tables(method) && !cog_method_knob_count(method));
    CHECK(!cog_method_knob(method, 0));
}

static void try_output_format(int value) {
    const cog_output_format format = (cog_output_format)value;
    const char *path = test_path("results");
    const cog_dedup_outputs outputs = {.clusters = path, .clusters_format = format};
    cog_dedup_options dedup;
    cog_search_options search;
    cog_dedup_options_init(&dedup);
    cog_search_options_init(&search);
    REFUSED(cog_pairs_write(world.pairs, format, path, NULL));
    REFUSED(cog_hits_write(world.hits, format, path, NULL));
    REFUSED(cog_links_write(world.links, format, path, NULL));
    REFUSED(cog_overlap_write(world.overlap, format, path, NULL));
    REFUSED(cog_dedup(world.documents, &dedup, &outputs, NULL, &no_clusters, NULL, NULL));
    REFUSED(
        cog_index_answer(world.index, world.documents, &search, NULL, format, path, NULL, NULL));
}

static void try_keep(int value) {
    cog_dedup_options options;
    cog_dedup_options_init(&options);
    options.keep = (cog_keep)value;
    REFUSED(cog_dedup(world.documents, &options, NULL, NULL, &no_clusters, NULL, NULL));
}

static void try_grouping(int value) {
    static const int64_t rows[2] = {0, 1};
    cog_dedup_options options;
    cog_dedup_options_init(&options);
    options.grouping = (cog_grouping)value;
    REFUSED(cog_dedup(world.documents, &options, NULL, NULL, &no_clusters, NULL, NULL));
    REFUSED(
        cog_clusters_of_pairs(2, rows, rows + 1, NULL, 1, NULL, options.grouping, &stream, NULL));
}

static void try_flip_mode(int value) {
    const cog_key_plan plan = {
        .tables = 1, .key_bits = 8, .flips = 1, .flip_mode = (cog_flip_mode)value};
    REFUSED(cog_table_keys(world.signatures, NULL, NULL, &plan, true, NULL, &stream, NULL));
}

static void try_pair_format(int value) {
    cog_lexicon_options options;
    cog_lexicon_options_init(&options);
    options.from = "de";
    options.to = "en";
    options.format = (cog_pair_format)value;
    REFUSED(cog_lexicon_train(&world.path, 1, &options, NULL, &no_lexicon, NULL, NULL));
}

static void try_table_format(int value) {
    cog_lexicon_options options;
    cog_lexicon_options_init(&options);
    options.from = "de";
    options.to = "en";
    lexicon_refuses(&options, (cog_table_format)value, value);
}

static void try_sentence_format(int value) {
    cog_sentence_options options;
    cog_sentence_options_init(&options);
    options.format = (cog_sentence_format)value;
    REFUSED(cog_links_sentences(world.links, world.from, world.to, &options, test_path("sentences"),
                                NULL, NULL, NULL));
}

static void try_side(int value) {
    static const int64_t none[1] = {0};
    const cog_number_rows rows = {none, none, 0};
    cog_link_options options;
    cog_link_terms terms;
    size_t size = 1;
    cog_link_options_init(&options);
    REFUSED(cog_link_terms_read(world.from, world.lexicon, value, NULL, &terms, NULL, NULL));
    REFUSED(cog_link_nearest(&rows, &rows, value, &options, NULL, &stream, NULL));
    REFUSED(cog_link_lengths(world.projector, value, &rows, &number, NULL));
    REFUSED(cog_link_vectors(world.projector, value, &rows, 1, &stream, NULL));
    CHECK(!cog_pairs_id(world.pairs, value, 0, &size) && size == 0);
    CHECK(cog_pairs_position(world.pairs, value, 0) == 0);
    CHECK(cog_links_position(world.links, value, 0) == 0);
    CHECK(!cog_links_find(world.links, value, "0", 1, &row));
    CHECK(!cog_overlap_id(world.overlap, value, &size) && size == 0);
    CHECK(!cog_overlap_text(world.overlap, value, &size) && size == 0);
    CHECK(cog_overlap_mark_count(world.overlap, value) == 0);
    CHECK(cog_overlap_mark(world.overlap, value, 0).end == 0);
}

static void try_status(int value) {
    CHECK(strcmp(cog_status_name((cog_status)value), "unknown") == 0);
}

static const struct {
    const char *name;
    int count; /* values from 0 to below it are the enum's */
    void (*try)(int value);
} enums[] = {
    {"cog_status", COG_ERR_BUSY + 1, try_status},
    {"cog_format", COG_FORMAT_NPY + 1, try_format},
    {"cog_tokens", COG_TOKENS_CODE + 1, try_tokens},
    {"cog_weighting", COG_WEIGHTING_BINARY + 1, try_weighting},
    {"cog_signature_kind", COG_SIGNATURE_MINHASH + 1, try_signature_kind},
    {"cog_measure", COG_MEASURE_CONTAINMENT + 1, try_measure},
    {"cog_method", COG_METHOD_COUNT + 1, try_method}, /* the tests have one more */
    {"cog_output_format", COG_OUTPUT_NPY + 1, try_output_format},
    {"cog_keep", COG_KEEP_FIELD + 1, try_keep},
    {"cog_grouping", COG_GROUP_CONNECTED + 1, try_grouping},
    {"cog_flip_mode", COG_FLIP_ACROSS + 1, try_flip_mode},
    {"cog_pair_format", COG_PAIRS_PO + 1, try_pair_format},
    {"cog_table_format", COG_TABLE_BITEXTOR + 1, try_table_format},
    {"cog_sentence_format", COG_SENTENCES_TMX + 1, try_sentence_format},
    {"side", 2, try_side},
};

TEST(calls_refuse_numbers_that_are_none_of_their_enum) {
    CHECK_OK(open_world(error));
    for (size_t i = 0; i < sizeof enums / sizeof *enums; i++) {
        const int wrong[] = {enums[i].count, enums[i].count + 4711, -1, INT_MAX, INT_MIN};
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
            enums[i].try(wrong[w]);
    }
    close_world();
}

/* ---- Indexes --------------------------------------------------------------------------------- */

static void try_pairs_and_clusters(size_t index) {
    const uint32_t at = (uint32_t)index;
    size_t size = 1;
    cog_pair pair;
    cog_cluster_member member;
    uint32_t twin;
    CHECK(cog_pairs_get(world.pairs, index).distance == -1);
    CHECK(cog_pairs_read(world.pairs, index, 1, &pair) == 0);
    CHECK(!cog_pairs_id(world.pairs, 0, at, &size) && size == 0);
    CHECK(cog_pairs_position(world.pairs, 0, at) == 0);
    CHECK(cog_clusters_member(world.clusters, index).similarity == 0);
    CHECK(cog_clusters_read(world.clusters, index, 1, &member) == 0);
    CHECK(!cog_clusters_is_kept(world.clusters, at));
    CHECK(!cog_clusters_id(world.clusters, at, &size) && size == 0);
    CHECK(!cog_clusters_twin(world.clusters, at, &twin, &number));
    CHECK(cog_clusters_position(world.clusters, at) == 0);
    CHECK(cog_clusters_twin_position(world.clusters, at) == 0);
}

static void try_index_and_hits(size_t index) {
    const uint32_t at = (uint32_t)index;
    size_t size = 1;
    cog_hit hit;
    const char *from, *record;
    CHECK(!cog_index_id(world.index, at, &size) && size == 0);
    CHECK(!cog_index_lexicon(world.index, index, &from, &record));
    CHECK(cog_hits_get(world.hits, index).rank == 0);
    CHECK(cog_hits_read(world.hits, index, 1, &hit) == 0);
    CHECK(cog_hits_first(world.hits, at) == cog_hits_count(world.hits));
    CHECK(!cog_hits_query_id(world.hits, at, &size) && size == 0);
    CHECK(cog_hits_position(world.hits, at) == 0);
}

static void try_links_and_overlap(size_t index) {
    const uint32_t at = (uint32_t)index;
    cog_word_match *matches = NULL;
    size_t count;
    const int value = (int)at;
    CHECK(!cog_links_item(world.links, index).from);
    CHECK(cog_links_position(world.links, 0, at) == 0);
    CHECK(cog_links_cosine(world.links, at, 0) == 0 && cog_links_cosine(world.links, 0, at) == 0);
    REFUSED(cog_links_explain(world.links, at, 0, &matches, &count, NULL));
    REFUSED(cog_links_explain(world.links, 0, at, &matches, &count, NULL));
    CHECK(cog_overlap_span(world.overlap, index).terms == 0);
    CHECK(cog_overlap_mark(world.overlap, 0, index).end == 0);
    CHECK(!cog_method_knob(COG_METHOD_SLICES, index));
}

static void try_report(size_t index) {
    cog_report *report = NULL;
    CHECK_OK(cog_report_create(&report, error));
    CHECK(!cog_report_notice(report, index) && cog_report_number(report, "no such number") == 0);
    cog_report_free(report);
}

TEST(accessors_give_zeros_for_an_index_out_of_range) {
    static const size_t wrong[] = {10 * DOCUMENTS, INT_MAX, UINT32_MAX, SIZE_MAX};
    CHECK_OK(open_world(error));
    CHECK(cog_pairs_count(world.pairs) && cog_clusters_member_count(world.clusters));
    CHECK(cog_hits_count(world.hits) && cog_links_count(world.links) == 2);
    CHECK(cog_overlap_span_count(world.overlap) == 0 || cog_overlap_mark_count(world.overlap, 0));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        try_pairs_and_clusters(wrong[i]);
        try_index_and_hits(wrong[i]);
        try_links_and_overlap(wrong[i]);
        try_report(wrong[i]);
    }
    close_world();
}

/* ---- Numbers without a limit ----------------------------------------------------------------- */

static size_t hits_of(const cog_index *index, const cog_search_options *options, cog_error *error) {
    cog_hits *hits = NULL;
    size_t count = 0;
    if (cog_index_search(index, world.documents, options, NULL, &hits, NULL, error) == COG_OK)
        count = cog_hits_count(hits);
    cog_hits_free(hits);
    return count;
}

/* All rows that match, as with k = DOCUMENTS. */
static void try_largest_k(cog_index *index) {
    cog_search_options few, all;
    cog_error failure = {0};
    cog_search_options_init(&few);
    cog_search_options_init(&all);
    few.k = DOCUMENTS;
    for (int bits = 0; bits < 4; bits++) {
        all.k = SIZE_MAX >> bits;
        const size_t count = hits_of(index, &few, &failure);
        CHECK_MSG(count > 0 && hits_of(index, &all, &failure) == count, "%s", failure.message);
    }
}

TEST(a_number_of_neighbours_beyond_all_rows_asks_for_all_of_them) {
    static const char *const removed[] = {"1", "5", "7"};
    const char *line = "query\trank\tid\tsimilarity\tdistance\nq\t1\ta\t0.5\t3\n";
    const char *path = write_text("hits.tsv", line);
    cog_neighbour_quality quality = {0};
    CHECK_OK(open_world(error));
    try_largest_k(world.index);
    try_largest_k(world.sets);
    CHECK_OK(cog_index_remove(world.index, removed, 3, NULL, error));
    CHECK_OK(cog_index_remove(world.sets, removed, 3, NULL, error));
    try_largest_k(world.index);
    try_largest_k(world.sets);
    CHECK_OK(cog_evaluate_neighbour_files(path, path, SIZE_MAX / 2 + 1, 64, &quality, error));
    CHECK(quality.recall == 1 && quality.k == SIZE_MAX / 2 + 1);
    close_world();
}

/* ---- No place for the result ----------------------------------------------------------------- */

static void pairs_need_a_place(int value) {
    cog_pairs_options options;
    cog_projection_options projection;
    cog_related_options related;
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    cog_projection_options_init(&projection);
    cog_related_options_init(&related);
    REFUSED(cog_pairs_find(world.documents, NULL, &options, NULL, NULL, NULL, NULL));
    REFUSED(
        cog_pairs_find_in_index(world.documents, world.index, &options, NULL, NULL, NULL, NULL));
    REFUSED(cog_pairs_find_signatures(world.signatures, NULL, 3, &options, NULL, NULL, NULL, NULL));
    REFUSED(cog_pairs_find_across(world.from, world.to, world.lexicon, &projection, &options, NULL,
                                  NULL, NULL, NULL));
    REFUSED(cog_related_find(world.documents, &related, NULL, NULL, NULL, NULL));
}

static void links_need_a_place(int value) {
    cog_link_options options;
    cog_lexicon_options lexicon;
    cog_translation *translations = NULL;
    size_t count = 0;
    cog_link_options_init(&options);
    cog_lexicon_options_init(&lexicon);
    lexicon.from = "de";
    lexicon.to = "en";
    REFUSED(cog_link(world.from, world.to, world.lexicon, &options, NULL, NULL, NULL, NULL));
    REFUSED(cog_links_prepare(world.from, world.to, world.lexicon, &options.projection, NULL, NULL,
                              NULL, NULL));
    REFUSED(cog_lexicon_train(&world.path, 1, &lexicon, NULL, NULL, NULL, NULL));
    REFUSED(cog_lexicon_convert(&world.path, 1, COG_TABLE_AUTO, &lexicon, NULL, NULL, NULL));
    REFUSED(cog_lexicon_open(world.path, NULL, NULL));
    REFUSED(cog_lexicon_translate(world.lexicon, "a", 1, NULL, NULL, &count, NULL));
    REFUSED(cog_lexicon_translate(world.lexicon, "a", 1, NULL, &translations, NULL, NULL));
}

static void indexes_need_a_place(int value) {
    cog_index_options options;
    cog_term_options terms;
    cog_index_options_init(&options);
    cog_term_options_init(&terms);
    REFUSED(cog_index_build(world.documents, &options, NULL, NULL, NULL, NULL));
    REFUSED(cog_index_build_signatures(world.signatures, &options, NULL, NULL, NULL, NULL));
    REFUSED(cog_index_remove(world.index, NULL, 1, NULL, NULL));
    REFUSED(cog_signer_create(&options.sign, NULL, NULL, NULL));
    REFUSED(cog_signer_sign(NULL, "a", 1, NULL, bytes, NULL, NULL, NULL));
    REFUSED(cog_signatures_open(world.path, NULL, NULL));
    REFUSED(cog_signatures_from_memory(bytes, 1, 64, NULL, NULL));
    REFUSED(cog_statistics_collect(world.documents, &terms, NULL, NULL, NULL, NULL));
}

static void neighbours_need_their_rows(int value) {
    static const int64_t offsets[2] = {0, 1};
    static const uint64_t tally[COG_LINK_LISTS_TALLY];
    cog_link_neighbours side = {.documents = 1, .lengths = &number, .offsets = offsets};
    cog_link_options options;
    cog_knobs knobs = {0};
    cog_link_options_init(&options);
    options.method = COG_METHOD_LISTS;
    REFUSED(cog_link_lists_plan(&side, tally, &options, &number, &number, NULL));
    REFUSED(cog_link_decide(&side, &side, &options, NULL, &stream, NULL, NULL));
    REFUSED(cog_knobs_set(&knobs, COG_METHOD_SLICES, NULL, 8, NULL));
    REFUSED(cog_knobs_set(NULL, COG_METHOD_SLICES, "slice-bits", 8, NULL));
}

TEST(a_pointer_that_is_needed_must_be_given) {
    CHECK_OK(open_world(error));
    pairs_need_a_place(0);
    links_need_a_place(0);
    indexes_need_a_place(0);
    neighbours_need_their_rows(0);
    close_world();
}

/* Front ends show the option, or its flag, next to the message. */
TEST(a_share_out_of_range_is_refused_by_the_name_of_its_option) {
    cog_error failure = {0};
    cog_pairs_options pairs;
    cog_link_options link;
    cog_links *links;
    CHECK_OK(open_world(error));
    cog_pairs_options_init(&pairs, COG_MEASURE_JACCARD);
    pairs.threshold = 0;
    CHECK(cog_pairs_find(world.documents, NULL, &pairs, NULL, &no_pairs, NULL, &failure) ==
          COG_ERR_USAGE);
    CHECK(failure.option && strcmp(failure.option, "threshold") == 0);
    cog_link_options_init(&link);
    link.precision = 2;
    CHECK(cog_link(world.from, world.to, world.lexicon, &link, NULL, &links, NULL, &failure) ==
          COG_ERR_USAGE);
    CHECK(failure.option && strcmp(failure.option, "precision") == 0);
    close_world();
}
