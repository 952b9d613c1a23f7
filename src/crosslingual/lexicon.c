#include "crosslingual/lexicon.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "input/documents/text_bytes.h"

/* Less likely translations are noise; no frequent word has them among its best 15. */
#define LEAST_PROBABILITY 1e-5f

void lexicon_free(struct lexicon *lexicon) {
    word_table_free(&lexicon->from);
    word_table_free(&lexicon->to);
    FREE(lexicon->offsets, lexicon->targets, lexicon->to_given_from, lexicon->from_given_to);
    settings_free(&lexicon->settings);
    *lexicon = (struct lexicon){0};
}

static int by_from(const void *x, const void *y) {
    const struct lexicon_entry *a = x, *b = y;
    if (a->from != b->from)
        return ORDER(a->from, b->from);
    if (a->to_given_from != b->to_given_from)
        return ORDER(b->to_given_from, a->to_given_from);
    return a->from_given_to != b->from_given_to ? ORDER(b->from_given_to, a->from_given_to)
                                                : ORDER(a->to, b->to);
}

static int by_to(const void *x, const void *y) {
    const struct lexicon_entry *a = x, *b = y;
    if (a->to != b->to)
        return ORDER(a->to, b->to);
    return a->from_given_to != b->from_given_to ? ORDER(b->from_given_to, a->from_given_to)
                                                : ORDER(a->from, b->from);
}

/* The probability of the direction that is pruned. */
static float *probability(struct lexicon_entry *entry, bool of_from) {
    return of_from ? &entry->from_given_to : &entry->to_given_from;
}

/* Prunes the entries of one word, which are in falling order of probability. */
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
    TAKE_ZEROED(lexicon->offsets, lexicon->from.count + 1, "a lexicon", error);
    TAKE(lexicon->targets, count, "a lexicon", error);
    TAKE(lexicon->to_given_from, count, "a lexicon", error);
    TAKE(lexicon->from_given_to, count, "a lexicon", error);
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
        for (struct pair_entry *entry = NULL;
             (entry = pair_shard_next(&table->shards[s], entry));) {
            if (entry->to_given_from < LEAST_PROBABILITY &&
                entry->from_given_to < LEAST_PROBABILITY)
                continue;
            if (entries)
                entries[count] = (struct lexicon_entry){entry_from(entry), entry_to(entry),
                                                        entry->to_given_from, entry->from_given_to};
            count++;
        }
    return count;
}

/* Renumbers the words that occur in the entries, in the order of their old numbers. */
static cog_status take_words(struct word_table *kept, const struct word_table *all,
                             struct lexicon_entry *entries, size_t count, bool of_from,
                             cog_error *error) {
    uint32_t *numbers;
    TAKE_ZEROED(numbers, all->count, "the words of a lexicon", error);
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
    struct lexicon_entry *entries;
    TAKE(entries, count, "a lexicon", error);
    gather_entries(table, entries);
    cog_status status =
        take_words(&lexicon->from, &corpus->from.vocabulary, entries, count, true, error);
    THEN(status, take_words(&lexicon->to, &corpus->to.vocabulary, entries, count, false, error));
    THEN(status, lexicon_build(lexicon, entries, count, prune, error));
    free(entries);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

#define SECTION_OFFSETS CONTAINER_TAG('l', 'x', 'o', 'f')
#define SECTION_TARGETS CONTAINER_TAG('l', 'x', 't', 'o')
#define SECTION_FORWARD CONTAINER_TAG('l', 'x', 'p', 't')
#define SECTION_BACKWARD CONTAINER_TAG('l', 'x', 'p', 'f')

/* The sections of one language's words. */
struct word_sections {
    uint32_t ends, bytes, counts;
};
static const struct word_sections from_sections = {CONTAINER_TAG('f', 'r', 'e', 'n'),
                                                   CONTAINER_TAG('f', 'r', 'b', 'y'),
                                                   CONTAINER_TAG('f', 'r', 'c', 't')};
static const struct word_sections to_sections = {CONTAINER_TAG('t', 'o', 'e', 'n'),
                                                 CONTAINER_TAG('t', 'o', 'b', 'y'),
                                                 CONTAINER_TAG('t', 'o', 'c', 't')};

_Static_assert(sizeof(size_t) == 8, "ends of words are written as they lie in memory");

static cog_status write_words(const struct word_table *words, const struct word_sections *sections,
                              struct container_writer *writer, cog_error *error) {
    TRY(container_writer_section(writer, sections->ends, words->ends,
                                 words->count * sizeof *words->ends, error));
    TRY(container_writer_section(writer, sections->bytes, words->strings.data, words->strings.size,
                                 error));
    return container_writer_section(writer, sections->counts, words->counts,
                                    words->count * sizeof *words->counts, error);
}

static cog_status write_entries(const struct lexicon *lexicon, struct container_writer *writer,
                                cog_error *error) {
    size_t entries = lexicon_entry_count(lexicon);
    TRY(container_writer_section(writer, SECTION_OFFSETS, lexicon->offsets,
                                 (lexicon->from.count + 1) * sizeof *lexicon->offsets, error));
    TRY(container_writer_section(writer, SECTION_TARGETS, lexicon->targets,
                                 entries * sizeof *lexicon->targets, error));
    TRY(container_writer_section(writer, SECTION_FORWARD, lexicon->to_given_from,
                                 entries * sizeof *lexicon->to_given_from, error));
    return container_writer_section(writer, SECTION_BACKWARD, lexicon->from_given_to,
                                    entries * sizeof *lexicon->from_given_to, error);
}

/* Closes the writer. */
static cog_status write_file(const struct lexicon *lexicon, struct container_writer *writer,
                             cog_error *error) {
    cog_status status = settings_write(&lexicon->settings, writer, error);
    THEN(status, write_words(&lexicon->from, &from_sections, writer, error));
    THEN(status, write_words(&lexicon->to, &to_sections, writer, error));
    THEN(status, write_entries(lexicon, writer, error));
    THEN(status, container_writer_commit(writer, error));
    container_writer_close(writer);
    return status;
}

cog_status lexicon_save(const struct lexicon *lexicon, const char *path, cog_error *error) {
    struct container_writer *writer = NULL;
    TRY(container_writer_open(path, CONTAINER_LEXICON, &writer, error));
    return write_file(lexicon, writer, error);
}

cog_status lexicon_save_memory(const struct lexicon *lexicon, struct buffer *bytes,
                               cog_error *error) {
    struct container_writer *writer = NULL;
    TRY(container_writer_open_memory(bytes, CONTAINER_LEXICON, &writer, error));
    return write_file(lexicon, writer, error);
}

static cog_status wrong(const struct container *container, const char *what, cog_error *error) {
    return error_set(error, COG_ERR_FORMAT, "%s: %s; train or convert the lexicon again",
                     container->path, what);
}

static cog_status read_words(const struct container *container,
                             const struct word_sections *sections, struct word_table *words,
                             cog_error *error) {
    struct bytes_view ends, bytes, counts;
    TRY(container_require(container, sections->ends, &ends, error));
    TRY(container_require(container, sections->bytes, &bytes, error));
    TRY(container_require(container, sections->counts, &counts, error));
    if (ends.size % 8 || counts.size != ends.size || ends.size / 8 >= WORD_NONE)
        return wrong(container, "sections of words of the wrong size", error);
    uint64_t begin = 0;
    for (size_t i = 0; i < ends.size / 8; i++) {
        uint64_t end = decode_u64((const uint8_t *)ends.data + 8 * i);
        uint32_t word;
        if (end <= begin || end > bytes.size || !utf8_is_valid(bytes.data + begin, end - begin))
            return wrong(container, "a word that is empty, outside its section, or not UTF-8",
                         error);
        TRY(word_table_add_string(words, view_of(bytes.data + begin, end - begin),
                                  decode_u64((const uint8_t *)counts.data + 8 * i), &word, error));
        if (word != i)
            return wrong(container, "a word that is there twice", error);
        begin = end;
    }
    return COG_OK;
}

static cog_status copy_section(const struct container *container, uint32_t section, size_t count,
                               size_t size_bytes, void *array, cog_error *error) {
    struct bytes_view view;
    void **copy = array;
    TRY(container_require(container, section, &view, error));
    if (view.size != count * size_bytes)
        return wrong(container, "a section of the wrong size", error);
    TRY(memory_take(copy, count, size_bytes, false, "a lexicon", error));
    if (view.size)
        memcpy(*copy, view.data, view.size);
    return COG_OK;
}

static bool is_probability(float value) {
    return value >= 0 && value <= 1.0001f;
}

static cog_status check_entries(const struct container *container, const struct lexicon *lexicon,
                                cog_error *error) {
    size_t entries = lexicon_entry_count(lexicon);
    for (size_t i = 0; i < entries; i++)
        if (lexicon->targets[i] >= lexicon->to.count ||
            !is_probability(lexicon->to_given_from[i]) ||
            !is_probability(lexicon->from_given_to[i]))
            return wrong(container, "an entry without a word, or with an impossible probability",
                         error);
    return COG_OK;
}

static cog_status read_entries(const struct container *container, struct lexicon *lexicon,
                               cog_error *error) {
    struct bytes_view targets;
    TRY(copy_section(container, SECTION_OFFSETS, lexicon->from.count + 1, sizeof *lexicon->offsets,
                     &lexicon->offsets, error));
    TRY(container_require(container, SECTION_TARGETS, &targets, error));
    size_t entries = targets.size / sizeof *lexicon->targets;
    if (lexicon->offsets[0] != 0 || lexicon->offsets[lexicon->from.count] != entries)
        return wrong(container, "offsets that do not cover the entries", error);
    for (size_t w = 0; w < lexicon->from.count; w++)
        if (lexicon->offsets[w] > lexicon->offsets[w + 1])
            return wrong(container, "falling offsets", error);
    TRY(copy_section(container, SECTION_TARGETS, entries, sizeof *lexicon->targets,
                     &lexicon->targets, error));
    TRY(copy_section(container, SECTION_FORWARD, entries, sizeof *lexicon->to_given_from,
                     &lexicon->to_given_from, error));
    TRY(copy_section(container, SECTION_BACKWARD, entries, sizeof *lexicon->from_given_to,
                     &lexicon->from_given_to, error));
    return check_entries(container, lexicon, error);
}

static cog_status read_container(struct container *container, struct lexicon *lexicon,
                                 cog_error *error) {
    cog_status status = container_verify(container, error);
    THEN(status, settings_read(container, &lexicon->settings, error));
    THEN(status, read_words(container, &from_sections, &lexicon->from, error));
    THEN(status, read_words(container, &to_sections, &lexicon->to, error));
    THEN(status, read_entries(container, lexicon, error));
    if (status != COG_OK)
        lexicon_free(lexicon);
    container_close(container);
    return status;
}

cog_status lexicon_load(const char *path, struct lexicon *lexicon, cog_error *error) {
    struct container container = {0};
    TRY(container_open(path, CONTAINER_LEXICON, &container, error));
    return read_container(&container, lexicon, error);
}

cog_status lexicon_load_memory(const char *name, const void *data, size_t size,
                               struct lexicon *lexicon, cog_error *error) {
    struct container container = {0};
    TRY(container_open_memory(name, data, size, CONTAINER_LEXICON, &container, error));
    return read_container(&container, lexicon, error);
}
