/* Text to terms in MB of text per second of one core, for each kind of terms, next to a plain loop
 * of tolower and isalnum over bytes with the same hash. Usage: bench_text [JSONL, .zst or text
 * file...] */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/memory.h"
#include "text/analyzer.h"

enum { ROUNDS = 5, LOAD_BYTES = 48 << 20, DOCUMENT_BYTES = 16 << 10 };

/* Escapes of JSON stay in the text as they are: they are a fraction of a percent. */
static bool load(const char *path, struct buffer *text) {
    char command[1024];
    size_t length = strlen(path);
    bool compressed = length > 4 && strcmp(path + length - 4, ".zst") == 0;
    snprintf(command, sizeof command, "%s '%s' 2>/dev/null", compressed ? "zstdcat" : "cat", path);
    FILE *stream = popen(command, "r");
    if (!stream)
        return false;
    while (text->size < LOAD_BYTES && buffer_reserve(text, 1 << 20)) {
        size_t got = fread(text->data + text->size, 1, 1 << 20, stream);
        if (got == 0)
            break;
        text->size += got;
    }
    pclose(stream);
    while (text->size && text->data[text->size - 1] != '\n')
        text->size--;
    return text->size > 0;
}

static uint64_t naive_terms(struct bytes_view text, struct term_list *list) {
    char word[256];
    size_t size = 0;
    list->count = 0;
    for (size_t i = 0; i <= text.size; i++) {
        unsigned char c = i < text.size ? (unsigned char)text.data[i] : 0;
        if ((isalnum(c) || c >= 0x80) && size < sizeof word) {
            word[size++] = (char)tolower(c);
        } else if (size) {
            list->hashes[list->count++] = hash_bytes(word, size);
            size = 0;
        }
    }
    return list->count;
}

/* Calls work on pieces of about DOCUMENT_BYTES that end with a line or a space. */
static size_t piece_size(const struct buffer *text, size_t at) {
    size_t left = text->size - at, size = left < DOCUMENT_BYTES ? left : DOCUMENT_BYTES;
    while (size < left && text->data[at + size] != '\n' && text->data[at + size] != ' ')
        size++;
    return size;
}

/* Time of this thread on its core, so that a busy machine does not count. */
static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_rate(const struct buffer *text, struct analyzer *analyzer,
                          struct term_list *list, uint64_t *terms) {
    double rates[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = thread_seconds();
        *terms = 0;
        for (size_t at = 0; at < text->size;) {
            size_t size = piece_size(text, at);
            struct bytes_view piece = view_of(text->data + at, size);
            if (!analyzer)
                *terms += naive_terms(piece, list);
            else if (analyzer_run(analyzer, piece, view_of("", 0), list, NULL) == COG_OK)
                *terms += list->count;
            at += size;
        }
        rates[round] = (double)text->size * 1e-6 / (thread_seconds() - start);
    }
    qsort(rates, ROUNDS, sizeof rates[0], by_value);
    return rates[ROUNDS / 2];
}

static void measure(const char *path, const char *language) {
    static const struct {
        const char *name;
        struct term_options options;
    } modes[] = {
        {"words", {.tokens = TOKENS_WORDS, .ngram = 1}},
        {"words, 3-grams", {.tokens = TOKENS_WORDS, .ngram = 3}},
        {"words, stop words and stems", {.ngram = 1, .stem = true, .drop_stop_words = true}},
        {"words, stop words and stems, auto",
         {.ngram = 1, .stem = true, .drop_stop_words = true, .language = "auto"}},
        {"regex", {.tokens = TOKENS_REGEX, .ngram = 1}},
        {"chars, 5-grams", {.tokens = TOKENS_CHARS, .ngram = 5}},
    };
    struct buffer text = {0};
    struct term_list list = {0};
    uint64_t terms;
    if (!load(path, &text)) {
        printf("%s: not there\n", path);
        buffer_free(&text);
        return;
    }
    list.hashes = memory_array(list.capacity = text.size, sizeof *list.hashes);
    double naive = median_rate(&text, NULL, &list, &terms);
    printf("%s (%.1f MB)\n  %-36s %8.1f MB/s %12llu terms\n", path, (double)text.size * 1e-6,
           "plain loop", naive, (unsigned long long)terms);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct term_options options = modes[i].options;
        struct analyzer *analyzer = NULL;
        if (!options.language[0])
            strcpy(options.language, language);
        if (analyzer_create(&options, &analyzer, NULL) != COG_OK)
            continue;
        double rate = median_rate(&text, analyzer, &list, &terms);
        printf("  %-36s %8.1f MB/s %12llu terms  %5.2f x plain loop\n", modes[i].name, rate,
               (unsigned long long)terms, rate / naive);
        analyzer_free(analyzer);
    }
    term_list_free(&list);
    buffer_free(&text);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        for (int i = 1; i < argc; i++)
            measure(argv[i], "en");
        return 0;
    }
    static const char *const sets[][2] = {{"wikipedia_en/docs.jsonl.zst", "en"},
                                          {"neardup/revisions_gesetze_de/docs.jsonl.zst", "de"}};
    const char *folder = getenv("COGNATE_DATA");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared/data", sets[i][0]);
        measure(path, sets[i][1]);
    }
    return 0;
}
