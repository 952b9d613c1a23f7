#include "text/cjk_dictionary.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include <unicode/ubrk.h>
#include <unicode/ucharstrie.h>
#include <unicode/udata.h>
#include <unicode/unistr.h>

namespace {

constexpr unsigned SLOT_BITS = 20;
constexpr uint32_t SLOTS = 1u << SLOT_BITS, ROOT = SLOTS;
/* A slot: 21 bits of the prefix without its last letter (a slot, or ROOT), 16 bits of that letter,
 * and 16 bits of the cost of the word that ends here. 0: free. */
constexpr unsigned LETTER_SHIFT = 21, COST_SHIFT = 37;
constexpr uint64_t NO_WORD = 0xffff, KEY_MASK = (UINT64_C(1) << COST_SHIFT) - 1;
/* What a letter costs that is no word of the dictionary. */
constexpr uint32_t UNKNOWN_COST = 255;
constexpr size_t WORD_LETTERS = 20;
/* A run of katakana may be a word of its own, by its length. */
constexpr size_t KATAKANA_LETTERS = 20;
constexpr uint32_t katakana_costs[] = {8192, 984, 408, 240, 204, 252, 300, 372, 480};

} // namespace

struct cjk_dictionary {
    uint64_t slots[SLOTS];
    uint32_t used;
};

namespace {

uint64_t key_of(uint32_t prefix, uint16_t letter) {
    return prefix | static_cast<uint64_t>(letter) << LETTER_SHIFT;
}

/* The slot of a prefix and a letter behind it, or the free one where they belong. */
uint32_t find_slot(const cjk_dictionary *dictionary, uint64_t key) {
    uint32_t at = static_cast<uint32_t>(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS));
    while (dictionary->slots[at] && (dictionary->slots[at] & KEY_MASK) != key)
        at = (at + 1) & (SLOTS - 1);
    return at;
}

/* False if the table is too full. */
bool add_word(cjk_dictionary *dictionary, const icu::UnicodeString &word, int32_t cost) {
    uint32_t prefix = ROOT;
    for (int32_t i = 0; i < word.length(); i++) {
        const uint64_t key = key_of(prefix, word[i]);
        prefix = find_slot(dictionary, key);
        if (!dictionary->slots[prefix]) {
            if (++dictionary->used > SLOTS / 4 * 3)
                return false;
            dictionary->slots[prefix] = key | NO_WORD << COST_SHIFT;
        }
    }
    if (prefix == ROOT || cost < 0 || static_cast<uint64_t>(cost) >= NO_WORD)
        return false;
    dictionary->slots[prefix] = (dictionary->slots[prefix] & KEY_MASK) | static_cast<uint64_t>(cost)
                                                                             << COST_SHIFT;
    return true;
}

bool is_katakana(uint16_t c) {
    return c >= 0x30a1 && c <= 0x30fe && c != 0x30fb;
}

/* The data of a dictionary of ICU: eight numbers, of which the first is the offset of the trie and
 * the fifth its kind (1: of UTF-16 units; 8: its words have values). */
const char16_t *open_trie(UDataMemory **data) {
    UErrorCode code = U_ZERO_ERROR;
    *data = udata_open(U_ICUDATA_NAME "-brkitr", "dict", "cjdict", &code);
    if (U_FAILURE(code))
        return nullptr;
    int32_t numbers[8];
    std::memcpy(numbers, udata_getMemory(*data), sizeof numbers);
    if ((numbers[4] & 7) != 1 || !(numbers[4] & 8) || numbers[0] < 32)
        return nullptr;
    return reinterpret_cast<const char16_t *>(static_cast<const char *>(udata_getMemory(*data)) +
                                              numbers[0]);
}

bool read_words(cjk_dictionary *dictionary) {
    UDataMemory *data = nullptr;
    const char16_t *trie = open_trie(&data);
    bool good = trie != nullptr;
    if (good) {
        UErrorCode code = U_ZERO_ERROR;
        icu::UCharsTrie::Iterator words(trie, 0, code);
        while (good && words.next(code))
            good = add_word(dictionary, words.getString(), words.getValue());
        good = good && U_SUCCESS(code);
    }
    if (data)
        udata_close(data);
    return good;
}

/* Whether ICU cuts the letters at the same places. */
bool agrees(const cjk_dictionary *dictionary, UBreakIterator *iterator, const uint16_t *letters,
            size_t count) {
    UErrorCode code = U_ZERO_ERROR;
    uint16_t ends[CJK_RUN_LETTERS];
    const size_t words = cjk_dictionary_cut(dictionary, letters, count, ends);
    ubrk_setText(iterator, reinterpret_cast<const UChar *>(letters), static_cast<int32_t>(count),
                 &code);
    ubrk_first(iterator);
    for (size_t i = 0; i < words && U_SUCCESS(code); i++)
        if (ubrk_next(iterator) != ends[i])
            return false;
    return U_SUCCESS(code) && ubrk_next(iterator) == UBRK_DONE;
}

/* Letters of an invented text: ideographs of the most frequent range, and both kinds of kana. */
size_t invent(uint64_t *state, uint16_t *letters) {
    constexpr size_t most = 40;
    const size_t count = 1 + (*state >> 33) % most;
    uint32_t first = 0x4e00, range = 0x1800;
    for (size_t i = 0; i < count; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint32_t drawn = static_cast<uint32_t>(*state >> 33);
        if (drawn % 5 == 0) {
            const uint32_t kind = drawn / 5 % 3;
            first = kind == 0 ? 0x4e00 : kind == 1 ? 0x3041 : 0x30a1;
            range = kind == 0 ? 0x1800 : kind == 1 ? 0x53 : 0x56;
        }
        letters[i] = static_cast<uint16_t>(first + drawn / 16 % range);
    }
    return count;
}

/* Adds words of the dictionary one after the other, as texts have them: each begins with the last
 * letter so far, and invented letters follow it. */
size_t add_words(const cjk_dictionary *dictionary, uint64_t *state, uint16_t *letters,
                 size_t count) {
    constexpr size_t enough = 60;
    while (count < enough) {
        uint32_t prefix = find_slot(dictionary, key_of(ROOT, letters[count - 1]));
        *state = *state * UINT64_C(6364136223846793005) + 1;
        for (uint32_t c = 0x4e00 + (*state >> 40) % 0x5000, end = c + 400;
             dictionary->slots[prefix] && c < end; c++) {
            const uint32_t next = find_slot(dictionary, key_of(prefix, static_cast<uint16_t>(c)));
            if (dictionary->slots[next] && cjk_is_letter(c)) {
                letters[count++] = static_cast<uint16_t>(c);
                prefix = next;
            }
        }
        count += invent(state, letters + count);
    }
    return count;
}

/* Compares random letters, and in every second text also words. */
bool check(const cjk_dictionary *dictionary) {
    constexpr int texts = 300;
    UErrorCode code = U_ZERO_ERROR;
    UBreakIterator *iterator = ubrk_open(UBRK_WORD, "", nullptr, 0, &code);
    if (U_FAILURE(code))
        return false;
    bool good = true;
    uint64_t state = 1;
    for (int text = 0; text < texts && good; text++) {
        uint16_t letters[CJK_RUN_LETTERS];
        size_t count = invent(&state, letters);
        if (text % 2)
            count = add_words(dictionary, &state, letters, count);
        good = agrees(dictionary, iterator, letters, count);
    }
    ubrk_close(iterator);
    return good;
}

std::once_flag once;
const cjk_dictionary *made;

void make() {
    auto *dictionary = static_cast<cjk_dictionary *>(std::calloc(1, sizeof(cjk_dictionary)));
    if (dictionary && read_words(dictionary) && check(dictionary))
        made = dictionary;
    else
        std::free(dictionary);
}

} // namespace

const struct cjk_dictionary *cjk_dictionary_get(void) {
    std::call_once(once, make);
    return made;
}

namespace {

/* The cheapest ways to cut the first letters of a run. */
struct cheapest {
    uint32_t cost[CJK_RUN_LETTERS + 1];
    uint16_t before[CJK_RUN_LETTERS + 1]; /* where the last word begins */

    void offer(size_t from, size_t to, uint32_t word) {
        if (cost[from] + word < cost[to]) {
            cost[to] = cost[from] + word;
            before[to] = static_cast<uint16_t>(from);
        }
    }
};

} // namespace

size_t cjk_dictionary_cut(const struct cjk_dictionary *dictionary, const uint16_t *letters,
                          size_t count, uint16_t ends[CJK_RUN_LETTERS]) {
    cheapest ways;
    ways.cost[0] = 0;
    for (size_t i = 1; i <= count; i++)
        ways.cost[i] = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        const size_t most = count - i < WORD_LETTERS ? count - i : WORD_LETTERS;
        uint32_t prefix = ROOT;
        bool is_word = false;
        for (size_t size = 1; size <= most; size++) {
            prefix = find_slot(dictionary, key_of(prefix, letters[i + size - 1]));
            const uint64_t slot = dictionary->slots[prefix];
            if (!slot)
                break;
            if (slot >> COST_SHIFT != NO_WORD) {
                is_word |= size == 1;
                ways.offer(i, i + size, static_cast<uint32_t>(slot >> COST_SHIFT));
            }
        }
        if (!is_word)
            ways.offer(i, i + 1, UNKNOWN_COST);
        if (!is_katakana(letters[i]) || (i && is_katakana(letters[i - 1])))
            continue;
        size_t size = 1;
        while (i + size < count && size < KATAKANA_LETTERS && is_katakana(letters[i + size]))
            size++;
        if (size < KATAKANA_LETTERS)
            ways.offer(i, i + size, katakana_costs[size <= 8 ? size : 0]);
    }
    size_t words = 0;
    for (size_t end = count; end > 0; end = ways.before[end])
        ends[words++] = static_cast<uint16_t>(end);
    for (size_t i = 0; i < words / 2; i++) {
        const uint16_t moved = ends[i];
        ends[i] = ends[words - 1 - i];
        ends[words - 1 - i] = moved;
    }
    return words;
}
