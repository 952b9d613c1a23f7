#include "input/parallel/xml_source.h"

enum { READ_BYTES = 1 << 16 };

cog_status xml_source_parse_next(XML_Parser xml, struct byte_source *bytes, const char *complaint,
                                 bool *done, cog_error *error) {
    size_t got = 0;
    void *block = XML_GetBuffer(xml, READ_BYTES);
    if (!block)
        return error_memory(error, READ_BYTES, "an XML file");
    TRY(byte_source_read(bytes, block, READ_BYTES, &got, error));
    *done = got == 0;
    if (XML_ParseBuffer(xml, (int)got, *done) == XML_STATUS_OK)
        return COG_OK;
    const unsigned long line = XML_GetCurrentLineNumber(xml);
    return error_set_at(error, COG_ERR_INPUT, line, "%s:%lu: %s: %s", bytes->name, line, complaint,
                        XML_ErrorString(XML_GetErrorCode(xml)));
}
