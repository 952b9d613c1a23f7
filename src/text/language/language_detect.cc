#include "text/language/language_detect.h"

#include <exception>
#include <string>

#include <cld2/public/compact_lang_det.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include "base/strings.h"
extern "C" {
#include "text/fold_table.h"
}

/* Decomposed letters take up to three times the bytes of composed ones. */
enum { DECOMPOSED_BYTES = 3 * DETECT_BYTES };

/* The beginning of a text as composed characters (NFC), so that the way it is encoded does not
 * decide its language. Empty where the text is composed already. */
static std::string composed_beginning(const char *text, size_t size) {
    UErrorCode status = U_ZERO_ERROR;
    const icu::Normalizer2 *composer = icu::Normalizer2::getNFCInstance(status);
    std::string composed;
    icu::StringPiece sample(text,
                            static_cast<int32_t>(utf8_cut(view_of(text, size), DETECT_BYTES)));
    if (U_FAILURE(status) || composer->isNormalizedUTF8(sample, status) || U_FAILURE(status))
        return composed;
    icu::StringByteSink<std::string> sink(&composed);
    sample.set(text, static_cast<int32_t>(utf8_cut(view_of(text, size), DECOMPOSED_BYTES)));
    composer->normalizeUTF8(0, sample, sink, nullptr, status);
    if (U_FAILURE(status))
        composed.clear();
    return composed;
}

/* Whether a text has letters or signs of the Hebrew and Arabic blocks, by their first bytes.
 * Looking at bytes is cheap enough for every text; a look at characters is not. */
static bool has_signs(const char *text, size_t size) {
    const unsigned char first = 0xd6, last = 0xdb; /* of U+0580 to U+06FF in UTF-8 */
    unsigned found = 0;
    for (size_t i = 0; i < size; i++)
        found |= static_cast<unsigned char>(text[i] - first) <= last - first;
    return found != 0;
}

/* The beginning of a text without vowel signs, which readers take or leave: CLD2 does not know the
 * words of a text that has them. Empty where there are none. */
static std::string unmarked_beginning(const char *text, size_t size) {
    std::string bare;
    const size_t end = utf8_cut(view_of(text, size), DECOMPOSED_BYTES);
    size_t kept = 0; /* where the piece begins that is not copied yet */
    uint32_t character = 0;
    if (!has_signs(text, end))
        return bare;
    for (size_t at = 0, bytes; at < end; at += bytes) {
        bytes = utf8_decode(text + at, end - at, &character);
        if (!fold_ignores(character))
            continue;
        bare.append(text + kept, at - kept);
        kept = at + bytes;
    }
    if (kept)
        bare.append(text + kept, end - kept);
    return bare;
}

static const char *detect(const char *text, size_t size) {
    std::string bare = unmarked_beginning(text, size);
    if (!bare.empty()) {
        text = bare.data();
        size = bare.size();
    }
    std::string composed = composed_beginning(text, size);
    if (!composed.empty()) {
        text = composed.data();
        size = composed.size();
    }
    int length = static_cast<int>(utf8_cut(view_of(text, size), DETECT_BYTES));
    bool reliable = false;
    CLD2::Language language = CLD2::DetectLanguage(text, length, true, &reliable);
    return reliable && language != CLD2::UNKNOWN_LANGUAGE ? CLD2::LanguageCode(language) : "";
}

/* Nothing is thrown into C: without memory the language is not known. */
const char *language_detect(const char *text, size_t size) {
    try {
        return size ? detect(text, size) : "";
    } catch (const std::exception &) {
        return "";
    }
}

const char *language_detector_version(void) {
    return CLD2::DetectLanguageVersion();
}
