#include "crosslingual/lexicon_import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "input/parallel/table_reader.h"
#include "text/language/language.h"
#include "text/language/language_detect.h"

/* ---- Languages of columns -------------------------------------------------------------------- */

void word_language(const struct word_table *words, char code[LANGUAGE_CODE_BYTES]) {
    enum { SAMPLE_WORDS = 400 };
    char text[DETECT_BYTES];
    size_t size = 0, step = words->count / SAMPLE_WORDS + 1;
    for (size_t w = 0; w < words->count; w += step) {
        struct bytes_view word = word_table_string(words, (uint32_t)w);
        if (size + word.size + 1 > sizeof text)
            break;
        memcpy(text + size, word.data, word.size);
        size += word.size;
        text[size++] = ' ';
    }
    language_canonical(view_of_text(language_detect(text, size)), code);
}

bool word_columns_exchanged(const char *first, const char *second, const char *first_wanted,
                            const char *second_wanted) {
    char columns[2][LANGUAGE_CODE_BYTES], wanted[2][LANGUAGE_CODE_BYTES];
    language_canonical(view_of_text(first), columns[0]);
    language_canonical(view_of_text(second), columns[1]);
    language_canonical(view_of_text(first_wanted), wanted[0]);
    language_canonical(view_of_text(second_wanted), wanted[1]);
    bool as_wanted = strcmp(columns[0], wanted[0]) == 0 || strcmp(columns[1], wanted[1]) == 0;
    bool exchanged = strcmp(columns[0], wanted[1]) == 0 || strcmp(columns[1], wanted[0]) == 0;
    return exchanged && !as_wanted;
}

/* A distribution sums to no more than this. */
#define LARGEST_SUM 1.05

/* A row of a table by the raw words of its columns. */
struct raw_entry {
    uint32_t words[2];
    double value;
};

/* One file before it is known what its columns are. */
struct raw_table {
    struct word_table words[2];
    struct raw_entry *entries;
    size_t count, capacity;
    bool has_probabilities;
};

struct importing {
    struct lexicon *lexicon;
    const struct import_options *options;
    struct import_findings *findings;
    struct analyzer *analyzers[2]; /* from, to */
    struct term_list terms;
    struct lexicon_entry *entries;
    size_t count, capacity;
    bool has_direction[2]; /* some file gave p(to | from), p(from | to) */
};

static void add_message(struct import_findings *findings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_message(struct import_findings *findings, const char *format, ...) {
    va_list list;
    size_t room = sizeof findings->messages / sizeof *findings->messages;
    va_start(list, format);
    if (findings->message_count < room)
        vsnprintf(findings->messages[findings->message_count++], sizeof *findings->messages, format,
                  list);
    va_end(list);
}

/* ---- Reading a table ------------------------------------------------------------------------- */

static cog_status read_rows(struct raw_table *table, struct table_reader *reader,
                            cog_error *error) {
    for (;;) {
        struct table_row row;
        bool end;
        TRY(table_reader_next(reader, &row, &end, error));
        if (end)
            return COG_OK;
        GROW(table->entries, table->capacity, table->count + 1, "a table", error);
        struct raw_entry *entry = &table->entries[table->count++];
        entry->value = row.probability;
        for (int c = 0; c < 2; c++)
            TRY(word_table_add_string(&table->words[c], row.words[c], 1, &entry->words[c], error));
    }
}

static void raw_table_free(struct raw_table *table) {
    word_table_free(&table->words[0]);
    word_table_free(&table->words[1]);
    free(table->entries);
}

/* ---- What the columns are -------------------------------------------------------------------- */

/* The column of the source language. The format has its own usual order; the file's header, or
 * else the words, may show another. */
static int find_from_column(struct importing *importing, const struct raw_table *table,
                            const struct table_reader *reader) {
    char columns[2][LANGUAGE_CODE_BYTES];
    const char *from = importing->options->from_language, *to = importing->options->to_language;
    int usual = reader->format == TABLE_MOSES || reader->format == TABLE_BICLEANER;
    for (int c = 0; c < 2; c++) {
        const char *header = reader->header[c];
        if (header[0])
            language_canonical(view_of_text(header), columns[c]);
        else
            word_language(&table->words[c], columns[c]);
    }
    if (!word_columns_exchanged(columns[usual], columns[!usual], from, to))
        return usual;
    add_message(importing->findings, "%s: the columns are the other way round: column %d is %s",
                reader->path, usual + 1, to);
    return !usual;
}

/* Share of the words of a column whose probabilities sum to more than a distribution's. */
static cog_status share_above_one(const struct raw_table *table, int column, double *share,
                                  cog_error *error) {
    size_t words = table->words[column].count, above = 0;
    double *sums;
    TAKE_ZEROED(sums, words, "sums", error);
    for (size_t i = 0; i < table->count; i++)
        sums[table->entries[i].words[column]] += table->entries[i].value;
    for (size_t w = 0; w < words; w++)
        above += sums[w] > LARGEST_SUM;
    *share = words ? (double)above / (double)words : 0;
    free(sums);
    return COG_OK;
}

/* The column that the probabilities are conditional on. */
static cog_status find_given_column(struct importing *importing, const struct raw_table *table,
                                    const struct table_reader *reader, int *given,
                                    cog_error *error) {
    int usual = reader->format == TABLE_MOSES || reader->format == TABLE_BICLEANER;
    double here = 0, there = 0;
    *given = usual;
    if (!table->has_probabilities)
        return COG_OK;
    TRY(share_above_one(table, usual, &here, error));
    TRY(share_above_one(table, !usual, &there, error));
    if (here <= 0.05)
        return COG_OK;
    if (there <= 0.05) {
        *given = !usual;
        add_message(
            importing->findings,
            "%s: the probabilities sum to 1 along column %d, not %d: taken as p(column %d | column "
            "%d)",
            reader->path, !usual + 1, usual + 1, usual + 1, !usual + 1);
    } else {
        add_message(importing->findings,
                    "%s: the probabilities sum to 1 along neither column; normalised",
                    reader->path);
    }
    return COG_OK;
}

/* ---- From raw words to terms ----------------------------------------------------------------- */

/* Sets the term of each raw word, as a number of the lexicon's table; WORD_NONE if the analyzer
 * makes no term of it, or several. */
static cog_status number_terms(struct importing *importing, const struct word_table *words,
                               int side, uint32_t *numbers, cog_error *error) {
    struct word_table *terms = side ? &importing->lexicon->to : &importing->lexicon->from;
    struct term_list *list = &importing->terms;
    for (uint32_t w = 0; w < words->count; w++) {
        numbers[w] = WORD_NONE;
        TRY(analyzer_run(importing->analyzers[side], word_table_string(words, w), view_of("", 0),
                         list, error));
        if (list->count == 1)
            TRY(word_table_add(terms, list->hashes[0], view_of(list->strings.data, list->ends[0]),
                               0, &numbers[w], error));
        else
            importing->findings->skipped_words++;
    }
    return COG_OK;
}

static cog_status add_entries(struct importing *importing, const struct raw_table *table,
                              int from_column, bool forward, cog_error *error) {
    uint32_t *numbers[2] = {NULL, NULL}; /* by side */
    cog_status status = COG_OK;
    for (int side = 0; side < 2 && status == COG_OK; side++) {
        const struct word_table *words = &table->words[side ? !from_column : from_column];
        status = TAKEN(numbers[side], words->count, "words", error);
        THEN(status, number_terms(importing, words, side, numbers[side], error));
    }
    THEN(status, GROWN(importing->entries, importing->capacity, importing->count + table->count,
                       "a lexicon", error));
    bool complete = status == COG_OK && numbers[0] && numbers[1];
    for (size_t i = 0; i < table->count && complete; i++) {
        uint32_t from = numbers[0][table->entries[i].words[from_column]];
        uint32_t to = numbers[1][table->entries[i].words[!from_column]];
        float value = (float)table->entries[i].value;
        if (from == WORD_NONE || to == WORD_NONE)
            continue;
        importing->entries[importing->count++] =
            (struct lexicon_entry){from, to, forward ? value : 0, forward ? 0 : value};
    }
    FREE(numbers[0], numbers[1]);
    return status;
}

static cog_status import_table(struct importing *importing, const char *path,
                               const char *const *vocabularies, cog_error *error) {
    struct table_reader reader = {0};
    struct raw_table table = {0};
    int given = 0;
    cog_status status =
        table_reader_open(&reader, path, importing->options->format, vocabularies, error);
    THEN(status, read_rows(&table, &reader, error));
    table.has_probabilities = reader.has_probabilities;
    importing->findings->rows += reader.rows;
    importing->findings->bad_rows += reader.bad_rows;
    if (status == COG_OK && table.count == 0)
        status = error_set(error, COG_ERR_INPUT,
                           "%s: no row of a word-translation table; name its format", path);
    THEN(status, find_given_column(importing, &table, &reader, &given, error));
    if (status == COG_OK) {
        int from_column = find_from_column(importing, &table, &reader);
        bool forward = !table.has_probabilities || given == from_column;
        importing->has_direction[!forward] = true;
        status = add_entries(importing, &table, from_column, forward, error);
    }
    raw_table_free(&table);
    table_reader_close(&reader);
    return status;
}

/* ---- Putting it together --------------------------------------------------------------------- */

static int by_words(const void *x, const void *y) {
    const struct lexicon_entry *a = x, *b = y;
    if (a->from != b->from)
        return ORDER(a->from, b->from);
    if (a->to != b->to)
        return ORDER(a->to, b->to);
    /* Sums of floats in one order, whatever qsort does with equal keys. */
    return a->to_given_from != b->to_given_from ? ORDER(a->to_given_from, b->to_given_from)
                                                : ORDER(a->from_given_to, b->from_given_to);
}

/* Merges raw words of one stem into one entry, and copies a direction that no file gave from the
 * other. */
static void merge_entries(struct importing *importing) {
    struct lexicon_entry *entries = importing->entries;
    size_t kept = 0;
    if (importing->count)
        qsort(entries, importing->count, sizeof *entries, by_words);
    for (size_t i = 0; i < importing->count; i++) {
        if (kept && entries[kept - 1].from == entries[i].from &&
            entries[kept - 1].to == entries[i].to) {
            entries[kept - 1].to_given_from += entries[i].to_given_from;
            entries[kept - 1].from_given_to += entries[i].from_given_to;
        } else {
            entries[kept++] = entries[i];
        }
    }
    importing->count = kept;
    for (size_t i = 0; i < kept; i++) {
        if (!importing->has_direction[1])
            entries[i].from_given_to = entries[i].to_given_from;
        if (!importing->has_direction[0])
            entries[i].to_given_from = entries[i].from_given_to;
    }
}

static cog_status import_all(struct importing *importing, const char *const *paths, size_t count,
                             cog_error *error) {
    bool numbered = importing->options->format == TABLE_GIZA && count > 1;
    if (numbered && count % 3 != 0)
        return error_set(
            error, COG_ERR_USAGE,
            "a GIZA++ table of numbers needs its two vocabularies behind it: T3 FROM.vcb "
            "TO.vcb");
    for (size_t i = 0; i < count; i += numbered ? 3 : 1)
        TRY(import_table(importing, paths[i], numbered ? paths + i + 1 : NULL, error));
    return COG_OK;
}

cog_status lexicon_import(struct lexicon *lexicon, const char *const *paths, size_t count,
                          const struct import_options *options, struct import_findings *findings,
                          cog_error *error) {
    struct importing importing = {.lexicon = lexicon, .options = options, .findings = findings};
    importing.terms.want_strings = true;
    *findings = (struct import_findings){0};
    cog_status status = analyzer_create(&options->from_terms, &importing.analyzers[0], error);
    THEN(status, analyzer_create(&options->to_terms, &importing.analyzers[1], error));
    THEN(status, import_all(&importing, paths, count, error));
    if (status == COG_OK) {
        merge_entries(&importing);
        status = lexicon_build(lexicon, importing.entries, importing.count, &options->prune, error);
    }
    analyzer_free(importing.analyzers[0]);
    analyzer_free(importing.analyzers[1]);
    term_list_free(&importing.terms);
    free(importing.entries);
    if (status != COG_OK)
        lexicon_free(lexicon);
    return status;
}
