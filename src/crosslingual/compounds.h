/* Splits words that a lexicon does not have into two or three that it has: "Benutzeroberflaeche"
 * into Benutzer and Oberflaeche.
 *
 * The letters allowed between parts are an option. Of several splits, the one with the fewest parts
 * wins, then the one with the most frequent parts (geometric mean of their counts: Koehn and
 * Knight, "Empirical methods for compound splitting", 2003). Words of more than 60 letters are not
 * split, which bounds the cost. */
#pragma once

#include "crosslingual/lexicon.h"

enum { COMPOUND_PARTS_MAX = 3, COMPOUND_LINKERS_MAX = 16 };

struct compound_options {
    const char
        *linkers; /* separated by commas, such as "s,es,n"; the empty string is always allowed */
    unsigned min_word_letters; /* shorter words are not split */
    unsigned min_part_letters;
};

/* For one thread; lexicon and options are borrowed for its life. */
struct compound_splitter;
cog_status compound_splitter_create(const struct lexicon *lexicon,
                                    const struct compound_options *options,
                                    const struct term_options *terms,
                                    struct compound_splitter **splitter, cog_error *error);
void compound_splitter_free(struct compound_splitter *splitter);

/* The source words that make up `word` (folded, not stemmed); *count is 0 if it cannot be split. */
cog_status compound_split(struct compound_splitter *splitter, struct bytes_view word,
                          uint32_t parts[COMPOUND_PARTS_MAX], unsigned *count, cog_error *error);
