/* TMX: a translation unit (tu) holds a variant (tuv, xml:lang) for each language with its segment
 * (seg). Elements inside a segment are markup; their text is left out of bpt, ept, it, ph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "input/parallel/pair_reader.h"
#include "input/parallel/xml_source.h"

enum tmx_side { SIDE_OTHER, SIDE_FROM, SIDE_TO };

struct tmx_parser {
    XML_Parser xml;
    struct pair_reader *reader;
    struct pair_batch *batch;
    char from_code[LANGUAGE_CODE_BYTES], to_code[LANGUAGE_CODE_BYTES];
    struct buffer from, to;
    enum tmx_side side;
    bool in_segment;
    unsigned markup_depth; /* inside an element whose text is no words */
    bool has_pairs;
    char languages[64]; /* codes that were seen, "de, en" */
    cog_status status;
    cog_error *error;
};

static void note_language(struct tmx_parser *parser, const char *code) {
    size_t size = strlen(parser->languages);
    if (!strstr(parser->languages, code))
        snprintf(parser->languages + size, sizeof parser->languages - size, "%s%s",
                 size ? ", " : "", code);
}

static enum tmx_side side_of(struct tmx_parser *parser, const XML_Char **attributes) {
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], "xml:lang") == 0 || strcmp(attributes[0], "lang") == 0) {
            char code[LANGUAGE_CODE_BYTES];
            language_canonical(view_of_text(attributes[1]), code);
            note_language(parser, code);
            return strcmp(code, parser->from_code) == 0 ? SIDE_FROM
                   : strcmp(code, parser->to_code) == 0 ? SIDE_TO
                                                        : SIDE_OTHER;
        }
    return SIDE_OTHER;
}

static bool is_code_element(const XML_Char *name) {
    return strcmp(name, "bpt") == 0 || strcmp(name, "ept") == 0 || strcmp(name, "it") == 0 ||
           strcmp(name, "ph") == 0;
}

static void append_text(struct tmx_parser *parser, const char *text, size_t size) {
    struct buffer *side = parser->side == SIDE_FROM ? &parser->from : &parser->to;
    if (!buffer_append(side, text, size) && parser->status == COG_OK)
        parser->status = error_memory(parser->error, size, "a TMX segment");
}

static void on_start(void *context, const XML_Char *name, const XML_Char **attributes) {
    struct tmx_parser *parser = context;
    if (strcmp(name, "tu") == 0) {
        buffer_reset(&parser->from);
        buffer_reset(&parser->to);
    } else if (strcmp(name, "tuv") == 0) {
        parser->side = side_of(parser, attributes);
    } else if (strcmp(name, "seg") == 0) {
        parser->in_segment = parser->side != SIDE_OTHER;
        if (parser->in_segment && (parser->side == SIDE_FROM ? parser->from : parser->to).size)
            append_text(parser, " ", 1); /* a second variant of the same language */
    } else if (parser->markup_depth || is_code_element(name)) {
        parser->markup_depth++;
    }
}

static void on_end(void *context, const XML_Char *name) {
    struct tmx_parser *parser = context;
    if (parser->markup_depth) {
        parser->markup_depth--;
    } else if (strcmp(name, "seg") == 0) {
        parser->in_segment = false;
    } else if (strcmp(name, "tu") == 0 && parser->from.size && parser->to.size &&
               parser->status == COG_OK) {
        parser->has_pairs = true;
        parser->status = pair_reader_add(parser->reader, parser->batch, buffer_view(&parser->from),
                                         buffer_view(&parser->to),
                                         XML_GetCurrentLineNumber(parser->xml), parser->error);
    }
}

static void on_text(void *context, const XML_Char *text, int size) {
    struct tmx_parser *parser = context;
    if (parser->in_segment && !parser->markup_depth)
        append_text(parser, text, (size_t)size);
}

cog_status tmx_parser_open(struct pair_reader *reader, cog_error *error) {
    const char *from = reader->options.from_language, *to = reader->options.to_language;
    struct tmx_parser *parser = calloc(1, sizeof *parser);
    if (!parser || !(parser->xml = XML_ParserCreate(NULL))) {
        free(parser);
        return error_memory(error, sizeof *parser, "a TMX parser");
    }
    parser->reader = reader;
    language_canonical(view_of_text(from), parser->from_code);
    language_canonical(view_of_text(to), parser->to_code);
    XML_SetUserData(parser->xml, parser);
    XML_SetElementHandler(parser->xml, on_start, on_end);
    XML_SetCharacterDataHandler(parser->xml, on_text);
    reader->tmx = parser;
    return byte_source_open_path(&reader->bytes, pair_reader_path(reader), error);
}

cog_status tmx_parser_fill(struct pair_reader *reader, struct pair_batch *batch, bool *done,
                           cog_error *error) {
    struct tmx_parser *parser = reader->tmx;
    parser->batch = batch;
    parser->error = error;
    while (batch->text.size < PAIR_BATCH_BYTES && !*done) {
        TRY(xml_source_parse_next(parser->xml, &reader->bytes, "not well-formed XML", done, error));
        TRY(parser->status);
    }
    if (*done && !parser->has_pairs && parser->languages[0])
        return error_about(
            error, COG_ERR_INPUT, "from", "%s: no unit has both %s and %s; its languages are %s",
            pair_reader_path(reader), parser->from_code, parser->to_code, parser->languages);
    return COG_OK;
}

void tmx_parser_close(struct tmx_parser *parser) {
    if (!parser)
        return;
    XML_ParserFree(parser->xml);
    buffer_free(&parser->from);
    buffer_free(&parser->to);
    free(parser);
}
