#include "search/method.h"

#include <math.h>

#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "estimate/radius.h"

bool method_takes_bits(const struct search_method *method, unsigned bits) {
    return method->bits_max == 0 ||
           (bits >= method->bits_min && bits <= method->bits_max && bits % method->bits_step == 0);
}

unsigned method_knob_named(const struct search_method *method, const char *name) {
    unsigned number = 0;
    while (number < method->knob_count && strcmp(method->knobs[number].name, name) != 0)
        number++;
    return number;
}

cog_status method_check_knobs(const struct search_method *method, const cog_knobs *knobs,
                              unsigned use, cog_error *error) {
    for (unsigned i = 0; i < COG_KNOBS_MAX; i++) {
        if (!knob_is_given(knobs, i))
            continue;
        if (i >= method->knob_count || !(method->knobs[i].uses & use))
            return error_set(error, COG_ERR_USAGE, "the method %s has no use for '%s' here",
                             method->name,
                             i < method->knob_count ? method->knobs[i].name : "a knob");
        const cog_knob *knob = &method->knobs[i];
        uint64_t value = knobs->values[i];
        if (value < knob->least || value > knob->most)
            return error_set(error, COG_ERR_USAGE, "%s: %llu is out of range: choose %llu to %llu",
                             knob->name, (unsigned long long)value, (unsigned long long)knob->least,
                             (unsigned long long)knob->most);
    }
    return COG_OK;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

void method_release(const struct search_method *method, void *tables) {
    if (tables)
        method->reset(tables);
    free(tables);
}

static cog_status finish(const struct search_method *method, cog_status status, void *made,
                         void **tables) {
    *tables = status == COG_OK ? made : NULL;
    if (status != COG_OK)
        method_release(method, made);
    return status;
}

cog_status method_build(const struct search_method *method, const struct method_build *asked,
                        void **tables, cog_error *error) {
    void *made;
    TRY(memory_take(&made, 1, method->tables_bytes, true, method->name, error));
    return finish(method, method->build(asked, made, error), made, tables);
}

cog_status method_open(const struct search_method *method, const struct container *container,
                       const struct method_rows *rows, void **tables, cog_error *error) {
    void *made;
    TRY(memory_take(&made, 1, method->tables_bytes, true, method->name, error));
    return finish(method, method->open(container, rows, made, error), made, tables);
}

bool method_has_tables(const struct search_method *method, const struct container *container) {
    struct bytes_view section;
    if (!method->open || !container_find(container, method->section, &section))
        return false;
    return method->section_kind == 0 ||
           (section.size >= sizeof(uint64_t) &&
            decode_u64((const uint8_t *)section.data) == method->section_kind);
}

/* ---- Joins ----------------------------------------------------------------------------------- */

double join_cosine(const struct method_join *join, double similarity) {
    return join->is_jaccard ? cos(M_PI * bit_flip_probability_jaccard(similarity)) : similarity;
}

/* What a join without a true measure reports for a distance. */
static double estimate(const struct method_join *join, uint32_t distance) {
    return join->is_jaccard ? 1 - 2.0 * distance / join->bits
                            : hamming_cosine(distance, join->bits);
}

uint32_t join_radius(const struct method_join *join, double recall) {
    if (join->radius_bits != COG_RADIUS_NONE)
        return join->radius_bits < join->bits ? join->radius_bits : join->bits;
    if (join->verify)
        return radius_for_recall(join->bits,
                                 join->is_jaccard ? bit_flip_probability_jaccard(join->threshold)
                                                  : bit_flip_probability_cosine(join->threshold),
                                 recall);
    uint32_t radius = 0;
    while (radius < join->bits && estimate(join, radius + 1) >= join->threshold)
        radius++;
    return radius;
}

cog_status join_check_signatures(const struct method_join *join, cog_error *error) {
    if (!join->is_jaccard && join->is_minhash)
        return error_about(error, COG_ERR_USAGE, "kind",
                           "minhash signatures do not tell a cosine: use rp, simhash or topsig, or "
                           "the Jaccard measure");
    if (join->is_jaccard && (!join->is_minhash || join->value_bits != 1))
        return error_about(
            error, COG_ERR_USAGE, "kind",
            "distances tell a Jaccard coefficient only for minhash values of one bit: "
            "use minhash with one bit per value");
    return COG_OK;
}
