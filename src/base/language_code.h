/* Codes of languages, as files and options spell them, in one spelling. */
#pragma once

#include "base/buffer.h"

enum { LANGUAGE_CODE_BYTES = 8 };

/* Writes the code in lower case, without region or script, with two letters if ISO 639-1 has them
 * ("de-AT" and "deu" become "de", "nb" becomes "no"); an empty string if `code` is not a code. */
void language_canonical(struct bytes_view code, char canonical[LANGUAGE_CODE_BYTES]);
