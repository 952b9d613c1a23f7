#include "jobs/link/sentences/sentence_output.h"

#include <string.h>

#include "base/hash.h"
#include "base/io/compression.h"
#include "base/strings.h"

enum { BLOCK_BYTES = 1 << 16 };

/* ---- Formats --------------------------------------------------------------------------------- */

/* Appends text as XML. Line ends and the characters that XML 1.0 does not allow (control
 * characters, U+FFFE and U+FFFF) become spaces. */
static bool append_xml(struct buffer *buffer, struct bytes_view text) {
    bool enough = true;
    size_t bytes;
    for (size_t i = 0; i < text.size && enough; i += bytes) {
        uint32_t c;
        bytes = utf8_decode(text.data + i, text.size - i, &c);
        bool is_allowed = c >= 0x20 && c != 0xfffe && c != 0xffff;
        enough = c == '&'      ? buffer_append_text(buffer, "&amp;")
                 : c == '<'    ? buffer_append_text(buffer, "&lt;")
                 : c == '>'    ? buffer_append_text(buffer, "&gt;")
                 : !is_allowed ? buffer_append(buffer, " ", 1)
                               : buffer_append(buffer, text.data + i, bytes);
    }
    return enough;
}

static bool append_property(struct buffer *buffer, const char *name, struct bytes_view value) {
    return buffer_printf(buffer, "<prop type=\"%s\">", name) && append_xml(buffer, value) &&
           buffer_append_text(buffer, "</prop>\n");
}

static bool append_variant(struct buffer *buffer, const char *language, struct bytes_view text) {
    return buffer_printf(buffer, "<tuv xml:lang=\"%s\"><seg>", language) &&
           append_xml(buffer, text) && buffer_append_text(buffer, "</seg></tuv>\n");
}

static bool append_unit(struct sentence_output *output, const struct written_sentences *pair) {
    struct buffer *text = &output->text;
    return buffer_printf(text,
                         "<tu>\n<prop type=\"similarity\">%.6f</prop>\n"
                         "<prop type=\"score\">%.6f</prop>\n",
                         (double)pair->similarity, (double)pair->score) &&
           append_property(text, "from_id", pair->ids[0]) &&
           append_property(text, "to_id", pair->ids[1]) &&
           append_variant(text, output->languages[0], pair->texts[0]) &&
           append_variant(text, output->languages[1], pair->texts[1]) &&
           buffer_append_text(text, "</tu>\n");
}

static bool append_row(struct buffer *text, const struct written_sentences *pair) {
    return escape_append(text, pair->texts[0]) && buffer_append(text, "\t", 1) &&
           escape_append(text, pair->texts[1]) &&
           buffer_printf(text, "\t%.6f\t", (double)pair->similarity) &&
           escape_append(text, pair->ids[0]) && buffer_append(text, "\t", 1) &&
           escape_append(text, pair->ids[1]) &&
           buffer_printf(text, "\t%.6f\n", (double)pair->score);
}

static bool append_object(struct buffer *text, const struct written_sentences *pair) {
    return buffer_append_text(text, "{\"from\": ") && json_append_string(text, pair->texts[0]) &&
           buffer_append_text(text, ", \"to\": ") && json_append_string(text, pair->texts[1]) &&
           buffer_printf(text, ", \"similarity\": %.6f", (double)pair->similarity) &&
           buffer_append_text(text, ", \"from_id\": ") && json_append_string(text, pair->ids[0]) &&
           buffer_append_text(text, ", \"to_id\": ") && json_append_string(text, pair->ids[1]) &&
           buffer_printf(text, ", \"score\": %.6f}\n", (double)pair->score);
}

static bool append_head(struct sentence_output *output) {
    if (output->format == COG_SENTENCES_TSV)
        return buffer_append_text(&output->text, "from\tto\tsimilarity\tfrom_id\tto_id\tscore\n");
    if (output->format == COG_SENTENCES_JSONL)
        return true;
    return buffer_printf(&output->text,
                         "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tmx version=\"1.4\">\n"
                         "<header creationtool=\"cognate\" creationtoolversion=\"%s\" "
                         "segtype=\"sentence\" o-tmf=\"cognate\" adminlang=\"en\" srclang=\"%s\" "
                         "datatype=\"plaintext\"/>\n<body>\n",
                         COG_VERSION, output->languages[0]);
}

/* ---- The file -------------------------------------------------------------------------------- */

static cog_status write_out(struct sentence_output *output, cog_error *error) {
    TRY(output_write(output->output, output->text.data, output->text.size, error));
    buffer_reset(&output->text);
    return COG_OK;
}

cog_status sentence_output_open(struct sentence_output *output, cog_sentence_format format,
                                const char *path, const char *const languages[2],
                                cog_error *error) {
    output->format = format != COG_SENTENCES_AUTO ? format
                     : name_ends_in(path, ".tmx") ? COG_SENTENCES_TMX
                                                  : COG_SENTENCES_TSV;
    output->languages[0] = languages[0];
    output->languages[1] = languages[1];
    TRY(output_open(path, &output->output, error));
    return append_head(output) ? COG_OK : error_memory(error, BLOCK_BYTES, "sentence pairs");
}

uint64_t sentence_pair_hash(const struct bytes_view texts[2]) {
    return hash_pair(hash_bytes(texts[0].data, texts[0].size),
                     hash_bytes(texts[1].data, texts[1].size));
}

cog_status sentence_output_add(struct sentence_output *output, const struct written_sentences *pair,
                               cog_error *error) {
    uint32_t number;
    TRY(word_table_add(&output->seen, sentence_pair_hash(pair->texts), view_of("", 0), 1, &number,
                       error));
    if (number < output->written) {
        output->repeated++;
        return COG_OK;
    }
    output->written++;
    bool enough = output->format == COG_SENTENCES_TMX     ? append_unit(output, pair)
                  : output->format == COG_SENTENCES_JSONL ? append_object(&output->text, pair)
                                                          : append_row(&output->text, pair);
    if (!enough)
        return error_memory(error, output->text.size, "sentence pairs");
    return output->text.size < BLOCK_BYTES ? COG_OK : write_out(output, error);
}

cog_status sentence_output_close(struct sentence_output *output, cog_status status,
                                 cog_error *error) {
    if (status == COG_OK && output->format == COG_SENTENCES_TMX &&
        !buffer_append_text(&output->text, "</body>\n</tmx>\n"))
        status = error_memory(error, output->text.size, "sentence pairs");
    THEN(status, write_out(output, error));
    THEN(status, output_commit(output->output, error));
    output_close(output->output);
    word_table_free(&output->seen);
    buffer_free(&output->text);
    return status;
}
