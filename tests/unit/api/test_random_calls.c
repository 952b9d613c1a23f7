/* Random calls with random documents and arguments, right and wrong ones. A job gives the same
 * answer for documents in memory, by Arrow and from a file; a wrong argument is refused with a
 * message, and no result is made. */
#include <inttypes.h>
#include <math.h>

#include "api/random_documents.h"
#include "base/error.h"
#include "test.h"

/* What a job answered, as text. */
struct answer {
    cog_status status;
    cog_error error;
    char *text;
    size_t size;
};

struct round {
    struct random random;
    struct random_documents documents;
    bool wrong; /* one option has a wrong value */
    int first;  /* the first form to compare: documents in memory have no fields to keep by */
    union {
        cog_pairs_options pairs;
        cog_dedup_options dedup;
        cog_sign_options sign;
        cog_verify_options verify;
        struct {
            cog_index_options index;
            cog_search_options search;
        };
    } options;
    int64_t a[RANDOM_ROWS], b[RANDOM_ROWS]; /* pairs to verify */
    size_t pair_count;
};

typedef cog_status round_job(struct round *round, int form, const cog_run_options *run, FILE *out,
                             cog_error *error);

/* ---- Values ---------------------------------------------------------------------------------- */

static const double wrong_numbers[] = {NAN, INFINITY, -INFINITY, -1, 1e300, 1.5, 0};
static const unsigned wrong_counts[] = {0, 1, 3, 7, 63, 65, 1 << 20, UINT32_MAX};

#define ANY(list) ((list)[random_number(random, sizeof(list) / sizeof *(list))])

/* An enum's value below `count`, or one that it has not. */
static int any_value(struct random *random, size_t count) {
    return random_one_in(random, 100) ? 4711 : (int)random_number(random, count);
}

static void draw_terms(cog_term_options *terms, struct random *random) {
    static const char *const languages[] = {"auto", "en", "de", "", "xx", NULL};
    cog_term_options_init(terms);
    terms->tokens = (cog_tokens)any_value(random, COG_TOKENS_CODE + 1);
    terms->ngram = 1 + (unsigned)random_number(random, 4);
    terms->stem = random_one_in(random, 2);
    terms->drop_stop_words = random_one_in(random, 2);
    terms->lang = ANY(languages);
}

static void draw_sign(cog_sign_options *sign, cog_signature_kind kind, struct random *random) {
    static const unsigned widths[] = {64, 128, 192, 1024, 40, 8};
    cog_sign_options_init(sign, kind);
    if (random_one_in(random, 2))
        draw_terms(&sign->terms, random);
    if (random_one_in(random, 4))
        cog_weight_options_init(&sign->weights, (cog_weighting)any_value(random, 4));
    sign->signature.bits = ANY(widths);
    sign->signature.seed = random_number(random, 3);
    sign->signature.gaussian = kind == COG_SIGNATURE_RP && random_one_in(random, 4);
}

/* Overwrites one value with a wrong one. */
static void spoil_sign(cog_sign_options *sign, struct random *random) {
    switch (random_number(random, 8)) {
    case 0:
        sign->signature.bits = ANY(wrong_counts);
        break;
    case 1:
        sign->signature.density = ANY(wrong_numbers);
        break;
    case 2:
        sign->signature.value_bits = ANY(wrong_counts);
        break;
    case 3:
        sign->terms.ngram = ANY(wrong_counts);
        break;
    case 4:
        sign->terms.lang = "a language";
        break;
    case 5:
        sign->weights.k1 = ANY(wrong_numbers);
        break;
    case 6:
        sign->weights.b = ANY(wrong_numbers);
        break;
    default:
        sign->terms.reserved[random_number(random, 4)] = 1;
    }
}

/* Some knob of the method, right or wrong. */
static void draw_knob(cog_knobs *knobs, cog_method method, bool wrong, struct random *random) {
    const size_t count = cog_method_knob_count(method);
    if (!count)
        return;
    const size_t place = random_number(random, count);
    const cog_knob *knob = cog_method_knob(method, place);
    const uint64_t span = knob->most - knob->least;
    knobs->method = method;
    knobs->given = 1u << place;
    knobs->values[place] = knob->least + random_number(random, span < 8 ? (size_t)span + 1 : 8);
    if (wrong)
        knobs->values[place] = random_one_in(random, 2) ? knob->most + 1 : UINT64_MAX;
}

static void draw_pairs(cog_pairs_options *pairs, bool wrong, struct random *random) {
    static const double thresholds[] = {0.3, 0.5, 0.8, 1, 0.01};
    static const double recalls[] = {0.95, 1, 0.5};
    cog_pairs_options_init(pairs, (cog_measure)any_value(random, COG_MEASURE_CONTAINMENT + 1));
    pairs->threshold = ANY(thresholds);
    pairs->recall = ANY(recalls);
    pairs->verify = !random_one_in(random, 6);
    if (random_one_in(random, 2))
        pairs->method = (cog_method)any_value(random, COG_METHOD_COUNT);
    if (random_one_in(random, 3))
        draw_terms(&pairs->sign.terms, random);
    if (random_one_in(random, 4))
        draw_sign(&pairs->sign, (cog_signature_kind)any_value(random, 4), random);
    if (random_one_in(random, 3))
        draw_knob(&pairs->knobs, pairs->method, wrong && random_one_in(random, 2), random);
    switch (wrong ? random_number(random, 4) : 4) {
    case 0:
        pairs->threshold = ANY(wrong_numbers);
        break;
    case 1:
        pairs->recall = ANY(wrong_numbers);
        break;
    case 2:
        spoil_sign(&pairs->sign, random);
        break;
    case 3:
        pairs->reserved[random_number(random, 4)] = UINT64_MAX;
        break;
    default:
        break;
    }
}

/* ---- Jobs whose answers do not depend on the form -------------------------------------------- */

static void draw_for_pairs(struct round *round) {
    draw_pairs(&round->options.pairs, round->wrong, &round->random);
}

static cog_status find_pairs(struct round *round, int form, const cog_run_options *run, FILE *out,
                             cog_error *error) {
    cog_pairs *pairs = NULL;
    cog_status status = cog_pairs_find(round->documents.forms[form], NULL, &round->options.pairs,
                                       run, &pairs, NULL, error);
    for (size_t i = 0; pairs && i < cog_pairs_count(pairs); i++) {
        const cog_pair pair = cog_pairs_get(pairs, i);
        fprintf(out, "%" PRIu64 " %" PRIu64 " %.17g %d\n", cog_pairs_position(pairs, 0, pair.a),
                cog_pairs_position(pairs, 1, pair.b), pair.similarity, pair.distance);
    }
    cog_pairs_free(pairs);
    return status;
}

static void draw_for_dedup(struct round *round) {
    struct random *random = &round->random;
    cog_dedup_options *dedup = &round->options.dedup;
    cog_dedup_options_init(dedup);
    draw_pairs(&dedup->pairs, round->wrong, random);
    dedup->keep = (cog_keep)any_value(random, COG_KEEP_FIELD + 1);
    dedup->keep_field = "lang";
    round->first = dedup->keep == COG_KEEP_FIELD ? 1 : 0;
    dedup->keep_least = random_one_in(random, 2);
    dedup->grouping = (cog_grouping)any_value(random, COG_GROUP_CONNECTED + 1);
}

static cog_status remove_duplicates(struct round *round, int form, const cog_run_options *run,
                                    FILE *out, cog_error *error) {
    cog_clusters *clusters = NULL;
    cog_status status = cog_dedup(round->documents.forms[form], &round->options.dedup, NULL, run,
                                  &clusters, NULL, error);
    for (size_t i = 0; clusters && i < cog_clusters_member_count(clusters); i++) {
        const cog_cluster_member member = cog_clusters_member(clusters, i);
        fprintf(out, "%u: %" PRIu64 " of %" PRIu64 " %.17g\n", member.cluster,
                cog_clusters_position(clusters, member.row),
                cog_clusters_position(clusters, member.representative), member.similarity);
    }
    for (uint32_t row = 0; clusters && row < cog_clusters_document_count(clusters); row++)
        if (cog_clusters_is_kept(clusters, row))
            fprintf(out, "keep %" PRIu64 "\n", cog_clusters_position(clusters, row));
    cog_clusters_free(clusters);
    return status;
}

static void draw_for_against(struct round *round) {
    static const double thresholds[] = {0.3, 0.5, 0.8, 1};
    struct random *random = &round->random;
    cog_dedup_options *dedup = &round->options.dedup;
    const cog_measure measure =
        random_one_in(random, 2) ? COG_MEASURE_JACCARD : COG_MEASURE_CONTAINMENT;
    cog_dedup_options_init(dedup);
    cog_pairs_options_init(&dedup->pairs, measure);
    dedup->pairs.threshold = ANY(thresholds);
}

/* Texts of which an index keeps every one. */
static size_t choose_reference(const struct round *round, cog_document *items) {
    size_t count = 0;
    for (size_t row = 0; row < round->documents.count; row += 2) {
        const cog_document *item = &round->documents.items[row];
        if (item->text_size > 40 && !strstr(item->text, "\xc3\x28"))
            items[count++] = (cog_document){.text = item->text, .text_size = item->text_size};
    }
    return count;
}

static void print_twins(cog_clusters *clusters, FILE *out) {
    for (uint32_t row = 0; row < cog_clusters_document_count(clusters); row++) {
        uint32_t twin;
        double similarity;
        if (cog_clusters_twin(clusters, row, &twin, &similarity))
            fprintf(out, "%" PRIu64 " of %" PRIu64 " %.17g\n", cog_clusters_position(clusters, row),
                    cog_clusters_twin_position(clusters, twin), similarity);
    }
}

/* Documents in memory have a reference of documents, the others an index of them. */
static cog_status remove_known(struct round *round, int form, const cog_run_options *run, FILE *out,
                               cog_error *error) {
    cog_document items[RANDOM_ROWS];
    cog_dedup_options options = round->options.dedup;
    cog_index_options index_options;
    cog_index *index = NULL;
    cog_clusters *clusters = NULL;
    cog_documents *reference = NULL;
    TRY(cog_documents_from_memory(items, choose_reference(round, items), &reference, error));
    cog_index_options_init_for(&index_options, options.pairs.measure);
    cog_status status =
        form ? cog_index_build(reference, &index_options, run, &index, NULL, error) : COG_OK;
    options.against = form ? NULL : reference;
    options.against_index = index;
    THEN(status,
         cog_dedup(round->documents.forms[form], &options, NULL, run, &clusters, NULL, error));
    if (status == COG_OK)
        print_twins(clusters, out);
    cog_clusters_free(clusters);
    cog_index_close(index);
    cog_documents_close(reference);
    return status;
}

static void draw_for_sign(struct round *round) {
    struct random *random = &round->random;
    draw_sign(&round->options.sign, (cog_signature_kind)any_value(random, 4), random);
    if (round->wrong)
        spoil_sign(&round->options.sign, random);
}

/* The statistics of the documents, and their parts merged, which must give the same bytes. */
static cog_status collect_statistics(struct round *round, int form, const cog_run_options *run,
                                     FILE *out, cog_error *error) {
    cog_statistics *statistics = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    cog_status status = cog_statistics_collect(
        round->documents.forms[form], &round->options.sign.terms, run, &statistics, NULL, error);
    THEN(status, cog_statistics_to_bytes(statistics, &bytes, &size, error));
    if (size)
        fwrite(bytes, 1, size, out);
    cog_free(bytes);
    cog_statistics_free(statistics);
    return status;
}

static void print_rows(const uint8_t *bytes, const float *margins, size_t rows, unsigned bits,
                       FILE *out) {
    const size_t width = (bits + 7) / 8;
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < width; i++)
            fprintf(out, "%02x", bytes[row * width + i]);
        for (size_t i = 0; i < bits; i += 7)
            fprintf(out, " %.9g", (double)margins[row * bits + i]);
        fputc('\n', out);
    }
}

/* Reads what cog_sign wrote, and adds the rows of skipped documents. */
static cog_status read_signed(struct round *round, const cog_sign_outputs *outputs, FILE *out,
                              cog_error *error) {
    cog_signatures *signatures = NULL;
    cog_weights *weights = NULL;
    struct ArrowArrayStream stream;
    struct arrow_result rows;
    const float *margins = NULL;
    const uint64_t *skipped = NULL;
    const size_t gone = cog_documents_skipped(round->documents.forms[2], &skipped);
    cog_status status = cog_signatures_open(outputs->signatures, &signatures, error);
    THEN(status, cog_weights_open(outputs->weights, &weights, error));
    THEN(status, cog_weights_of(weights, signatures, &margins, error));
    THEN(status, cog_signatures_to_arrow(signatures, &stream, error));
    if (status == COG_OK && arrow_result_read(&stream, &rows)) {
        const unsigned bits = cog_signatures_bits(signatures);
        const uint8_t *bytes = rows.array.children[0]->buffers[1];
        float *none = calloc(bits, sizeof *none);
        size_t next = 0, left = 0;
        for (size_t row = 0; row < round->documents.count; row++)
            if (left < gone && skipped[left] == row && ++left)
                print_rows((const uint8_t *)none, none, 1, bits, out);
            else if (next < cog_signatures_rows(signatures)) {
                print_rows(bytes + next * (bits / 8), margins + next * bits, 1, bits, out);
                next++;
            }
        free(none);
        arrow_result_free(&rows);
    }
    cog_weights_free(weights);
    cog_signatures_free(signatures);
    return status;
}

static cog_status sign_file(struct round *round, const cog_run_options *run, FILE *out,
                            cog_error *error) {
    static cog_sign_outputs outputs;
    if (!outputs.signatures)
        outputs = (cog_sign_outputs){test_path("random.npy"), test_path("margins.npy"), NULL};
    TRY(cog_sign(round->documents.forms[2], &round->options.sign, NULL, &outputs, run, NULL,
                 error));
    return read_signed(round, &outputs, out, error);
}

static cog_status sign_documents(struct round *round, int form, const cog_run_options *run,
                                 FILE *out, cog_error *error) {
    static uint8_t bytes[RANDOM_ROWS * 1024 / 8];
    static float margins[RANDOM_ROWS * 1024];
    const unsigned bits = round->options.sign.signature.bits;
    const cog_sign_buffers buffers = {round->documents.count, bytes, margins, NULL};
    if (bits > 1024 && bits < UINT32_MAX / 2) /* right, but there is no room for them */
        return COG_OK;
    if (form == 2)
        return sign_file(round, run, out, error);
    TRY(cog_sign_rows(round->documents.forms[form], &round->options.sign, NULL, &buffers, run, NULL,
                      error));
    print_rows(bytes, margins, round->documents.count, bits, out);
    return COG_OK;
}

static void draw_for_verify(struct round *round) {
    struct random *random = &round->random;
    cog_verify_options *verify = &round->options.verify;
    cog_verify_options_init(verify, (cog_measure)any_value(random, 3));
    if (random_one_in(random, 2))
        draw_terms(&verify->terms, random);
    verify->short_texts = random_one_in(random, 2);
    if (round->wrong)
        verify->weights.b = ANY(wrong_numbers);
    round->pair_count = random_number(random, RANDOM_ROWS);
    for (size_t i = 0; i < round->pair_count; i++) {
        static const int64_t outside[] = {-1, RANDOM_ROWS, INT64_MIN, INT64_MAX, UINT32_MAX};
        const bool is_wrong = random_one_in(random, 20);
        round->a[i] = (int64_t)random_number(random, round->documents.count);
        round->b[i] =
            is_wrong ? ANY(outside) : (int64_t)random_number(random, round->documents.count);
    }
}

static cog_status verify_pairs(struct round *round, int form, const cog_run_options *run, FILE *out,
                               cog_error *error) {
    double similarities[RANDOM_ROWS] = {0};
    TRY(cog_verify_pairs(round->documents.forms[form], NULL, round->a, round->b, round->pair_count,
                         &round->options.verify, run, similarities, NULL, error));
    for (size_t i = 0; i < round->pair_count; i++)
        fprintf(out, "%.17g\n", isnan(similarities[i]) ? -1 : similarities[i]);
    return COG_OK;
}

static cog_status list_sets(struct round *round, int form, const cog_run_options *run, FILE *out,
                            cog_error *error) {
    struct ArrowArrayStream stream;
    struct arrow_result sets;
    TRY(cog_term_sets(round->documents.forms[form], &round->options.verify.terms,
                      round->options.verify.measure, run, &stream, NULL, error));
    if (!arrow_result_read(&stream, &sets))
        return error_set(error, COG_ERR_INPUT, "not one array");
    for (int64_t row = 0; row < sets.array.length; row++) {
        const struct ArrowArray *lists = arrow_column_named(&sets, "terms");
        const int32_t *offsets = lists->buffers[1];
        fprintf(out, "%lld %lld:", (long long)arrow_whole(&sets, "row", (size_t)row),
                (long long)arrow_whole(&sets, "text_bytes", (size_t)row));
        for (int32_t i = offsets[row]; i < offsets[row + 1]; i++)
            fprintf(out, " %lld", (long long)((const int64_t *)lists->children[0]->buffers[1])[i]);
        fputc('\n', out);
    }
    arrow_result_free(&sets);
    return COG_OK;
}

static void draw_for_index(struct round *round) {
    static const double thresholds[] = {0, 0, 0.3, 0.8};
    struct random *random = &round->random;
    cog_index_options *index = &round->options.index;
    cog_search_options *search = &round->options.search;
    cog_index_options_init_for(index, (cog_measure)any_value(random, 3));
    index->vectors = !random_one_in(random, 5);
    index->unmeasured = random_one_in(random, 2);
    if (random_one_in(random, 3))
        index->method = (cog_method)any_value(random, COG_METHOD_COUNT);
    if (random_one_in(random, 3))
        draw_terms(&index->sign.terms, random);
    if (random_one_in(random, 4))
        index->sign.signature.bits = random_one_in(random, 2) ? 64 : 128;
    index->radius_bits = (unsigned)random_number(random, 8);
    cog_search_options_init(search);
    search->k = random_number(random, 6);
    search->threshold = ANY(thresholds);
    if (random_one_in(random, 5))
        search->radius_bits = (uint32_t)random_number(random, 40);
    if (random_one_in(random, 3))
        search->method = (cog_method)any_value(random, COG_METHOD_COUNT);
    search->recall = random_one_in(random, 4) ? 1 : 0.9;
    search->verify = !random_one_in(random, 5);
    search->first = random_one_in(random, 8);
    if (random_one_in(random, 3))
        draw_knob(&search->knobs, search->method, round->wrong, random);
    if (round->wrong && random_one_in(random, 2))
        search->threshold = ANY(wrong_numbers);
    else if (round->wrong && random_one_in(random, 2))
        spoil_sign(&index->sign, random);
    else if (round->wrong)
        search->recall = ANY(wrong_numbers);
}

static void print_hits(const cog_hits *hits, uint32_t query, uint64_t position, FILE *out) {
    for (size_t i = cog_hits_first(hits, query); i < cog_hits_count(hits); i++) {
        const cog_hit hit = cog_hits_get(hits, i);
        if (hit.query != query)
            break;
        fprintf(out, "%" PRIu64 " %u: %u %.17g %d\n", position, hit.rank, hit.row, hit.similarity,
                hit.distance);
    }
}

/* Each text by itself, except those that a search of all of them has skipped. */
static cog_status ask_one_by_one(struct round *round, const cog_index *index, FILE *out,
                                 cog_error *error) {
    cog_searcher *searcher = NULL;
    const uint64_t *skipped = NULL;
    const size_t gone = cog_documents_skipped(round->documents.forms[0], &skipped);
    size_t left = 0;
    cog_status status = cog_searcher_create(index, &round->options.search, &searcher, error);
    for (size_t row = 0; status == COG_OK && row < round->documents.count; row++) {
        const cog_document *own = &round->documents.items[row];
        const cog_hits *found = NULL;
        if (left < gone && skipped[left] == row && ++left)
            continue;
        status =
            cog_searcher_find_text(searcher, own->text, own->text_size, own->lang, &found, error);
        if (status == COG_OK)
            print_hits(found, 0, row, out);
    }
    cog_searcher_free(searcher);
    return status;
}

static cog_status ask_at_once(struct round *round, const cog_index *index, int form,
                              const cog_run_options *run, FILE *out, cog_error *error) {
    cog_hits *hits = NULL;
    TRY(cog_index_search(index, round->documents.forms[form], &round->options.search, run, &hits,
                         NULL, error));
    for (uint32_t query = 0; query < cog_hits_queries(hits); query++)
        print_hits(hits, query, cog_hits_position(hits, query), out);
    cog_hits_free(hits);
    return COG_OK;
}

static cog_status build_and_ask(struct round *round, int form, const cog_run_options *run,
                                FILE *out, cog_error *error) {
    cog_index *index = NULL;
    cog_status status = cog_index_build(round->documents.forms[form], &round->options.index, run,
                                        &index, NULL, error);
    if (status == COG_OK)
        status = form == 1 ? ask_one_by_one(round, index, out, error)
                           : ask_at_once(round, index, form, run, out, error);
    cog_index_close(index);
    return status;
}

static const struct {
    const char *name;
    void (*draw)(struct round *round);
    round_job *run;
} jobs[] = {
    {"pairs", draw_for_pairs, find_pairs},
    {"dedup", draw_for_dedup, remove_duplicates},
    {"dedup against", draw_for_against, remove_known},
    {"statistics", draw_for_sign, collect_statistics},
    {"sign", draw_for_sign, sign_documents},
    {"verify", draw_for_verify, verify_pairs},
    {"term sets", draw_for_verify, list_sets},
    {"index", draw_for_index, build_and_ask},
};

/* ---- Rounds ---------------------------------------------------------------------------------- */

static bool run_job(struct round *round, round_job *job, int form, struct answer *answer) {
    static const unsigned threads[] = {0, 1, 2, 3, 7};
    const cog_run_options run = {.threads = threads[random_number(&round->random, 5)]};
    *answer = (struct answer){0};
    FILE *out = open_memstream(&answer->text, &answer->size);
    answer->status = job(round, form, &run, out, &answer->error);
    fclose(out);
    return answer->status == COG_OK || (answer->error.status == answer->status &&
                                        answer->error.message[0] && answer->size == 0);
}

static bool same_answers(const struct answer *a, const struct answer *b) {
    return a->status == b->status && a->size == b->size &&
           (a->size == 0 || memcmp(a->text, b->text, a->size) == 0);
}

static bool one_round(uint64_t seed) {
    static struct round round;
    struct answer answers[RANDOM_FORMS];
    cog_error error = {0};
    bool right = true;
    round.random = random_seeded(seed);
    if (random_documents_open(&round.documents, &round.random, &error) != COG_OK) {
        test_fail(__FILE__, __LINE__, "round %" PRIu64 ": %s", seed, error.message);
        return false;
    }
    const size_t chosen = random_number(&round.random, sizeof jobs / sizeof *jobs);
    round.first = 0;
    round.wrong = random_one_in(&round.random, 4);
    jobs[chosen].draw(&round);
    /* A file without any document is refused, so that a wrong format is noticed. */
    const int forms = round.documents.usable ? RANDOM_FORMS : 2;
    for (int form = round.first; form < forms; form++) {
        const bool sound = run_job(&round, jobs[chosen].run, form, &answers[form]);
        if (sound && (form == round.first || same_answers(&answers[round.first], &answers[form])))
            continue;
        right = false;
        for (int other = round.first; other <= form;
             other += form == round.first ? 1 : form - round.first)
            test_fail(__FILE__, __LINE__, "round %" PRIu64 ", %s, %s: %s %s\n%s", seed,
                      jobs[chosen].name, random_form_names[other],
                      cog_status_name(answers[other].status), answers[other].error.message,
                      answers[other].text);
    }
    for (int form = round.first; form < forms; form++)
        free(answers[form].text);
    random_documents_close(&round.documents);
    return right && arrow_live_arrays == 0;
}

TEST(random_calls_give_the_same_for_every_form_of_documents) {
    for (uint64_t seed = 1; seed <= random_rounds(60); seed++)
        CHECK(one_round(seed));
}
