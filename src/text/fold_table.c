#include "text/fold_table.h"

#include <pthread.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

#include "base/strings.h"
#include "text/text_kernels.h"

enum { MAPPED_UNITS = 32 };

/* Whether words of this character are found by dictionary, or by rules between scripts. */
static bool needs_dictionary(UChar32 c) {
    int script = u_getIntPropertyValue(c, UCHAR_SCRIPT);
    return script == USCRIPT_HAN || script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA ||
           script == USCRIPT_HANGUL || u_hasBinaryProperty(c, UCHAR_IDEOGRAPHIC) ||
           u_getIntPropertyValue(c, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}

static bool is_python_word(UChar32 c) {
    return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_N_MASK)) != 0 || c == '_';
}

/* Appends one folded character as the tokenisers' byte classes have to see it; false if they
 * cannot. */
static bool append_folded(enum fold_kind kind, UChar32 c, struct fold_entry *entry) {
    bool gap = false;
    if (kind == FOLD_REGEX) {
        gap = !is_python_word(c);
    } else if (kind == FOLD_CHARS) {
        if (u_isUWhiteSpace(c))
            c = FOLD_WHITE;
    } else if (c < 0x80) {
        gap = c <= ' ';
    } else {
        int class = u_getIntPropertyValue(c, UCHAR_WORD_BREAK);
        gap = class == U_WB_OTHER || class == U_WB_WSEGSPACE || class == U_WB_NEWLINE;
        if ((!gap && class != U_WB_ALETTER) || needs_dictionary(c))
            return false;
    }
    if (entry->size + 4u > sizeof entry->bytes)
        return false;
    if (gap)
        entry->bytes[entry->size++] = FOLD_GAP;
    else
        entry->size += (uint8_t)utf8_encode((uint32_t)c, entry->bytes + entry->size);
    return true;
}

bool fold_ignores(uint32_t c) {
    static const struct {
        uint16_t first, last;
    } ranges[] = {{0x591, 0x5bd}, {0x5bf, 0x5bf}, {0x5c1, 0x5c2}, {0x5c4, 0x5c5}, {0x5c7, 0x5c7},
                  {0x610, 0x61a}, {0x640, 0x640}, {0x64b, 0x652}, {0x670, 0x670}, {0x6d6, 0x6dc},
                  {0x6df, 0x6e4}, {0x6e7, 0x6e8}, {0x6ea, 0x6ed}};
    if (c < 0x591 || c > 0x6ed)
        return false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

/* The character's folding by itself, in units; -1 when it depends on what stands before it. Mapping
 * a character to nothing never does, because NFKC_Casefold maps before it composes. */
static int32_t map_character(enum fold_kind kind, UChar32 c, UChar mapped[MAPPED_UNITS]) {
    UErrorCode code = U_ZERO_ERROR;
    UChar source[2];
    int32_t units = 0;
    if (kind != FOLD_REGEX && fold_ignores((uint32_t)c))
        return 0;
    if (c == 0x2018 || c == 0x2019 || c == 0x200b)
        c = kind == FOLD_REGEX ? c : c == 0x200b ? ' ' : '\'';
    U16_APPEND_UNSAFE(source, units, c);
    int32_t size;
    if (kind == FOLD_REGEX) {
        size = u_strToLower(mapped, MAPPED_UNITS, source, units, "", &code);
    } else {
        const UNormalizer2 *normalizer = unorm2_getNFKCCasefoldInstance(&code);
        /* Most characters are inert, and asking costs a small part of normalising. */
        if (U_SUCCESS(code) && unorm2_isInert(normalizer, c)) {
            memcpy(mapped, source, sizeof source);
            return units;
        }
        size = unorm2_normalize(normalizer, source, units, mapped, MAPPED_UNITS, &code);
        if (U_SUCCESS(code) && size > 0 && !unorm2_hasBoundaryBefore(normalizer, c))
            return -1;
    }
    return U_FAILURE(code) || size > MAPPED_UNITS ? -1 : size;
}

/* The action for any code point, the entry filled when it is FOLD_FIRST_ENTRY: for those that are
 * in no table. */
static unsigned fold_character(enum fold_kind kind, uint32_t code_point, struct fold_entry *entry) {
    UChar mapped[MAPPED_UNITS];
    char own[4];
    *entry = (struct fold_entry){0};
    if (kind == FOLD_REGEX && code_point == 0x3a3)
        return FOLD_SIGMA;
    int32_t size = map_character(kind, (UChar32)code_point, mapped);
    if (size < 0)
        return FOLD_HARD;
    for (int32_t i = 0; i < size;) {
        UChar32 c;
        U16_NEXT(mapped, i, size, c);
        if (kind != FOLD_REGEX && fold_ignores((uint32_t)c))
            continue;
        if (!append_folded(kind, c, entry))
            return FOLD_HARD;
    }
    size_t bytes = utf8_encode(code_point, own);
    if (entry->size > FOLD_GROWTH * bytes)
        return FOLD_HARD;
    if (entry->size == bytes && memcmp(entry->bytes, own, bytes) == 0)
        return FOLD_IDENTITY;
    return FOLD_FIRST_ENTRY;
}

static void build(struct fold_table *table, enum fold_kind kind) {
    enum { NONE = 0xffff };
    unsigned gap = NONE;
    table->kind = kind;
    for (uint32_t c = 0x80; c < 0x10000; c++) {
        struct fold_entry entry;
        unsigned action = c >= 0xd800 && c < 0xe000 ? FOLD_HARD : fold_character(kind, c, &entry);
        if (action == FOLD_FIRST_ENTRY) {
            bool is_gap = entry.size == 1 && entry.bytes[0] == FOLD_GAP;
            if (is_gap && gap != NONE) {
                action = gap;
            } else if (table->entry_count == FOLD_ENTRY_LIMIT) {
                action = FOLD_HARD;
            } else {
                action = FOLD_FIRST_ENTRY + table->entry_count;
                table->entries[table->entry_count++] = entry;
                if (is_gap)
                    gap = action;
            }
        }
        table->action[c] = (uint16_t)action;
    }
}

static struct fold_table tables[3];
static pthread_once_t table_once[3] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT};

static void build_words(void) {
    build(&tables[FOLD_WORDS], FOLD_WORDS);
}
static void build_regex(void) {
    build(&tables[FOLD_REGEX], FOLD_REGEX);
}
static void build_chars(void) {
    build(&tables[FOLD_CHARS], FOLD_CHARS);
}

const struct fold_table *fold_table_of(enum fold_kind kind) {
    static void (*const builders[3])(void) = {build_words, build_regex, build_chars};
    pthread_once(&table_once[kind], builders[kind]);
    return &tables[kind];
}

/* Unicode's Final_Sigma: behind a cased letter and before none, case-ignorable characters aside. */
static bool sigma_is_final(const char *text, size_t size, size_t at) {
    uint32_t c;
    size_t i = at;
    bool cased_before = false;
    while (i > 0 && !cased_before) {
        do
            i--;
        while (i > 0 && !utf8_is_start(text[i]));
        utf8_decode(text + i, size - i, &c);
        if (u_hasBinaryProperty((UChar32)c, UCHAR_CASE_IGNORABLE))
            continue;
        if (!u_hasBinaryProperty((UChar32)c, UCHAR_CASED))
            return false;
        cased_before = true;
    }
    for (i = at + 2; cased_before && i < size;) {
        i += utf8_decode(text + i, size - i, &c);
        if (!u_hasBinaryProperty((UChar32)c, UCHAR_CASE_IGNORABLE))
            return !u_hasBinaryProperty((UChar32)c, UCHAR_CASED);
    }
    return cased_before;
}

size_t fold_text(const struct fold_table *table, const struct text_kernels *kernels,
                 const char *text, size_t size, char *out, size_t *out_size) {
    size_t i = 0, o = 0;
    while (i < size) {
        size_t ascii = kernels->lower_ascii(text + i, size - i, out + o);
        i += ascii;
        o += ascii;
        while (i < size && (unsigned char)text[i] >= 0x80) {
            uint32_t c;
            struct fold_entry astral;
            size_t bytes = utf8_decode(text + i, size - i, &c);
            unsigned action =
                c < 0x10000 ? table->action[c] : fold_character(table->kind, c, &astral);
            if (action == FOLD_HARD)
                goto hard;
            if (action == FOLD_IDENTITY) {
                o += utf8_encode(c, out + o);
            } else if (action == FOLD_SIGMA) {
                o += utf8_encode(sigma_is_final(text, size, i) ? 0x3c2 : 0x3c3, out + o);
            } else {
                const struct fold_entry *entry =
                    c < 0x10000 ? &table->entries[action - FOLD_FIRST_ENTRY] : &astral;
                memcpy(out + o, entry->bytes, sizeof entry->bytes);
                o += entry->size;
            }
            i += bytes;
        }
    }
hard:
    *out_size = o;
    return i;
}
