#include <math.h>

#include "base/hash.h"
#include "hamming/hamming.h"
#include "signature/patterns.h"
#include "signature/signer.h"
#include "test.h"

enum { MAX_TERMS = 600 };

struct sample {
    uint64_t hashes[MAX_TERMS];
    float weights[MAX_TERMS];
    size_t count;
};

static void fill_sample(struct sample *sample, struct random *random, size_t count) {
    sample->count = count;
    for (size_t i = 0; i < count; i++) {
        sample->hashes[i] = random_next(random);
        sample->weights[i] = (float)(random_unit(random) * 10);
    }
}

TEST(signature_kernels_agree_on_every_level) {
    struct random random = random_seeded(3);
    for (int round = 0; round < 60; round++) {
        unsigned words = 1 + (unsigned)random_below(&random, 64);
        size_t count = random_below(&random, 70);
        static uint64_t patterns[70 * 64];
        static int32_t expected[4096], seen[4096];
        int32_t weights[70];
        for (size_t i = 0; i < count * words; i++)
            patterns[i] = random_next(&random);
        for (size_t i = 0; i < count; i++)
            weights[i] = (int32_t)random_below(&random, 65535) - 32767;
        memset(expected, 0, sizeof expected);
        signature_kernels_portable.accumulate(expected, words, patterns, weights, count);
        for (int level = 0; level < CPU_LEVEL_COUNT; level++) {
            const struct signature_kernels *kernels = signature_kernels_for((enum cpu_level)level);
            if (!kernels)
                continue;
            memset(seen, 0, sizeof seen);
            kernels->accumulate(seen, words, patterns, weights, count);
            CHECK(memcmp(seen, expected, 64 * words * sizeof *seen) == 0);
        }
    }
}

TEST(signature_signs_agree_on_every_level) {
    struct random random = random_seeded(8);
    uint64_t keys[40], expected[40 * 17], seen[40 * 17];
    for (size_t i = 0; i < 40; i++)
        keys[i] = random_next(&random);
    for (unsigned words = 1; words <= 17; words += 4) {
        signature_kernels_portable.signs(expected, words, keys, 40);
        for (int level = 0; level < CPU_LEVEL_COUNT; level++) {
            const struct signature_kernels *kernels = signature_kernels_for((enum cpu_level)level);
            if (!kernels)
                continue;
            kernels->signs(seen, words, keys, 40);
            CHECK(memcmp(seen, expected, 40 * words * sizeof *seen) == 0);
        }
    }
}

TEST(signature_steps_agree_on_every_level) {
    enum { WORDS = 9 };
    struct random random = random_seeded(9);
    int16_t steps[256];
    for (int i = 0; i < 128; i++) {
        steps[i] = (int16_t)(random_below(&random, 2 * 4095 + 1) - 4095);
        steps[255 - i] = (int16_t)-steps[i];
    }
    steps[0] = -4095;
    steps[255] = 4095;
    for (int round = 0; round < 60; round++) {
        unsigned words = 1 + (unsigned)random_below(&random, WORDS);
        size_t count = random_below(&random, STEPPED_TERMS + 1);
        uint64_t sequences[STEPPED_TERMS * 8 * WORDS];
        int32_t weights[STEPPED_TERMS];
        int64_t expected[64 * WORDS], seen[64 * WORDS];
        for (size_t i = 0; i < count * 8 * words; i++)
            sequences[i] = round ? random_next(&random) : UINT64_MAX; /* the greatest sums */
        for (size_t i = 0; i < count; i++)
            weights[i] = round ? (int32_t)random_below(&random, 32768) : 32767;
        memset(expected, 1, sizeof expected);
        signature_kernels_portable.add_steps(expected, steps, words, sequences, weights, count);
        for (int level = 0; level < CPU_LEVEL_COUNT; level++) {
            const struct signature_kernels *kernels = signature_kernels_for((enum cpu_level)level);
            if (!kernels)
                continue;
            memset(seen, 1, sizeof seen);
            kernels->add_steps(seen, steps, words, sequences, weights, count);
            CHECK(memcmp(seen, expected, sizeof seen) == 0);
        }
    }
}

TEST(signature_minima_agree_on_every_level) {
    enum { LANES = 64, COUNT = 70 };
    struct random random = random_seeded(4);
    uint64_t hashes[COUNT], multipliers[LANES], increments[LANES], expected[LANES], seen[LANES];
    for (size_t i = 0; i < LANES; i++) {
        multipliers[i] = random_next(&random) | 1;
        increments[i] = random_next(&random);
        expected[i] = UINT32_MAX;
    }
    for (size_t i = 0; i < COUNT; i++)
        hashes[i] = random_next(&random);
    signature_kernels_portable.minimise(expected, multipliers, increments, LANES, hashes, COUNT);
    for (int level = 0; level < CPU_LEVEL_COUNT; level++) {
        const struct signature_kernels *kernels = signature_kernels_for((enum cpu_level)level);
        if (!kernels)
            continue;
        for (size_t i = 0; i < LANES; i++)
            seen[i] = UINT32_MAX;
        kernels->minimise(seen, multipliers, increments, LANES, hashes, COUNT);
        CHECK(memcmp(seen, expected, sizeof seen) == 0);
    }
}

/* A signer with its workspace, for one test. */
struct bench {
    struct signer *signer;
    struct signer_workspace *workspace;
};

static cog_status bench_open(struct bench *bench, const struct signature_options *options,
                             cog_error *error) {
    cog_status status = signer_create(options, &bench->signer, error);
    return status == COG_OK ? signer_workspace_create(bench->signer, &bench->workspace, error)
                            : status;
}

static void bench_close(struct bench *bench) {
    signer_workspace_free(bench->workspace);
    signer_free(bench->signer);
}

/* The definition, term by term and bit by bit, in floating point. */
static void naive_sums(const struct signature_options *options, const struct sample *sample,
                       double *sums) {
    unsigned words = (options->bits + 63) / 64;
    uint64_t plus[64], minus[64];
    uint16_t positions[SIGNATURE_MAX_BITS];
    memset(sums, 0, options->bits * sizeof *sums);
    for (size_t t = 0; t < sample->count; t++) {
        if (options->kind == SIGNATURE_TOPSIG) {
            unsigned ones = (unsigned)(options->density * options->bits);
            pattern_ternary(sample->hashes[t], options->seed, options->bits, ones, positions, words,
                            plus, minus);
        } else {
            pattern_simhash(sample->hashes[t], options->seed, words, plus);
            uint64_t key = pattern_key(sample->hashes[t], options->seed);
            for (unsigned i = 0; i < words; i++) {
                if (options->kind == SIGNATURE_RP)
                    plus[i] = hash_sequence(key, i);
                minus[i] = ~plus[i];
            }
        }
        for (unsigned j = 0; j < options->bits; j++) {
            int sign =
                (int)((plus[j / 64] >> (j % 64)) & 1) - (int)((minus[j / 64] >> (j % 64)) & 1);
            sums[j] += (double)sample->weights[t] * sign;
        }
    }
}

TEST(signature_sums_follow_the_definition) {
    struct random random = random_seeded(5);
    for (int round = 0; round < 40; round++) {
        struct signature_options options;
        signature_options_init(&options, (enum signature_kind)(round % 3));
        options.bits = 8 + 8 * (unsigned)random_below(&random, 200);
        options.seed = (uint64_t)round / 3;
        struct sample sample;
        fill_sample(&sample, &random, random_below(&random, MAX_TERMS));
        struct bench bench = {0};
        CHECK_OK(bench_open(&bench, &options, error));
        uint8_t signature[SIGNATURE_MAX_BITS / 8];
        float sums[SIGNATURE_MAX_BITS];
        double expected[SIGNATURE_MAX_BITS];
        struct weighted_terms terms = {sample.hashes, sample.weights, sample.count};
        signer_sign(bench.signer, bench.workspace, &terms, signature, sums);
        naive_sums(&options, &sample, expected);
        double tolerance = 10.0 / 32767 * ((double)sample.count + 1);
        for (unsigned j = 0; j < options.bits; j++) {
            CHECK(fabs(sums[j] - expected[j]) <= tolerance);
            CHECK(signature_bit(signature, j) == (sums[j] >= 0));
        }
        bench_close(&bench);
    }
}

TEST(signature_of_nothing_is_all_ones) {
    struct signature_options options;
    signature_options_init(&options, SIGNATURE_RP);
    options.bits = 72;
    struct bench bench = {0};
    CHECK_OK(bench_open(&bench, &options, error));
    uint8_t signature[16];
    struct weighted_terms none = {0};
    signer_sign(bench.signer, bench.workspace, &none, signature, NULL);
    for (int i = 0; i < 16; i++)
        CHECK(signature[i] == (i < 9 ? 255 : 0));
    bench_close(&bench);
}

TEST(signature_unit_weights_count_repetitions) {
    struct random random = random_seeded(6);
    for (int kind = 0; kind < 3; kind++) {
        struct signature_options options;
        signature_options_init(&options, (enum signature_kind)kind);
        struct bench bench = {0};
        CHECK_OK(bench_open(&bench, &options, error));
        uint64_t repeated[300], distinct[100];
        float counts[100];
        size_t total = 0;
        for (int i = 0; i < 100; i++) {
            distinct[i] = random_next(&random);
            int repeats = i == 0 ? 3 : 1 + (int)random_below(&random, 3);
            counts[i] = (float)repeats;
            for (int r = 0; r < repeats; r++)
                repeated[total++] = distinct[i];
        }
        uint8_t signature[128];
        float listed_sums[1024], weighted_sums[1024];
        struct weighted_terms listed = {repeated, NULL, total}, weighted = {distinct, counts, 100};
        signer_sign(bench.signer, bench.workspace, &listed, signature, listed_sums);
        signer_sign(bench.signer, bench.workspace, &weighted, signature, weighted_sums);
        for (unsigned j = 0; j < options.bits; j++) {
            CHECK(listed_sums[j] == rintf(listed_sums[j]));
            CHECK(fabsf(listed_sums[j] - weighted_sums[j]) < 0.05f);
        }
        bench_close(&bench);
    }
}

/* More terms than 32-bit sums hold: all of the same hash, so that every sum is plus or minus the
 * total. */
TEST(signature_sums_do_not_overflow) {
    enum { MANY = 300000 };
    uint64_t *hashes = malloc(MANY * sizeof *hashes);
    float *weights = malloc(MANY * sizeof *weights);
    for (int i = 0; i < MANY; i++) {
        hashes[i] = 12345;
        weights[i] = 2;
    }
    for (int kind = 0; kind < 3; kind++) {
        struct signature_options options;
        signature_options_init(&options, (enum signature_kind)kind);
        options.bits = 64;
        struct bench bench = {0};
        CHECK_OK(bench_open(&bench, &options, error));
        uint8_t signature[8];
        float sums[64];
        struct weighted_terms terms = {hashes, weights, MANY};
        signer_sign(bench.signer, bench.workspace, &terms, signature, sums);
        for (int j = 0; j < 64; j++)
            CHECK(fabsf(fabsf(sums[j]) - 2.0f * MANY) < 1 ||
                  (kind == SIGNATURE_TOPSIG && sums[j] == 0));
        bench_close(&bench);
    }
    free(hashes);
    free(weights);
}

static double mean_estimate(const struct bench *bench, struct random *random, size_t shared) {
    enum { ROUNDS = 30, TERMS = 200 };
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t hashes[2 * TERMS];
        for (size_t i = 0; i < 2 * TERMS; i++)
            hashes[i] = random_next(random);
        uint8_t a[128], b[128];
        struct weighted_terms first = {hashes, NULL, TERMS};
        struct weighted_terms second = {hashes + (TERMS - shared), NULL, TERMS};
        signer_sign(bench->signer, bench->workspace, &first, a, NULL);
        signer_sign(bench->signer, bench->workspace, &second, b, NULL);
        sum += signature_estimate(signer_options(bench->signer), a, b);
    }
    return sum / ROUNDS;
}

TEST(signature_estimates_are_unbiased) {
    struct random random = random_seeded(7);
    static const size_t shared[] = {0, 60, 120, 180, 200};
    for (size_t s = 0; s < 5; s++)
        for (int kind = 0; kind < 4; kind++)
            for (int variant = 0; variant < 2; variant++) {
                struct signature_options options;
                signature_options_init(&options, (enum signature_kind)kind);
                options.bits = 1024;
                options.gaussian = variant == 1;
                options.value_bits = variant ? 4 : 32;
                struct bench bench = {0};
                CHECK_OK(bench_open(&bench, &options, error));
                double share = (double)shared[s];
                double truth = kind == SIGNATURE_MINHASH ? share / (400 - share) : share / 200;
                double seen = mean_estimate(&bench, &random, shared[s]);
                CHECK_MSG(fabs(seen - truth) < 0.04, "kind %d, truth %g: %g", kind, truth, seen);
                bench_close(&bench);
            }
}

/* Files carry signatures from machine to machine: these bits may never change. */
TEST(signature_bits_are_frozen) {
    static const char *const expected[] = {"5f1da1288a18e1ea", "6623e87dc63bc2ce",
                                           "fef4bf5fb6dde97f", "0b2e66a365bf3447"};
    uint64_t hashes[2] = {hash_bytes("cognate", 7), hash_bytes("twin", 4)};
    float weights[2] = {2, 1};
    for (int kind = 0; kind < 4; kind++) {
        struct signature_options options;
        signature_options_init(&options, (enum signature_kind)kind);
        options.bits = 64;
        struct bench bench = {0};
        CHECK_OK(bench_open(&bench, &options, error));
        struct weighted_terms terms = {hashes, weights, 2};
        uint8_t signature[8];
        signer_sign(bench.signer, bench.workspace, &terms, signature, NULL);
        char seen[17];
        for (int i = 0; i < 8; i++)
            snprintf(seen + 2 * i, 3, "%02x", signature[i]);
        CHECK_MSG(strcmp(seen, expected[kind]) == 0, "kind %d: %s", kind, seen);
        bench_close(&bench);
    }
}

TEST(signature_bad_options_are_refused) {
    struct signature_options options;
    cog_error failure;
    signature_options_init(&options, SIGNATURE_RP);
    options.bits = 5000;
    CHECK(signature_options_check(&options, &failure) == COG_ERR_USAGE);
    signature_options_init(&options, SIGNATURE_MINHASH);
    options.bits = 100;
    CHECK(signature_options_check(&options, &failure) == COG_ERR_USAGE);
    signature_options_init(&options, SIGNATURE_TOPSIG);
    options.density = 0.7;
    CHECK(signature_options_check(&options, &failure) == COG_ERR_USAGE);
}
