/* TOKENS_REGEX against Python itself, and against Jaccard values that Python computed on real
 * documents. */
#include <unicode/uchar.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/strings.h"
#include "input/reader.h"
#include "test.h"
#include "text/analyzer.h"

static bool open_regex(unsigned ngram, struct analyzer **analyzer) {
    struct term_options options;
    term_options_init(&options);
    options.tokens = TOKENS_REGEX;
    options.ngram = ngram;
    return analyzer_create(&options, analyzer, NULL) == COG_OK;
}

static bool read_all(FILE *stream, struct buffer *out) {
    while (buffer_reserve(out, 1 << 16)) {
        size_t got = fread(out->data + out->size, 1, 1 << 16, stream);
        if (got == 0)
            return true;
        out->size += got;
    }
    return false;
}

/* Python's tokens of the text, a line each; false where there is no Python. */
static bool ask_python(struct bytes_view text, struct buffer *tokens) {
    char command[512];
    const char *path = write_file("regex.txt", text.data, text.size);
    snprintf(command, sizeof command,
             "python3 -c \"import re,sys; t=open('%s',encoding='utf-8',newline='').read(); "
             "sys.stdout.buffer.write(''.join(w+chr(10) for w in re.findall(r'\\w+', "
             "t.lower())).encode())\" 2>/dev/null",
             path);
    FILE *stream = popen(command, "r");
    if (!stream)
        return false;
    bool read = read_all(stream, tokens);
    return pclose(stream) == 0 && read;
}

/* Compares the terms' strings with Python's lines; prints the first that differs. */
static bool terms_are_lines(const struct term_list *list, const struct buffer *lines) {
    size_t at = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t begin = i ? list->ends[i - 1] : 0, size = list->ends[i] - begin;
        const char *term = list->strings.data + begin;
        if (at + size + 1 > lines->size || memcmp(lines->data + at, term, size) != 0 ||
            lines->data[at + size] != '\n') {
            printf("  term %zu is %.*s, Python goes on %.40s\n", i, (int)size, term,
                   lines->data + at);
            return false;
        }
        at += size + 1;
    }
    return at == lines->size;
}

/* Only what Unicode 13 had, because Python and ICU know different versions. */
static size_t random_python_text(struct random *random, char *text, size_t characters) {
    static const uint32_t ranges[][2] = {
        {' ', '~'},       {0x391, 0x3c9},     {0x3a3, 0x3a3},     {'.', '.'},
        {0x300, 0x310},   {0x80, 0x24f},      {0x250, 0x52f},     {0x530, 0x109f},
        {0x10a0, 0x1fff}, {0x2000, 0x2fff},   {0x3000, 0x4e20},   {0xa000, 0xd7ff},
        {0xe000, 0xffff}, {0x10000, 0x10fff}, {0x11000, 0x1ffff}, {0x20000, 0x2a6d0},
        {0x130, 0x131},   {0, 0x20},
    };
    size_t size = 0;
    while (characters) {
        const uint32_t *range = ranges[random_below(random, sizeof ranges / sizeof *ranges)];
        uint32_t c = range[0] + (uint32_t)random_below(random, range[1] - range[0] + 1);
        UVersionInfo age;
        u_charAge((UChar32)c, age);
        if (age[0] == 0 || age[0] > 13)
            continue;
        size += utf8_encode(c, text + size);
        characters--;
    }
    return size;
}

static void compare_with_python(struct bytes_view text) {
    struct analyzer *analyzer = NULL;
    struct term_list list = {.want_strings = true};
    struct buffer lines = {0};
    CHECK(open_regex(1, &analyzer));
    CHECK_OK(analyzer_run(analyzer, text, view_of("", 0), &list, error));
    if (!ask_python(text, &lines))
        test_skip("python3 is not here");
    else
        CHECK(terms_are_lines(&list, &lines));
    buffer_free(&lines);
    term_list_free(&list);
    analyzer_free(analyzer);
}

TEST(text_regex_agrees_with_python_on_random_text) {
    enum { CHARACTERS = 400000 };
    struct random random = random_seeded(21);
    char *text = malloc(4 * CHARACTERS);
    CHECK(text);
    compare_with_python(view_of(text, random_python_text(&random, text, CHARACTERS)));
    free(text);
}

TEST(text_regex_agrees_with_python_on_every_character) {
    struct buffer text = {0};
    CHECK(buffer_reserve(&text, 6 * 0x110000));
    for (uint32_t c = 0; c < 0x110000; c++) {
        UVersionInfo age;
        u_charAge((UChar32)c, age);
        if ((c >= 0xd800 && c < 0xe000) || age[0] == 0 || age[0] > 13)
            continue;
        text.size += utf8_encode(c, text.data + text.size);
        text.data[text.size++] = c % 3 ? ' ' : 'x';
    }
    compare_with_python(view_of(text.data, text.size));
    buffer_free(&text);
}

/* Documents by name, with the sorted set of their word 3-grams. */
struct term_set {
    char *id;
    uint64_t *hashes;
    size_t count;
};
struct term_sets {
    struct term_set *sets;
    size_t count, capacity;
};

static int by_hash(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_id(const void *a, const void *b) {
    return strcmp(((const struct term_set *)a)->id, ((const struct term_set *)b)->id);
}

static bool add_set(struct term_sets *sets, struct bytes_view id, const struct term_list *list) {
    if (!memory_grow((void **)&sets->sets, &sets->capacity, sets->count + 1, sizeof *sets->sets))
        return false;
    struct term_set *set = &sets->sets[sets->count++];
    *set = (struct term_set){strndup(id.data, id.size),
                             memory_array(list->count + 1, sizeof(uint64_t)), 0};
    if (!set->id || !set->hashes)
        return false;
    memcpy(set->hashes, list->hashes, list->count * sizeof(uint64_t));
    qsort(set->hashes, list->count, sizeof(uint64_t), by_hash);
    for (size_t i = 0; i < list->count; i++)
        if (!set->count || set->hashes[set->count - 1] != set->hashes[i])
            set->hashes[set->count++] = set->hashes[i];
    return true;
}

static bool load_sets(const char *path, struct term_sets *sets) {
    struct reader_options options;
    struct reader *reader = NULL;
    struct record_parser *parser = NULL;
    struct record_batch batch = {0};
    struct analyzer *analyzer = NULL;
    struct term_list list = {0};
    bool end = false;
    reader_options_init(&options);
    bool fine = open_regex(3, &analyzer) &&
                reader_open(&options, &path, 1, &reader, NULL) == COG_OK &&
                record_parser_create(reader, &parser, NULL) == COG_OK;
    while (fine && !end) {
        fine = reader_fill(reader, &batch, &end, NULL) == COG_OK;
        for (size_t i = 0; i < batch.count && fine && !end; i++) {
            struct document document;
            struct bad_record bad;
            fine = reader_parse(parser, &batch, i, &document, &bad, NULL) == COG_OK &&
                   analyzer_run(analyzer, document.text, document.lang, &list, NULL) == COG_OK &&
                   add_set(sets, document.id, &list);
        }
    }
    term_list_free(&list);
    analyzer_free(analyzer);
    record_parser_free(parser);
    record_batch_free(&batch);
    reader_close(reader);
    if (sets->count)
        qsort(sets->sets, sets->count, sizeof *sets->sets, by_id);
    return fine;
}

static double jaccard(const struct term_set *a, const struct term_set *b) {
    size_t both = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        both += a->hashes[i] == b->hashes[j];
        bool advance_b = a->hashes[i] >= b->hashes[j];
        i += a->hashes[i] <= b->hashes[j];
        j += advance_b;
    }
    return (double)both / (double)(a->count + b->count - both);
}

static void check_pairs(const char *folder, const char *set) {
    char path[512], line[2048];
    struct term_sets sets = {0};
    size_t pairs = 0;
    snprintf(path, sizeof path, "%s/neardup/%s/docs.jsonl.zst", folder, set);
    CHECK_MSG(load_sets(path, &sets), "%s", path);
    snprintf(path, sizeof path, "%s/neardup/%s/computed_pairs_j08.tsv", folder, set);
    FILE *file = fopen(path, "r");
    CHECK_MSG(file && fgets(line, sizeof line, file), "%s", path);
    while (fgets(line, sizeof line, file)) {
        char *rest = line;
        struct term_set key[2] = {{strsep(&rest, "\t"), NULL, 0}, {strsep(&rest, "\t"), NULL, 0}};
        struct term_set *a = bsearch(&key[0], sets.sets, sets.count, sizeof key[0], by_id);
        struct term_set *b = bsearch(&key[1], sets.sets, sets.count, sizeof key[0], by_id);
        CHECK(a && b && rest);
        double expected = strtod(rest, NULL), actual = jaccard(a, b);
        CHECK_MSG(actual - expected < 5.1e-5 && expected - actual < 5.1e-5,
                  "%s and %s: %.5f, Python has %.4f", a->id, b->id, actual, expected);
        pairs++;
    }
    fclose(file);
    CHECK(pairs > 50);
    for (size_t i = 0; i < sets.count; i++) {
        free(sets.sets[i].id);
        free(sets.sets[i].hashes);
    }
    free(sets.sets);
}

TEST(text_regex_gives_the_jaccard_of_known_pairs) {
    const char *folder = test_data_folder();
    char path[512];
    snprintf(path, sizeof path, "%s/neardup", folder ? folder : "");
    if (!folder || access(path, R_OK) != 0) {
        test_skip("no folder of documents");
        return;
    }
    check_pairs(folder, "revisions_gesetze_de");
    check_pairs(folder, "revisions_mdn_en");
}
