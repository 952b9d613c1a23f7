#include "crosslingual/lexicon.h"

#include <stdlib.h>

#include "base/memory.h"

/* Less likely translations are noise, and never among the best 15 of a word worth having. */
#define LEAST_PROBABILITY 1e-5f

void lexicon_free(struct lexicon *lexicon) {
    word_table_free(&lexicon->from);
    word_table_free(&lexicon->to);
    free(lexicon->offsets);
    free(lexicon->targets);
    free(lexicon->to_given_from);
    free(lexicon->from_given_to);
    settings_free(&lexicon->settings);
    *lexicon = (struct lexicon){0};
}

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_falling(float a, float b) {
    return (a < b) - (a > b);
}

static int by_from(const void *x, const void *y) {
    const struct lexicon_entry *a = x, *b = y;
    int order = compare_numbers(a->from, b->from);
    if (!order)
        order = compare_falling(a->to_given_from, b->to_given_from);
    if (!order)
        order = compare_falling(a->from_given_to, b->from_given_to);
    return order ? order : compare_numbers(a->to, b->to);
}

static int by_to(const void *x, const void *y) {
    const struct lexicon_entry *a = x, *b = y;
    int order = compare_numbers(a->to, b->to);
    if (!order)
        order = compare_falling(a->from_given_to, b->from_given_to);
    return order ? order : compare_numbers(a->from, b->from);
}

/* The probability that the pruning is about: an offset within the entry. */
static float *probability(struct lexicon_entry *entry, bool of_from) {
    return of_from ? &entry->from_given_to : &entry->to_given_from;
}

/* Entries of one word in falling order of probability. */
static void prune_word(struct lexicon_entry *entries, size_t count, bool of_from,
                       const struct prune_options *options) {
    double total = 0, kept = 0;
    size_t keep = 0;
    for (size_t i = 0; i < count; i++)
        total += *probability(&entries[i], of_from);
    while (keep < count && keep < options->max_entries && kept < options->mass * total)
        kept += *probability(&entries[keep++], of_from);
    for (size_t i = 0; i < count; i++) {
        float *value = probability(&entries[i], of_from);
        *value = i < keep && kept > 0 ? (float)(*value / kept) : 0;
    }
}

static void prune_direction(struct lexicon_entry *entries, size_t count, bool of_from,
                            const struct prune_options *options) {
    qsort(entries, count, sizeof *entries, of_from ? by_to : by_from);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count; end++)
            if (of_from ? entries[end].to != entries[begin].to
                        : entries[end].from != entries[begin].from)
                break;
        prune_word(entries + begin, end - begin, of_from, options);
    }
}

static cog_status store_entries(struct lexicon *lexicon, const struct lexicon_entry *entries,
                                size_t count, cog_error *error) {
    lexicon->offsets = memory_zeroed_array(lexicon->from.count + 1, sizeof *lexicon->offsets);
    lexicon->targets = memory_array(count, sizeof *lexicon->targets);
    lexicon->to_given_from = memory_array(count, sizeof *lexicon->to_given_from);
    lexicon->from_given_to = memory_array(count, sizeof *lexicon->from_given_to);
    if (!lexicon->offsets || !lexicon->targets || !lexicon->to_given_from ||
        !lexicon->from_given_to)
        return error_memory(error, count * 12, "a lexicon");
    for (size_t i = 0; i < count; i++) {
        lexicon->offsets[entries[i].from + 1] = i + 1;
        lexicon->targets[i] = entries[i].to;
        lexicon->to_given_from[i] = entries[i].to_given_from;
        lexicon->from_given_to[i] = entries[i].from_given_to;
    }
    for (size_t w = 1; w <= lexicon->from.count; w++)
        if (lexicon->offsets[w] < lexicon->offsets[w - 1])
            lexicon->offsets[w] = lexicon->offsets[w - 1];
    return COG_OK;
}

cog_status lexicon_build(struct lexicon *lexicon, struct lexicon_entry *entries, size_t count,
                         const struct prune_options *prune, cog_error *error) {
    prune_direction(entries, count, true, prune);
    prune_direction(entries, count, false, prune);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (entries[i].to_given_from > 0 || entries[i].from_given_to > 0)
            entries[kept++] = entries[i];
    qsort(entries, kept, sizeof *entries, by_from);
    return store_entries(lexicon, entries, kept, error);
}

static size_t gather_entries(const struct pair_table *table, struct lexicon_entry *entries) {
    size_t count = 0;
    for (int s = 0; s < PAIR_SHARDS; s++)
        for (uint64_t i = 0; i <= table->shards[s].mask; i++) {
            const struct pair_entry *entry = &table->shards[s].entries[i];
            if (!entry->key || (entry->to_given_from < LEAST_PROBABILITY &&
                                entry->from_given_to < LEAST_PROBABILITY))
                continue;
            if (entries)
                entries[count] = (struct lexicon_entry){entry_from(entry), entry_to(entry),
                                                        entry->to_given_from, entry->from_given_to};
            count++;
        }
    return count;
}

/* Gives the words that occur in the entries new numbers, in the order of the old ones. */
static cog_status take_words(struct word_table *kept, const struct word_table *all,
                             struct lexicon_entry *entries, size_t count, bool of_from,
                             cog_error *error) {
    uint32_t *numbers = memory_zeroed_array(all->count, sizeof *numbers);
    if (!numbers)
        return error_memory(error, all->count * sizeof *numbers, "the words of a lexicon");
    for (size_t i = 0; i < count; i++)
        numbers[of_from ? entries[i].from : entries[i].to] = 1;
    cog_status status = COG_OK;
    for (size_t w = 0; w < all->count && status == COG_OK; w++)
        if (numbers[w])
            status = word_table_add(kept, all->hashes[w], word_table_string(all, (uint32_t)w),
                                    all->counts[w], &numbers[w], error);
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        uint32_t *word = of_from ? &entries[i].from : &entries[i].to;
        *word = numbers[*word];
    }
    free(numbers);
    return status;
}

cog_status lexicon_from_table(struct lexicon *lexicon, const struct pair_corpus *corpus,
                              const struct pair_table *table, const struct prune_options *prune,
                              cog_error *error) {
    size_t count = gather_entries(table, NULL);
    struct lexicon_entry *entries = memory_array(count, sizeof *entries);
    if (!entries)
        return error_memory(error, count * sizeof *entries, "a lexicon");
    gather_entries(table, entries);
    cog_status status =
        take_words(&lexicon->from, &corpus->from.vocabulary, entries, count, true, error);
    THEN(status, take_words(&lexicon->to, &corpus->to.vocabulary, entries, count, false, error));
    THEN(status, lexicon_build(lexicon, entries, count, prune, error));
    free(entries);
    return status;
}
