/* Feeds the bytes of a file, compressed or not, to an XML parser. */
#pragma once

#include <expat.h>

#include "input/input_files.h"

/* Parses the next bytes; *done after the last. If they are not XML: COG_ERR_INPUT with the place,
 * and `complaint` ("not well-formed XML") in front of the parser's own. */
cog_status xml_source_parse_next(XML_Parser xml, struct byte_source *bytes, const char *complaint,
                                 bool *done, cog_error *error);
