#include "base/hash.h"
#include "input/documents/html_entity.h"
#include "input/documents/text_bytes.h"
#include "input/documents/wiki_markup.h"
#include "input/documents/wiki_page.h"
#include "input/parallel/wiki_languages.h"
#include "test.h"
#include "test_input_support.h"

#define LONG_TEXT                                                                                  \
    "Physics is the study of matter, its constituents, its motion and behaviour through space "    \
    "and "                                                                                         \
    "time, and the related entities of energy and force, one of the most fundamental scientific "  \
    "disciplines of all, whose goal is to understand how the universe behaves."

#define PAGE(title, ns, extra, text)                                                               \
    "  <page>\n    <title>" title "</title>\n    <ns>" ns "</ns>\n    <id>1</id>\n" extra          \
    "    <revision>\n      <text xml:space=\"preserve\">" text                                     \
    "</text>\n    </revision>\n  </page>\n"

#define DUMP(pages)                                                                                \
    "<mediawiki xmlns=\"http://www.mediawiki.org/xml/export-0.10/\">\n  <siteinfo>\n  "            \
    "</siteinfo>\n" pages "</mediawiki>\n"

static const char dump[] = DUMP(
    PAGE("A &amp; B", "0", "", "'''A''' &amp;ndash; [[B|bees]]. " LONG_TEXT)
        PAGE("Talk:A", "1", "", LONG_TEXT) PAGE("R", "0", "    <redirect title=\"A\" />\n",
                                                "#REDIRECT [[A]]")
            PAGE("Old R", "0", "", "#redirect [[A]]")
                PAGE("Short", "0", "", "Too short. {{Infobox|" LONG_TEXT "}}")
                    PAGE("Stub", "0", "", LONG_TEXT "\n{{physics-stub}}")
                        PAGE("Broken", "0", "", LONG_TEXT " &undefined;")
                            PAGE("Z\xc3\xbcrich", "0", "",
                                 LONG_TEXT " &lt;ref name=&quot;x&quot;&gt;gone&lt;/ref&gt;end"));

static void check_strip(const char *markup, const char *expected) {
    struct wiki_stripper stripper = {0};
    struct bytes_view text;
    CHECK(wiki_strip(&stripper, view_of_text(markup), view_of("", 0), &text));
    CHECK_MSG(text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0,
              "%s\n    gives: %.*s", markup, (int)text.size, text.data);
    wiki_stripper_free(&stripper);
}

TEST(input_wiki_markup) {
    check_strip("plain", "plain");
    check_strip("", "");
    check_strip("'''bold''' and ''italic'' it's", "bold and italic it's");
    check_strip("[[Target]] [[Target|label]]s [[:Category:X]]", "Target labels Category:X");
    check_strip("a[[File:x.jpg|thumb|a [[link|caption]] here]]b", "ab");
    check_strip("a [[Kategorie:Physik]]b[[category:x]]", "a b");
    check_strip("a [[de:Physik]][[zh-min-nan:B]] b [[:de:Physik]] [[simple:X]]", "a  b de:Physik");
    check_strip("[[CSI: Miami]] [[wikt:word]] [[d-:x]]", "CSI: Miami wikt:word d-:x");
    check_strip("a{{tpl|x={{inner|}}|y=|}}b{{{par|{{d}}}}}c", "abc");
    check_strip("a {{open [[b|c]]", "a {{open c");
    check_strip("a }} b ]] c", "a }} b ]] c");
    check_strip("before\n{| class=x\n| a || b\n|-\n{|\n| nested\n|}\n|}\nafter", "before\n\nafter");
    check_strip("== Heading ==\ntext\n=== Sub===\n* item\n## two\n: three\n----\n",
                "Heading\ntext\nSub\nitem\ntwo\nthree");
    check_strip("a<!-- no --> b<!-- open", "a b");
    check_strip("a<ref>x</ref>b<ref name=\"y\"/>c<REF >z</REF>d<ref>open", "abcdopen");
    check_strip("x<math>\\frac{{a}}{b}</math>y<br/>z <b>bold</b> 1 < 2", "xy\nz bold 1 < 2");
    check_strip("[http://x.org label] [https://y.org] [sic]", "label  [sic]");
    check_strip("a &amp; b&nbsp;c &#228; &#x1F600; &#xD800; &bogus; &",
                "a & b\xc2\xa0"
                "c \xc3\xa4 \xf0\x9f\x98\x80 &#xD800; &bogus; &");
    check_strip("__TOC__a __x__ b", "a __x__ b");
    check_strip("a = b\n= Title =\nx", "a = b\nTitle\nx");
    check_strip("a\n\n\n\n\nb", "a\n\nb");
}

TEST(input_html_entities_are_whole_names) {
    static const char names[] = "&amp;&am;&ampx;&;";
    unsigned code;
    CHECK(html_entity_decode(view_of(names, 5), &code) == 5 && code == '&');
    CHECK(html_entity_decode(view_of(names + 5, 4), &code) == 0);
    CHECK(html_entity_decode(view_of(names + 9, 6), &code) == 0);
    CHECK(html_entity_decode(view_of(names + 15, 2), &code) == 0);
    CHECK(html_entity_decode(view_of("&amp\0/d;", 8), &code) == 0);
}

TEST(input_wiki_parentheses_that_templates_left_empty) {
    check_strip("Albedo ({{IPA|x}}) or reflection", "Albedo or reflection");
    check_strip("Achilles ({{IPA|x}}; {{lang|grc|y}}, ''Akhilleus'', {{z}}) was",
                "Achilles (Akhilleus, ) was");
    check_strip("Lincoln ({{IPA|x}}; February 12)", "Lincoln (February 12)");
    check_strip("([[a|b]]) ({{x}}) ( c ) f() (,;) (", "(b) ( c ) f() (");
    check_strip("[[x|a ()]]) [[y| (]])", "a)");
    check_strip(")() (", ")() (");
}

TEST(input_wiki_markup_keeps_utf8_and_never_grows) {
    static const char *const pieces[] = {
        "{{",   "}}", "{{{",   "}}}",     "[[",       "]]", "|",        "{|",
        "|}",   "\n", "<ref>", "</ref>",  "<ref ",    ">",  "<!--",     "-->",
        "''",   "=",  "&amp;", "&#8364;", "[http://", " ",  "\xc3\xa4", "File:",
        "<br>", "__", "TOC",   "*",       "(",        ")",  ";",        "\xf0\x9f\x98\x80",
        "x",    "&"};
    struct random random = random_seeded(11);
    struct wiki_stripper stripper = {0};
    for (int i = 0; i < 20000; i++) {
        char markup[1000];
        size_t size = 0;
        for (uint64_t n = random_below(&random, 80); n; n--) {
            const char *piece = pieces[random_below(&random, sizeof pieces / sizeof *pieces)];
            memcpy(markup + size, piece, strlen(piece));
            size += strlen(piece);
        }
        struct bytes_view text;
        CHECK(wiki_strip(&stripper, view_of(markup, size), view_of("", 0), &text));
        CHECK_MSG(text.size <= size && utf8_is_valid(text.data, text.size), "%.*s", (int)size,
                  markup);
    }
    wiki_stripper_free(&stripper);
}

TEST(input_wiki_articles_only) {
    struct reader_options options = default_options();
    const char *path = write_text("dump.xml", dump);
    struct reader *reader = NULL;
    CHECK_OK(reader_open(&options, &path, 1, &reader, error));
    for (int pass = 0; pass < 2; pass++) {
        struct read_result result = read_all(reader);
        CHECK_MSG(result.status == COG_OK && result.count == 3, "%zu: %s", result.count,
                  result.error.message);
        CHECK(strcmp(result.items[0].id, "A & B") == 0);
        CHECK(strcmp(result.items[0].text, "A \xe2\x80\x93 bees. " LONG_TEXT) == 0);
        CHECK(strncmp(result.items[0].raw, "<page>\n    <title>A &amp; B", 26) == 0);
        CHECK(strcmp(result.items[0].raw + result.items[0].raw_size - 7, "</page>") == 0);
        CHECK(result.items[0].line == 4);
        CHECK(result.items[1].bad && strstr(result.items[1].message, "undefined entity"));
        CHECK(strcmp(result.items[2].id, "Z\xc3\xbcrich") == 0);
        CHECK(strcmp(result.items[2].text, LONG_TEXT " end") == 0);
        struct left_out_pages left_out = reader_left_out_pages(reader);
        CHECK(left_out.redirects == 2 && left_out.stubs == 2 && left_out.other_namespaces == 1);
        struct bytes_view header = reader_file_frame(reader, 0).header;
        CHECK(header.size > 10 && memcmp(header.data, "<mediawiki", 10) == 0);
        CHECK(memmem(header.data, header.size, "</siteinfo>\n", 12));
        CHECK(!memmem(header.data, header.size, "<page", 5));
        read_result_free(&result);
        CHECK_OK(reader_rewind(reader, error));
    }
    reader_close(reader);
}

TEST(input_wiki_line_numbers_are_those_of_the_file) {
    struct reader_options options = default_options();
    struct read_result result = read_path(&options, write_text("dump.xml", dump));
    CHECK_MSG(result.status == COG_OK && result.count == 3, "%s", result.error.message);
    for (size_t i = 0; i < result.count; i++) {
        const char *page = strstr(dump, result.items[i].raw);
        uint64_t line = 1;
        CHECK(page && result.items[i].raw_size > 0);
        for (const char *c = dump; c < page; c++)
            line += *c == '\n';
        CHECK_MSG(result.items[i].line == line, "page %zu is in line %llu", i,
                  (unsigned long long)line);
    }
    read_result_free(&result);
}

TEST(input_wiki_truncated_dump_is_an_error) {
    struct reader_options options = default_options();
    size_t size = strlen(dump);
    for (size_t cut = 0; cut + 13 < size; cut += 7) {
        struct read_result result = read_path(&options, write_file("dump.xml", dump, cut));
        CHECK_MSG(result.status == COG_ERR_INPUT, "cut to %zu bytes", cut);
        CHECK(strstr(result.error.message, "dump.xml:"));
        read_result_free(&result);
        if (cut > 900)
            cut += 97;
    }
    struct read_result result = read_path(&options, write_text("feed.xml", "<rss></rss>"));
    CHECK(result.status == COG_ERR_INPUT && strstr(result.error.message, "not a MediaWiki dump"));
    read_result_free(&result);
}

TEST(input_wiki_batch_size_does_not_matter) {
    struct reader_options options = default_options();
    const char *path = write_text("dump.xml-p1p2", dump);
    struct read_result whole = read_path(&options, path);
    CHECK(whole.status == COG_OK && whole.count == 3);
    for (size_t bytes = 1; bytes < 2000; bytes += bytes < 64 ? 1 : 61) {
        options.batch_bytes = bytes;
        struct read_result split = read_path(&options, path);
        CHECK_MSG(read_results_equal(&whole, &split), "batches of %zu bytes", bytes);
        read_result_free(&split);
    }
    read_result_free(&whole);
}

TEST(input_wiki_language_links) {
    static const char page[] =
        "<title>A</title><text>[[b]] [[de:Zur&amp;uuml;ck_zu &quot;A&quot;]] [[:en:No]] "
        "[[fr:caf\xc3\xa9#Histoire]] [[pt:  Dois__sinais |x]] [[CSI: Miami]] [[es:]] [[it:open";
    static const struct {
        const char *code, *title;
    } expected[] = {{"de", "Zur&uuml;ck zu \"A\""}, {"fr", "Caf\xc3\xa9"}, {"pt", "Dois sinais"}};
    struct wiki_language_links links = {.rest = view_of(page, sizeof page - 1)};
    struct bytes_view code, title;
    size_t count = 0;
    for (; wiki_language_link_next(&links, &code, &title); count++) {
        CHECK(count < 3);
        CHECK(code.size == 2 && memcmp(code.data, expected[count].code, 2) == 0);
        CHECK_MSG(title.size == strlen(expected[count].title) &&
                      memcmp(title.data, expected[count].title, title.size) == 0,
                  "%.*s", (int)title.size, title.data);
    }
    CHECK(count == 3);
    buffer_free(&links.title);
}

/* "Файл" and "Hình" (File), "Thể loại" (Category). */
static const char named_dump[] =
    "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n<mediawiki>\n  <siteinfo>\n    <namespaces>\n"
    "      <namespace key=\"0\" />\n      <namespace key=\"6\">H\xc3\xacnh</namespace>\n"
    "      <namespace key=\"7\">Th\xe1\xba\xa3o lu\xe1\xba\xadn</namespace>\n"
    "      <namespace key=\"14\">Th\xe1\xbb\x83 lo\xe1\xba\xa1i</namespace>\n"
    "    </namespaces>\n  </siteinfo>\n" PAGE("A \xf0\x9f\x98\x80", "0", "",
                                              "[[h\xc3\x8cnh:a.jpg|gone]][[Th\xe1\xbb\x83_lo"
                                              "\xe1\xba\xa1i:gone]]" LONG_TEXT
                                              "[[B:stays]]") "</mediawiki>\n";

TEST(input_wiki_namespaces_are_those_of_the_dump) {
    struct reader_options options = default_options();
    struct read_result result = read_path(&options, write_text("named.xml", named_dump));
    CHECK(result.status == COG_OK && result.count == 1);
    CHECK_MSG(strcmp(result.items[0].text, LONG_TEXT "B:stays") == 0, "%s", result.items[0].text);
    read_result_free(&result);
}

/* UTF-8 of code points below 0x10000 and one face, as UTF-16 with a byte order mark. */
static size_t to_utf16(const char *text, bool big, bool mark, unsigned char *out) {
    size_t size = 0;
    const unsigned char *at = (const unsigned char *)text;
    if (mark) {
        out[size++] = big ? 0xfe : 0xff;
        out[size++] = big ? 0xff : 0xfe;
    }
    while (*at) {
        unsigned units[2], count = 1;
        if (*at < 0x80) {
            units[0] = *at++;
        } else if (*at < 0xe0) {
            units[0] = (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu);
            at += 2;
        } else if (*at < 0xf0) {
            units[0] = (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
            at += 3;
        } else {
            units[0] = 0xd83d;
            units[1] = 0xde00;
            count = 2;
            at += 4;
        }
        for (unsigned i = 0; i < count; i++, size += 2) {
            out[size + !big] = (unsigned char)(units[i] >> 8);
            out[size + big] = (unsigned char)units[i];
        }
    }
    return size;
}

/* The last name has its tag and nothing behind it, where an opening ends that is read alone. */
TEST(input_wiki_namespaces_without_keys) {
    static const char opening[] = "<mediawiki><namespace key=\"6\">Datei</namespace>"
                                  "<namespace key=\"1\">D</namespace><namespace key=\"><";
    struct buffer namespaces = {0};
    char *alone = malloc(sizeof opening - 1); /* nothing may be read behind its end */
    CHECK(alone);
    memcpy(alone, opening, sizeof opening - 1);
    CHECK(wiki_namespaces_read(view_of(alone, sizeof opening - 1), &namespaces));
    CHECK(namespaces.size == 7 && memcmp(namespaces.data, "\ndatei\n", 7) == 0);
    buffer_free(&namespaces);
    free(alone);
}

/* A file whose opening has no end would be kept in memory as a whole. */
TEST(input_wiki_and_array_openings_have_a_limit) {
    static const char *const forms[][2] = {{"a.xml", "<mediawiki>"}, {"a.json", "["}};
    struct reader_options options = default_options();
    for (size_t form = 0; form < 2; form++) {
        const char *path = write_text(forms[form][0], forms[form][1]);
        FILE *file = fopen(path, "w");
        CHECK(file);
        fputs(forms[form][1], file);
        for (int line = 0; line < 1 << 14; line++)
            fprintf(file, "%1200s\n", "");
        fputs(form ? "{\"text\": \"a\"}]" : "<page></page></mediawiki>", file);
        fclose(file);
        struct read_result result = read_path(&options, path);
        CHECK_MSG(result.status == COG_ERR_INPUT && strstr(result.error.message, "16 MiB"), "%s",
                  result.error.message);
        read_result_free(&result);
    }
}

TEST(input_wiki_reads_utf16_dumps) {
    struct reader_options options = default_options();
    struct read_result plain = read_path(&options, write_text("named.xml", named_dump));
    unsigned char wide[2 * sizeof named_dump + 2];
    for (int kind = 0; kind < 4; kind++)
        for (size_t bytes = 1; bytes < 200; bytes += 3) {
            size_t size = to_utf16(named_dump, kind & 1, kind & 2, wide);
            const char *path = write_file("named.xml", wide, size);
            struct reader *reader = NULL;
            options.batch_bytes = bytes;
            CHECK_OK(reader_open(&options, &path, 1, &reader, error));
            struct read_result result = read_all(reader);
            CHECK_MSG(read_results_equal(&plain, &result), "%d %zu %s", kind, bytes,
                      result.error.message);
            struct bytes_view header = reader_file_frame(reader, 0).header;
            CHECK(header.size && !memmem(header.data, header.size, "UTF-16", 6));
            read_result_free(&result);
            reader_close(reader);
        }
    read_result_free(&plain);
}
