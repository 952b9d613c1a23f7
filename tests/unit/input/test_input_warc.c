/* Records of crawls: where they end, which of them are documents, and what their texts are. */
#include "base/memory.h"
#include "input/documents/html_text.h"
#include "test.h"
#include "test_input_support.h"

#include <zlib.h>

static struct buffer file; /* the WARC file that a test makes */

static void add(const char *type, const char *fields, const char *content, size_t size) {
    if (!buffer_printf(&file, "WARC/1.0\r\nWARC-Type: %s\r\n%sContent-Length: %zu\r\n\r\n", type,
                       fields, size) ||
        !buffer_append(&file, content, size) || !buffer_append_text(&file, "\r\n\r\n"))
        abort();
}

static void add_page(const char *uri, const char *http, const char *body, size_t size) {
    struct buffer content = {0};
    char fields[256];
    snprintf(fields, sizeof fields,
             "WARC-Target-URI: %s\r\nContent-Type: application/http; msgtype=response\r\n", uri);
    if (!buffer_append_text(&content, http) || !buffer_append(&content, body, size))
        abort();
    add("response", fields, content.data, content.size);
    buffer_free(&content);
}

#define HTML "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

static struct read_result read_file(const char *name, size_t batch_bytes) {
    struct reader_options options = default_options();
    options.batch_bytes = batch_bytes;
    return read_path(&options, write_file(name, file.data, file.size));
}

/* The text of one response, or what is wrong with it. */
static struct read_result read_page(const char *http, const char *body, size_t size) {
    buffer_reset(&file);
    add_page("http://a/", http, body, size);
    return read_file("a.warc", 0);
}

static bool page_is(const char *http, const char *body, size_t size, const char *text) {
    struct read_result result = read_page(http, body, size);
    bool good = result.status == COG_OK && result.count == 1 && !result.items[0].bad &&
                strcmp(result.items[0].text, text) == 0;
    read_result_free(&result);
    return good;
}

static bool page_is_bad(const char *http, const char *body, size_t size, const char *problem) {
    struct read_result result = read_page(http, body, size);
    bool good = result.status == COG_OK && result.count == 1 && result.items[0].bad &&
                strstr(result.items[0].message, problem);
    read_result_free(&result);
    return good;
}

static bool is_passed_over(const char *http) {
    struct read_result result = read_page(http, "<p>a", 4);
    bool good = result.status == COG_OK && result.count == 1 && result.items[0].passed_over;
    read_result_free(&result);
    return good;
}

TEST(input_warc_texts_pages_and_the_rest) {
    buffer_reset(&file);
    add("warcinfo", "Content-Type: application/warc-fields\r\n", "a: b\r\n", 6);
    size_t second = file.size;
    add("conversion",
        "warc-target-uri:  http://b/ \r\nWARC-Identified-Content-Language: deu,eng\r\n"
        "Content-Type: text/plain\r\n",
        "Grüße\r\n\r\nWARC/1.0\r\n", 21);
    size_t third = file.size;
    add_page("<http://c/>", HTML "\r\n", "<p>page", 7);
    add("request", "Content-Type: application/http\r\n", "GET / HTTP/1.0\r\n\r\n", 18);
    add("resource", "WARC-Target-URI: ftp://d/\r\nContent-Type: text/html\r\n", "<b>d", 4);
    add("resource", "WARC-Target-URI: metadata://d\r\nContent-Type: text/plain\r\n", "log", 3);
    add("conversion", "", "", 0);
    for (size_t batch = 1; batch < 300; batch += batch < 20 ? 1 : 37) {
        struct read_result result = read_file("a.warc", batch);
        CHECK(result.status == COG_OK && result.count == 7 && result.bad_count == 0);
        CHECK(result.items[0].passed_over && result.items[0].raw_size == second);
        CHECK(strcmp(result.items[1].id, "http://b/") == 0);
        CHECK(strcmp(result.items[1].lang, "deu") == 0);
        CHECK(strcmp(result.items[1].text, "Grüße\r\n\r\nWARC/1.0\r\n") == 0);
        CHECK(result.items[1].raw_size == third - second);
        CHECK(memcmp(result.items[1].raw, file.data + second, third - second) == 0);
        CHECK(strcmp(result.items[2].id, "http://c/") == 0);
        CHECK(strcmp(result.items[2].text, "page") == 0);
        CHECK(result.items[3].passed_over && result.items[5].passed_over);
        CHECK(strcmp(result.items[4].text, "d") == 0);
        CHECK(result.items[6].text_size == 0 && strstr(result.items[6].id, "a.warc:"));
        read_result_free(&result);
    }
}

TEST(input_warc_damaged_files_are_errors) {
    buffer_reset(&file);
    add("conversion", "", "abc", 3);
    size_t whole = file.size;
    for (size_t cut = 1; cut < whole; cut++) {
        file.size = cut;
        struct read_result result = read_file("a.warc", 0);
        CHECK(result.status == COG_ERR_INPUT && result.count == 0);
        CHECK(strstr(result.error.message, "a.warc:1: "));
        read_result_free(&result);
    }
    static const char *const wrong[][2] = {
        {"GET / HTTP/1.0\r\n\r\n", "not a WARC record"},
        {"WARC/1.0\r\n\r\n\r\n\r\n", "no valid Content-Length"},
        {"WARC/1.0\r\nContent-Length: -1\r\n\r\n\r\n\r\n", "no valid Content-Length"},
        {"WARC/1.0\r\nContent-Length: 18446744073709551616\r\n\r\n", "no valid Content-Length"},
        {"WARC/1.0\r\nContent-Length: 18446744073709551615\r\n\r\n", "no valid Content-Length"},
        {"WARC/1.0\r\nContent-Length: 9223372036854775807\r\n\r\n", "truncated"},
        {"WARC/1.0\r\nContent-Length: 1\r\n\r\nabc\r\n\r\n", "does not end where"},
        {"WARC/1.0\r\nContent-Length: 1\r\n\r\na\r\nWARC/1.0\r\n", "does not end where"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct reader_options options = default_options();
        struct read_result result = read_path(&options, write_text("a.wet", wrong[i][0]));
        CHECK(result.status == COG_ERR_INPUT && strstr(result.error.message, wrong[i][1]));
        read_result_free(&result);
    }
}

TEST(input_warc_what_is_no_page_is_passed_over) {
    CHECK(is_passed_over("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n"));
    CHECK(is_passed_over("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"));
    CHECK(is_passed_over("HTTP/1.1 200 OK\r\n\r\n"));
    CHECK(is_passed_over("HTTP/1.1 200 OK\r\nContent-Type: text/htmlx\r\n\r\n"));
    CHECK(is_passed_over("nothing"));
    CHECK(is_passed_over(""));
}

static size_t gzip_bytes(const char *text, char *out, size_t room) {
    z_stream stream = {0};
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)strlen(text);
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)room;
    if (deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&stream, Z_FINISH) != Z_STREAM_END)
        abort();
    deflateEnd(&stream);
    return stream.total_out;
}

TEST(input_warc_encodings_of_payloads) {
#define CHUNKED HTML "Transfer-Encoding: chunked\r\n\r\n"
    CHECK(page_is(CHUNKED, "3\r\none\r\n5;x=y\r\n two!\r\n0\r\n\r\n", 27, "one two!"));
    CHECK(page_is(CHUNKED, "plain", 5, "plain"));
    CHECK(page_is_bad(CHUNKED, "3\r\none\r\n5\r\n tw", 14, "chunks stop early"));
    CHECK(page_is_bad(CHUNKED, "fffffffffffffff\r\none", 20, "chunks stop early"));
    char packed[256];
    size_t size = gzip_bytes("<p>packed</p>", packed, sizeof packed);
    CHECK(page_is(HTML "Content-Encoding: gzip\r\n\r\n", packed, size, "packed"));
    CHECK(page_is(HTML "Content-Encoding: gzip\r\n\r\n", "as it is", 8, "as it is"));
    CHECK(page_is_bad(HTML "Content-Encoding: gzip\r\n\r\n", packed, size - 9, "not whole"));
    CHECK(page_is_bad(HTML "Content-Encoding: br\r\n\r\n", "xyz", 3, "neither gzip nor zstd"));
    buffer_reset(&file);
    char content[512];
    int header = snprintf(content, sizeof content, HTML "Content-Encoding: gzip\r\n\r\n");
    memcpy(content + header, packed, size - 9);
    add("response",
        "WARC-Target-URI: http://a/\r\nWARC-Truncated: length\r\n"
        "Content-Type: application/http\r\n",
        content, (size_t)header + size - 9);
    struct read_result result = read_file("a.warc", 0);
    CHECK(result.count == 1 && result.bad_count == 0);
    read_result_free(&result);
}

TEST(input_warc_character_sets) {
#define PLAIN(charset) "HTTP/1.1 200 OK\r\nContent-Type: text/plain" charset "\r\n\r\n"
    CHECK(page_is(PLAIN(""), "Grüße", 7, "Grüße"));
    CHECK(page_is(PLAIN(""),
                  "Gr\xfc\xdf"
                  "e \x80",
                  7, "Grüße €"));
    CHECK(page_is(PLAIN("; charset=ISO-8859-1"), "\x93x\x94", 3, "“x”"));
    CHECK(page_is(PLAIN("; Charset=\"koi8-r\""), "\xd0\xd2\xc9\xd7\xc5\xd4", 6, "привет"));
    CHECK(page_is(PLAIN("; charset=utf-8"), "a\xff", 2, "a\xef\xbf\xbd"));
    CHECK(page_is(PLAIN("; charset=no-such-thing"), "\xe4", 1, "ä"));
    CHECK(page_is(PLAIN("; charset=../../x"), "\xe4", 1, "ä"));
    CHECK(page_is(PLAIN("; charset=koi8-r"), "\xef\xbb\xbfü", 5, "ü"));
    CHECK(page_is(PLAIN(""),
                  "\xff\xfe"
                  "a\0\xe4\0",
                  6, "aä"));
    static const char page[] = "<meta http-equiv=a content='text/html; charset=Shift_JIS'>\x93\xfa";
    CHECK(page_is(HTML "\r\n", page, sizeof page - 1, "日"));
    static const char other[] = "<META charset=gbk><p>\xc4\xe3";
    CHECK(page_is(HTML "\r\n", other, sizeof other - 1, "你"));
}

static bool html_is(const char *page, const char *expected) {
    struct buffer out = {0};
    struct bytes_view text;
    bool good =
        html_text(view_of_text(page), &out, &text) && view_equals(text, view_of_text(expected));
    buffer_free(&out);
    return good;
}

TEST(input_html_text) {
    CHECK(html_is("<html><head><title>T</title><style>p{}</style></head><body>a<p>b c</p>d",
                  "T\na\nb c\nd"));
    CHECK(html_is("  a \n b<b>c</b>d<i> e</i>  ", "a bcd e"));
    CHECK(html_is("a<script>if (1 < 2) '</p>';</script >b", "a b"));
    CHECK(html_is("a<SCRIPT src='x>y'>b</sCript\n>c<svg/>d", "a cd"));
    CHECK(html_is("a<!-- <p> --> b <!doctype x> c <?php ?> d</ >e", "a b c de"));
    CHECK(html_is(
        "1 < 2 && 3 > 2 &lt;b&gt; &amp;amp; &nbsp;x&#228;&#xE4;&#150;&auml;&unknown;&#xd800;",
        "1 < 2 && 3 > 2 <b> &amp; xää–ä&unknown;&#xd800;"));
    CHECK(html_is("<a title=\"x>y\" b=' > ' c= \" > \" d=e\"f>g", "g"));
    CHECK(html_is("<table><tr><td>a</td><td>b</td></tr></table>c", "a\nb\nc"));
    CHECK(html_is("\xd0\xa0\xc2\xa0x", "\xd0\xa0\xc2\xa0x")); /* bytes of letters are no blanks */
    static const char *const open[] = {
        "a<",  "a<p",        "a<p x=\"b", "a<!--b", "a<script>b", "a</", "a<style>b</styl",
        "a<!", "a<p x='b>c", "a&",        "a&#"};
    static const char *const left[] = {"a<", "a", "a", "a", "a", "a", "a", "a", "a", "a&", "a&#"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        CHECK(html_is(open[i], left[i]));
}
