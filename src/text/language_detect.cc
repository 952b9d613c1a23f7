#include "text/language_detect.h"

#include <cstdio>

#include <cld2/public/compact_lang_det.h>

#include "text/code_point.h"

const char *language_detect(const char *text, size_t size) {
    if (size == 0)
        return "";
    size_t end = size < DETECT_BYTES ? size : size_t{DETECT_BYTES};
    while (end < size && end > 0 && !utf8_is_start(text[end]))
        end--;
    bool reliable = false;
    CLD2::Language language = CLD2::DetectLanguage(text, static_cast<int>(end), true, &reliable);
    return reliable && language != CLD2::UNKNOWN_LANGUAGE ? CLD2::LanguageCode(language) : "";
}
