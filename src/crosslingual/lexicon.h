/* A word-translation table: for each word of the source language its translations, with p(to |
 * from) and p(from | to).
 *
 * Words are terms as in documents (stems), found by their hash. Their strings serve display and
 * compound splitting. A probability of 0 means that the entry was pruned in that direction. A
 * lexicon owns its arrays: 12 bytes per entry and about 40 per word. */
#pragma once

#include "crosslingual/pair_table.h"
#include "store/settings.h"

/* The translations of word w are entries offsets[w] .. offsets[w + 1], in descending order of
 * to_given_from, then of from_given_to, then by word. Zero-initialise; lexicon_free releases. */
struct lexicon {
    struct word_table from, to; /* counts: occurrences in the parallel text, 0 if unknown */
    uint64_t *offsets;          /* from.count + 1 */
    uint32_t *targets;
    float *to_given_from, *from_given_to;
    struct settings settings; /* languages, and how terms and table were made */
};
void lexicon_free(struct lexicon *lexicon);

static inline size_t lexicon_entry_count(const struct lexicon *lexicon) {
    return lexicon->offsets ? (size_t)lexicon->offsets[lexicon->from.count] : 0;
}

/* How a word's distribution is pruned: keep the most probable entries, up to max_entries or until
 * they have the share `mass` of the probability, and rescale them to sum to 1. */
struct prune_options {
    unsigned max_entries;
    double mass;
};

/* One translation before pruning. Words are numbers in the lexicon's tables. */
struct lexicon_entry {
    uint32_t from, to;
    float to_given_from, from_given_to;
};

/* Prunes each direction separately and stores the entries in order. lexicon->from and lexicon->to
 * must hold the words. `entries` may be in any order and is overwritten. */
cog_status lexicon_build(struct lexicon *lexicon, struct lexicon_entry *entries, size_t count,
                         const struct prune_options *prune, cog_error *error);

/* Makes a lexicon from trained probabilities; words without entries are dropped. */
cog_status lexicon_from_table(struct lexicon *lexicon, const struct pair_corpus *corpus,
                              const struct pair_table *table, const struct prune_options *prune,
                              cog_error *error);

/* A file of kind `lexi` (docs/format.md). */
cog_status lexicon_save(const struct lexicon *lexicon, const char *path, cog_error *error);
/* The same bytes into a buffer. */
cog_status lexicon_save_memory(const struct lexicon *lexicon, struct buffer *bytes,
                               cog_error *error);
/* Reads and verifies the whole file into a zeroed lexicon. */
cog_status lexicon_load(const char *path, struct lexicon *lexicon, cog_error *error);
/* The same for bytes in memory; `name` appears in messages. */
cog_status lexicon_load_memory(const char *name, const void *data, size_t size,
                               struct lexicon *lexicon, cog_error *error);
