#include "jobs/link/link_options.h"

#include "base/arguments.h"
#include "collection/options.h"
#include "jobs/link/link_decoys.h"
#include "plan/method_table.h"

cog_status projection_options_check(const cog_projection_options *options, cog_error *error) {
    TRY(check_given(options, "options", error));
    TRY(options_check_reserved(options->reserved, 4, "projection", error));
    TRY(check_given(options->linkers, "linkers", error));
    return options->k1 >= 0 && options->b >= 0 && options->b <= 1
               ? COG_OK
               : error_set(error, COG_ERR_USAGE,
                           "BM25 with k1 = %g and b = %g: choose k1 from 0 on and b from 0 to 1",
                           options->k1, options->b);
}

cog_status link_options_check(const cog_link_options *options, cog_error *error) {
    TRY(check_given(options, "options", error));
    TRY(options_check_reserved(options->reserved, 2, "link", error));
    TRY(check_enum(options->method, COG_METHOD_COUNT, "method", error));
    cog_method method = options->method;
    if (method == COG_METHOD_AUTO && options->knobs.given)
        return error_about(error, COG_ERR_USAGE, "method",
                           "the method auto has no knobs: choose the method that they belong to");
    TRY(method_take_knobs(&method, &options->knobs, COG_KNOB_PAIRS, error));
    bool exact = options->method == COG_METHOD_EXACT;
    if (!exact && (options->bits < SIGNATURE_MIN_BITS || options->bits > SIGNATURE_MAX_BITS))
        return error_set(error, COG_ERR_USAGE, "signatures of %u bits: choose from %d to %d",
                         options->bits, SIGNATURE_MIN_BITS, SIGNATURE_MAX_BITS);
    TRY(check_share(options->recall, "recall", error));
    if (options->recall >= 1 && options->method != COG_METHOD_AUTO && !exact)
        return error_set(error, COG_ERR_USAGE,
                         "only the exact method finds every partner for certain: use the method "
                         "auto or exact, or a recall below 1");
    TRY(check_share(options->precision, "precision", error));
    if (options->per_document && options->one_to_one)
        return error_set(
            error, COG_ERR_USAGE,
            "the best links of each document are not one-to-one: choose one of the two");
    if (options->candidates == 0)
        return error_set(error, COG_ERR_USAGE, "linking needs at least one candidate per document");
    return COG_OK;
}

static size_t most_of(size_t a, size_t b) {
    return a > b ? a : b;
}

void link_options_wanted(const cog_link_options *options, size_t wanted[2]) {
    wanted[1] = most_of(options->hub_neighbours, LINK_NEAREST);
    wanted[0] = most_of(most_of(options->candidates, options->per_document), wanted[1]);
}

size_t link_options_listed(const cog_link_options *options) {
    return most_of(options->per_document, 1);
}
