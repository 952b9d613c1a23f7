#include "input/first_bytes.h"

#include <string.h>

#include "base/strings.h"
#include "input/documents/text_bytes.h"

static const char PARQUET[] = "PAR1";
static const char DUMP[] = "<mediawiki";
static const char CRAWL[] = "WARC/";
enum { PARQUET_BYTES = sizeof PARQUET - 1 };

static struct bytes_view without_space_before(struct bytes_view bytes) {
    while (bytes.size && is_one_of(*bytes.data, " \t\r\n"))
        bytes = view_of(bytes.data + 1, bytes.size - 1);
    return bytes;
}

/* Whether a byte order mark begins here of which more bytes are to come. */
static bool is_part_of_mark(struct bytes_view bytes) {
    return bytes.size && bytes.size < 3 && memcmp("\xef\xbb\xbf", bytes.data, bytes.size) == 0;
}

struct bytes_view first_bytes_of(struct bytes_view bytes) {
    if (is_part_of_mark(bytes))
        return view_of(bytes.data, 0);
    bytes.size = bytes.size < FIRST_BYTES ? bytes.size : FIRST_BYTES;
    return without_space_before(without_mark(bytes));
}

/* The bytes behind an opening bracket; none if there is no bracket. */
static struct bytes_view inside_bracket(struct bytes_view bytes) {
    return bytes.size && *bytes.data == '['
               ? without_space_before(view_of(bytes.data + 1, bytes.size - 1))
               : view_of(bytes.data, 0);
}

bool first_bytes_may_change(struct bytes_view bytes, bool whole_lines) {
    if (bytes.size >= FIRST_BYTES)
        return false;
    const struct bytes_view first = first_bytes_of(bytes);
    if (!whole_lines || first.size == 0)
        return true;
    if (*first.data == '[')
        return inside_bracket(first).size == 0;
    return !memchr(first.data, '\n', first.size);
}

void first_bytes_guess(struct input_file *file, struct bytes_view bytes) {
    const struct bytes_view first = first_bytes_of(bytes);
    const struct bytes_view inside = inside_bracket(first);
    file->format = INPUT_TXT;
    if (view_begins_with(first, "{") || view_begins_with(inside, "{")) {
        file->format = INPUT_JSONL;
        file->is_array = inside.size > 0;
    } else if (view_begins_with(first, DUMP)) {
        file->format = INPUT_WIKIXML;
    } else if (view_begins_with(first, CRAWL)) {
        file->format = INPUT_WARC;
    } else {
        file->lines = true;
    }
}

bool first_bytes_may_be_parquet(struct bytes_view bytes) {
    const size_t size = bytes.size < PARQUET_BYTES ? bytes.size : PARQUET_BYTES;
    return bytes.size <= PARQUET_BYTES && size && memcmp(bytes.data, PARQUET, size) == 0;
}

cog_status first_bytes_check(const struct input_file *file, struct bytes_view bytes,
                             cog_error *error) {
    const bool is_parquet = view_begins_with(bytes, PARQUET) && bytes.size > PARQUET_BYTES &&
                            (unsigned char)bytes.data[PARQUET_BYTES] < 32;
    if (!is_parquet)
        return COG_OK;
    return error_set(error, COG_ERR_INPUT,
                     "%s: a Parquet file, which is not read here; convert it to jsonl, or use the "
                     "Python package, which reads it",
                     file->path);
}
