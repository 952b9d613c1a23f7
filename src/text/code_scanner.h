/* From source code to tokens. In: valid UTF-8 in any programming language. Out: batches of tokens
 * (text/text_scanner.h): identifiers, numbers, and every other character that is not white space as
 * a token of its own. Nothing is folded. ASCII needs no library calls.
 *
 * An identifier is a run of letters, digits, marks and underscores that does not start with an
 * ASCII digit. A number starts with a digit and continues over letters, digits and underscores, and
 * over a point between two digits (0xff, 1_000, 2.5e3). Comments and strings get no special
 * treatment: their words and signs are tokens. */
#pragma once

#include "text/text_scanner.h"

/* Zero-initialise; token_batch_free releases the batch. */
struct code_scanner {
    struct bytes_view rest; /* of the text */
    bool want_places;
    struct token_batch batch;
};

/* Starts on valid UTF-8, borrowed until its last batch. want_places: batches include the places of
 * their tokens in the text. */
void code_scanner_start(struct code_scanner *scanner, struct bytes_view text, bool want_places);
/* The next tokens, valid until the next call; NULL after the last. */
cog_status code_scanner_next(struct code_scanner *scanner, const struct token_batch **batch,
                             cog_error *error);
