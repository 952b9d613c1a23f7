/* Tables of language links: rows as MySQL dumps write them, damaged files, and the pages of dumps.
 */
#include "base/hash.h"
#include "base/memory.h"
#include "input/parallel/wiki_langlinks.h"
#include "input/parallel/wiki_pages.h"
#include "test.h"

static const char *write_bytes(const char *name, const char *data, size_t size) {
    const char *path = test_path(name);
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(data, 1, size, file);
        fclose(file);
    }
    return path;
}

/* All rows as "page code title|"; stops at an error. */
static cog_status read_all(const char *path, struct buffer *rows, uint64_t *bad, cog_error *error) {
    struct wiki_langlinks links = {0};
    struct langlink link;
    bool end = false;
    buffer_reset(rows);
    cog_status status = wiki_langlinks_open(&links, path, error);
    while (status == COG_OK && !end) {
        status = wiki_langlinks_next(&links, &link, &end, error);
        if (status == COG_OK && !end &&
            !buffer_printf(rows, "%llu %.*s %.*s|", (unsigned long long)link.page,
                           (int)link.code.size, link.code.data, (int)link.title.size,
                           link.title.data))
            status = COG_ERR_MEMORY;
    }
    *bad = links.bad_rows;
    wiki_langlinks_close(&links);
    return status;
}

static bool rows_are(const struct buffer *rows, const char *expected) {
    return rows->size == strlen(expected) && memcmp(rows->data, expected, rows->size) == 0;
}

static const char table[] =
    "-- MySQL dump 10.19\n"
    "DROP TABLE IF EXISTS `langlinks`;\n"
    "CREATE TABLE `langlinks` (\n  `ll_from` int(8) unsigned NOT NULL DEFAULT '0'\n);\n"
    "INSERT INTO `page` VALUES (9,'en','not this table');\n"
    "INSERT INTO `langlinks` VALUES (12,'af','Anargisme'),(12,'en','O\\'Hara \\\\ \\\"x\\\" "
    "(2),(3)'),(7,'zh-min-nan','B\xc3\xb3');\n"
    "INSERT INTO `langlinks` VALUES (8,'en','it''s'),(9,'en','');\n"
    "UNLOCK TABLES;\n";
static const char table_rows[] =
    "12 af Anargisme|12 en O'Hara \\ \"x\" (2),(3)|7 zh-min-nan B\xc3\xb3|8 en it's|9 en |";

TEST(langlinks_are_read_with_quotes_and_commas_inside) {
    struct buffer rows = {0};
    uint64_t bad;
    CHECK_OK(read_all(write_bytes("langlinks.sql", table, sizeof table - 1), &rows, &bad, error));
    CHECK_MSG(rows_are(&rows, table_rows), "%.*s", (int)rows.size, rows.data);
    CHECK(bad == 0);
    CHECK_OK(read_all(write_bytes("langlinks.sql", "", 0), &rows, &bad, error));
    CHECK(rows.size == 0 && bad == 0);
    buffer_free(&rows);
}

/* A bad row costs itself or the rest of its line, never more, and is counted. */
TEST(langlinks_pass_over_damaged_rows) {
    static const struct {
        const char *text, *rows;
        uint64_t bad;
    } cases[] = {
        {"INSERT INTO `langlinks` VALUES (1,'en','A\xff'),(2,'en','B');\n", "2 en B|", 1},
        {"INSERT INTO `langlinks` VALUES (1,'en','A'),(2,'en','B\nINSERT INTO `langlinks` VALUES "
         "(3,'en','C');\n",
         "1 en A|3 en C|", 1},
        {"INSERT INTO `langlinks` VALUES (99999999999999999999999,'en','A'),(2,'en','B');\n",
         "2 en B|", 1},
        {"INSERT INTO `langlinks` VALUES (-1,'en','A'),(2,'en','B');\nINSERT INTO `langlinks` "
         "VALUES (3,'en','C');\n",
         "3 en C|", 1},
        {"INSERT INTO `langlinks` VALUES (1,2,'A');\n(4,'en','D')\nINSERT INTO `langlinks` VALUES "
         "(3,'en','C')",
         "3 en C|", 1},
        {"INSERT INTO `langlinks` VALUES (1,'en','A\\\nINSERT INTO `langlinks` VALUES "
         "(3,'en','C')",
         "3 en C|", 1}};
    struct buffer rows = {0};
    uint64_t bad;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_OK(read_all(write_bytes("langlinks.sql", cases[i].text, strlen(cases[i].text)), &rows,
                          &bad, error));
        CHECK_MSG(rows_are(&rows, cases[i].rows), "case %zu: %.*s", i, (int)rows.size, rows.data);
        CHECK_MSG(bad == cases[i].bad, "case %zu: %llu bad rows", i, (unsigned long long)bad);
    }
    buffer_free(&rows);
}

/* Every length: an error that names the file if it ends inside a row, else a part of the rows. */
TEST(langlinks_that_are_cut_off_are_refused_inside_a_row) {
    struct buffer rows = {0};
    uint64_t bad;
    size_t refused = 0;
    for (size_t size = 0; size < sizeof table; size++) {
        cog_error failure = {0};
        cog_status status =
            read_all(write_bytes("langlinks.sql", table, size), &rows, &bad, &failure);
        CHECK(status == COG_OK ||
              (status == COG_ERR_INPUT && strstr(failure.message, "langlinks.sql:")));
        CHECK(rows.size < sizeof table_rows &&
              memcmp(rows.data ? rows.data : "", table_rows, rows.size) == 0);
        refused += status != COG_OK;
    }
    CHECK_MSG(refused > 100, "%zu lengths were refused", refused);
    buffer_free(&rows);
}

TEST(langlinks_survive_changed_bytes_and_long_fields) {
    struct random random = random_seeded(17);
    struct buffer rows = {0};
    uint64_t bad;
    static char damaged[sizeof table];
    for (int round = 0; round < 500; round++) {
        cog_error failure = {0};
        memcpy(damaged, table, sizeof table);
        for (int change = 0; change < 5; change++)
            damaged[random_below(&random, sizeof table - 1)] = (char)random_below(&random, 256);
        cog_status status = read_all(write_bytes("langlinks.sql", damaged, sizeof table - 1), &rows,
                                     &bad, &failure);
        CHECK(status == COG_OK || (status == COG_ERR_INPUT && failure.message[0]));
    }
    /* A title over a block's end, and one that is too long. */
    struct buffer text = {0};
    CHECK(buffer_append_text(&text, "INSERT INTO `langlinks` VALUES "));
    for (int row = 0; row < 9000; row++)
        CHECK(buffer_printf(&text, "(%d,'en','Title \\'%d\\''),", row, row));
    CHECK(buffer_append_text(&text, "(9000,'en','"));
    for (int i = 0; i < 5000; i++)
        CHECK(buffer_append_text(&text, "x"));
    CHECK(buffer_append_text(&text, "'),(9001,'en','last');\n"));
    CHECK_OK(read_all(write_bytes("langlinks.sql", text.data, text.size), &rows, &bad, error));
    CHECK(bad == 1 && rows.size > 9 &&
          memcmp(rows.data + rows.size - 13, "9001 en last|", 13) == 0);
    size_t count = 0;
    for (size_t i = 0; i < rows.size; i++)
        count += rows.data[i] == '|';
    CHECK_MSG(count == 9001, "%zu rows", count);
    buffer_free(&text);
    buffer_free(&rows);
}

TEST(wiki_pages_have_numbers_and_follow_redirects) {
    static const char dump[] =
        "<mediawiki xml:lang=\"de\"><siteinfo><dbname>dewiki</dbname></siteinfo>\n"
        "<page><title>Erde &amp; Mond</title><ns>0</ns><id>7</id><revision><id>99</id>"
        "<contributor><id>5</id></contributor><text>x <title>y</text></revision></page>\n"
        "<page><title>Welt</title><ns>0</ns><id>8</id><redirect title=\"Globus\" /></page>\n"
        "<page><title>Globus</title><ns>0</ns><id>9</id><redirect title=\"erde_&amp; Mond#Teil\"/>"
        "</page>\n"
        "<page><title>Kreis</title><ns>0</ns><id>11</id><redirect title=\"Kreis\"/></page>\n"
        "<page><title>Diskussion:Welt</title><ns>1</ns><id>10</id></page></mediawiki>\n";
    struct wiki_pages pages = {0};
    char whole[sizeof dump];
    memcpy(whole, dump, sizeof dump);
    char *inner = strstr(whole, "<title>y"); /* text of articles has its markup escaped */
    memcpy(inner, "[title]y", 8);
    CHECK_OK(wiki_pages_read(&pages, write_bytes("pages.xml", whole, sizeof dump - 1), error));
    CHECK(strcmp(pages.language, "de") == 0);
    CHECK_MSG(pages.page_count == 4, "%zu pages", pages.page_count);
    uint64_t title, earth = hash_bytes("Erde & Mond", 11);
    CHECK(wiki_pages_find(&pages, 7, &title) && title == earth);
    CHECK(wiki_pages_find(&pages, 8, &title) && title == hash_bytes("Welt", 4));
    CHECK(wiki_pages_resolve(&pages, title) == earth && wiki_pages_resolve(&pages, earth) == earth);
    CHECK(wiki_pages_resolve(&pages, hash_bytes("Kreis", 5)) == hash_bytes("Kreis", 5));
    CHECK(!wiki_pages_find(&pages, 10, &title) && !wiki_pages_find(&pages, 99, &title));
    wiki_pages_free(&pages);
    for (size_t size = 1; size + 2 < sizeof dump; size += 7) { /* a dump that ends too early */
        cog_error failure = {0};
        CHECK(wiki_pages_read(&pages, write_bytes("pages.xml", whole, size), &failure) ==
                  COG_ERR_INPUT &&
              strstr(failure.message, "pages.xml:"));
        wiki_pages_free(&pages);
    }
    cog_error failure = {0};
    const char *plain = write_bytes("pages.xml.gz", whole, sizeof dump - 1);
    CHECK(wiki_pages_read(&pages, plain, &failure) == COG_ERR_INPUT &&
          strstr(failure.message, "named as gzip"));
    wiki_pages_free(&pages);
}
