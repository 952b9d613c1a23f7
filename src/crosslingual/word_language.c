#include "crosslingual/word_language.h"

#include <string.h>

#include "text/language.h"
#include "text/language_detect.h"

static void canonical(const char *code, char result[LANGUAGE_CODE_BYTES]) {
    language_canonical(view_of(code, strlen(code)), result);
}

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
    canonical(language_detect(text, size), code);
}

bool word_columns_exchanged(const char *first, const char *second, const char *first_wanted,
                            const char *second_wanted) {
    char columns[2][LANGUAGE_CODE_BYTES], wanted[2][LANGUAGE_CODE_BYTES];
    canonical(first, columns[0]);
    canonical(second, columns[1]);
    canonical(first_wanted, wanted[0]);
    canonical(second_wanted, wanted[1]);
    bool as_wanted = strcmp(columns[0], wanted[0]) == 0 || strcmp(columns[1], wanted[1]) == 0;
    bool exchanged = strcmp(columns[0], wanted[1]) == 0 || strcmp(columns[1], wanted[0]) == 0;
    return exchanged && !as_wanted;
}
