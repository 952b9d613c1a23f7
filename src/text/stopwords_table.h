/* Stop words by language: the table is generated at build time from a package (stopwords_table.pl).
 */
#pragma once

struct stopword_list {
    const char *language; /* ISO 639-1 */
    const char *const *words;
    unsigned count;
};

extern const struct stopword_list stopword_lists[];
extern const unsigned stopword_list_count;
