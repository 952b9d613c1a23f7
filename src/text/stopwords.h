/* Stop words by language: the table is generated at build time from a package (stopwords_table.pl).
 */
#ifndef COGNATE_TEXT_STOPWORDS_H
#define COGNATE_TEXT_STOPWORDS_H

struct stopword_list {
    const char *language; /* ISO 639-1 */
    const char *const *words;
    unsigned count;
};

extern const struct stopword_list stopword_lists[];
extern const unsigned stopword_list_count;

#endif
