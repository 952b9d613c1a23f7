/* The cheapest effort that reaches a recall, against every measure tried by itself; a lower recall
 * never costs more than a higher one. Measures are random: more effort may find less. */
#include "base/hash.h"
#include "plan/effort_choice.h"
#include "test.h"

enum { ROUNDS = 200, EFFORTS = 6, MEASURES = 4 * EFFORTS };

static const double recalls[] = {0.5, 0.7, 0.8, 0.9, 0.95, 0.99};
enum { RECALLS = sizeof recalls / sizeof *recalls };

static struct recall_measures make_measures(struct random *random, const char *const names[2],
                                            struct recall_measure items[MEASURES]) {
    struct recall_measures measures = {items, 0};
    for (unsigned kind = 0; kind < 4; kind++)
        for (unsigned effort = 0; effort < EFFORTS; effort++) {
            struct share_tally tally = {0};
            uint64_t level = random_below(random, 40);
            for (int unit = 0; unit < 300; unit++)
                share_tally_add(&tally, random_below(random, 40) < level ? 9 : 10, 10);
            uint32_t flags = RECALL_OF_COSINES | (kind % 2 ? RECALL_WITH_MARGINS : 0);
            items[measures.count++] = recall_measure_of(names[kind / 2], flags, 10, effort, &tally);
        }
    return measures;
}

static struct effort_question make_question(struct random *random) {
    return (struct effort_question){.rows = 1000 + random_below(random, 1000000),
                                    .queries = 1 + random_below(random, 2000),
                                    .k = 1 + random_below(random, 10),
                                    .bits = 64u << random_below(random, 6),
                                    .row_terms = 1 + (double)random_below(random, 300),
                                    .of_cosines = true,
                                    .has_margins = random_below(random, 2) == 1};
}

/* The cheapest of all measures, each as if there were no other; 0: none is enough. */
static double cheapest_ns(const struct effort_question *question,
                          const struct recall_measures *measures,
                          const struct search_method *method) {
    double least_ns = 0;
    for (size_t i = 0; i < measures->count; i++) {
        const struct recall_measures alone = {&measures->items[i], 1};
        struct effort_choice choice;
        if (effort_choose(question, &alone, method, &choice) &&
            (least_ns <= 0 || choice.query_ns < least_ns))
            least_ns = choice.query_ns;
    }
    return least_ns;
}

TEST(effort_of_a_lower_recall_is_never_dearer) {
    static const cog_method methods[] = {COG_METHOD_SLICES, COG_METHOD_COLUMNS};
    const char *names[2] = {method_name(methods[0]), method_name(methods[1])};
    struct random random = random_seeded(18);
    int chosen = 0, left = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct recall_measure items[MEASURES];
        const struct recall_measures measures = make_measures(&random, names, items);
        struct effort_question question = make_question(&random);
        double before_ns[2] = {0};
        for (size_t r = 0; r < RECALLS; r++)
            for (int m = 0; m < 2; m++) {
                struct effort_choice choice;
                question.recall = recalls[r];
                double expected_ns = cheapest_ns(&question, &measures, method_of(methods[m]));
                bool found = effort_choose(&question, &measures, method_of(methods[m]), &choice);
                CHECK(found == (expected_ns > 0));
                chosen += found;
                left += !found;
                if (!found)
                    continue;
                CHECK_MSG(choice.query_ns >= expected_ns && choice.query_ns <= expected_ns,
                          "%g ns, %g would do", choice.query_ns, expected_ns);
                CHECK(choice.recall.low >= recalls[r]);
                CHECK_MSG(choice.query_ns >= before_ns[m], "%g ns for %g, %g for less",
                          choice.query_ns, recalls[r], before_ns[m]);
                before_ns[m] = choice.query_ns;
            }
    }
    CHECK(chosen > ROUNDS && left > ROUNDS / 2);
}

/* A damaged file may hold any effort; candidates are doubled with each step. */
TEST(effort_steps_that_a_method_does_not_have_are_not_chosen) {
    const struct search_method *method = method_of(COG_METHOD_SLICES);
    struct share_tally tally = {0};
    for (int unit = 0; unit < 300; unit++)
        share_tally_add(&tally, 10, 10);
    const struct effort_question question = {
        .rows = 100000, .queries = 1, .k = 10, .bits = 256, .recall = 0.5, .of_cosines = true};
    const uint32_t efforts[] = {method->effort_steps - 1, method->effort_steps, 64, UINT32_MAX};
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++) {
        struct recall_measure item =
            recall_measure_of(method->name, RECALL_OF_COSINES, 10, efforts[i], &tally);
        const struct recall_measures measures = {&item, 1};
        struct effort_choice choice;
        CHECK(effort_choose(&question, &measures, method, &choice) == (i == 0));
    }
}
