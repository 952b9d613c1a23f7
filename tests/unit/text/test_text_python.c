/* TOKENS_REGEX against Python itself; tests/cli/pairs/pairs_real.sh compares Jaccard values of real
 * documents. */
#include <unicode/uchar.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/strings.h"
#include "test.h"
#include "text/analyzer.h"

static bool open_regex(struct analyzer **analyzer) {
    struct term_options options;
    term_options_init(&options);
    options.tokens = TOKENS_REGEX;
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
    CHECK(open_regex(&analyzer));
    CHECK_OK(analyzer_run(analyzer, text, view_of("", 0), &list, error));
    if (!ask_python(text, &lines))
        test_skip("install python3");
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
