#include "search/keys/short_key.h"

cog_status short_key_check(const struct signatures_view *view, unsigned radius_bits,
                           cog_error *error) {
    if (view->bits != 64 && view->bits != 128)
        return error_set(error, COG_ERR_USAGE,
                         "signatures of %u bits: this method takes 64 or 128 (--bits); use another "
                         "for wider ones",
                         view->bits);
    if (view->rows > SHORT_KEY_ROWS_MAX)
        return error_set(error, COG_ERR_USAGE,
                         "%zu signatures: this method takes at most %d; split the collection",
                         view->rows, SHORT_KEY_ROWS_MAX);
    if (radius_bits > SHORT_KEY_RADIUS_MAX)
        return error_set(error, COG_ERR_USAGE,
                         "radius %u: this method takes at most %d bits; use another method",
                         radius_bits, SHORT_KEY_RADIUS_MAX);
    return COG_OK;
}
