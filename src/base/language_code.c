#include "base/language_code.h"

#include <ctype.h>
#include <string.h>
#include <unicode/uloc.h>

void language_canonical(struct bytes_view code, char canonical[LANGUAGE_CODE_BYTES]) {
    /* Norwegian is written in two forms that share stemmer and stop words; the rest are
     * bibliographic codes, which ICU does not know. */
    static const char *const synonyms[][2] = {
        {"nb", "no"},  {"nn", "no"},  {"nob", "no"}, {"nno", "no"}, {"ger", "de"}, {"fre", "fr"},
        {"dut", "nl"}, {"rum", "ro"}, {"gre", "el"}, {"baq", "eu"}, {"arm", "hy"},
    };
    char part[LANGUAGE_CODE_BYTES] = "";
    size_t size = 0;
    canonical[0] = 0;
    while (size < code.size && isalpha((unsigned char)code.data[size]))
        size++;
    if (size < 2 || size > 3 || (size < code.size && !strchr("-_", code.data[size])))
        return;
    for (size_t i = 0; i < size; i++)
        part[i] = (char)tolower((unsigned char)code.data[i]);
    UErrorCode status = U_ZERO_ERROR;
    uloc_getLanguage(part, canonical, LANGUAGE_CODE_BYTES, &status);
    if (U_FAILURE(status))
        strcpy(canonical, part);
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(canonical, synonyms[i][0]) == 0)
            strcpy(canonical, synonyms[i][1]);
}
