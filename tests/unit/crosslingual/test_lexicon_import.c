#include <math.h>
#include <unistd.h>

#include "crosslingual/lexicon_import.h"
#include "lexicon_entries.h"
#include "test.h"

static cog_status import_files(const char *const *paths, size_t count, enum table_format format,
                               const char *from, const char *to, struct lexicon *lexicon,
                               struct import_findings *findings, cog_error *error) {
    struct import_options options = {
        .format = format, .from_language = from, .to_language = to, .prune = {15, 1}};
    term_options_init(&options.from_terms);
    term_options_init(&options.to_terms);
    strcpy(options.from_terms.language, "");
    strcpy(options.to_terms.language, "");
    return lexicon_import(lexicon, paths, count, &options, findings, error);
}

static bool is_near(double value, double expected) {
    return fabs(value - expected) < 1e-4;
}

/* p(house | haus) 0.75, p(home | haus) 0.25, p(home | heim) 1 in every way of writing it. */
static bool has_the_table(const struct lexicon *lexicon) {
    return is_near(find_pair(lexicon, "haus", "house", false), 0.75) &&
           is_near(find_pair(lexicon, "haus", "home", false), 0.25) &&
           is_near(find_pair(lexicon, "heim", "home", false), 1) &&
           is_near(find_pair(lexicon, "haus", "home", true), 0.2) &&
           find_pair(lexicon, "heim", "house", false) == -1;
}

TEST(lexicon_imports_the_tables_of_other_tools) {
    static const struct {
        const char *name, *text;
        enum table_format format;
    } cases[] = {
        {"t.tsv", "Haus\thouse\t0.75\nHaus\thome\t0.25\nHeim\thome\t1\n", TABLE_TSV},
        {"t.auto", "haus house 0.75\nhaus home 0.25\nheim home 1.0\n", TABLE_AUTO},
        {"lex.f2e",
         "house haus 0.7500000\nhome haus 0.2500000\nhome heim 1.0000000\n"
         "NULL haus 0.1\n",
         TABLE_MOSES},
        {"bicleaner", "house haus 0.75\nhome haus 0.25\nhome heim 1\n", TABLE_BICLEANER},
        {"actual.ti", "haus house 0.75\nhaus home 0.25\nheim home 1\nNULL home 0.5\n", TABLE_GIZA},
        {"fast", "haus house -0.287682\nhaus home -1.386294\nheim home -0.0\n<eps> home -1\n",
         TABLE_FAST_ALIGN},
        {"fast.auto", "haus house -0.287682\nhaus home -1.386294\nheim home -0.0\n", TABLE_AUTO},
        {"berkeley",
         "haus\tentropy 0.81\tnTrans 2\tsum 1.0\n  house: 0.75\n  home: 0.25\n"
         "heim\tentropy 0\tnTrans 1\tsum 1.0\n  home: 1.0\n",
         TABLE_AUTO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = write_text(cases[i].name, cases[i].text);
        struct lexicon lexicon = {0};
        struct import_findings findings;
        CHECK_OK(import_files(&path, 1, cases[i].format, "xa", "xb", &lexicon, &findings, error));
        CHECK_MSG(has_the_table(&lexicon), "%s", cases[i].name);
        CHECK_MSG(findings.rows == 3 && findings.bad_rows == 0 && findings.message_count == 0,
                  "%s: %u messages", cases[i].name, findings.message_count);
        lexicon_free(&lexicon);
    }
}

TEST(lexicon_imports_numbered_tables) {
    const char *paths[] = {
        write_text("n.t3", "2 4 0.75\n2 5 0.25\n3 5 1\n0 5 0.3\n"),
        write_text("n.from.vcb", "2 haus 10\n3 heim 4\n"),
        write_text("n.to.vcb", "4\thouse\t9\n5\thome\t5\n"),
    };
    struct lexicon lexicon = {0};
    struct import_findings findings;
    CHECK_OK(import_files(paths, 3, TABLE_GIZA, "xa", "xb", &lexicon, &findings, error));
    CHECK(has_the_table(&lexicon) && findings.bad_rows == 0);
    lexicon_free(&lexicon);
    cog_error failure = {0};
    CHECK(import_files(paths, 2, TABLE_GIZA, "xa", "xb", &lexicon, &findings, &failure) ==
          COG_ERR_USAGE);
    CHECK(strstr(failure.message, "vocabularies"));
}

TEST(lexicon_imports_pairs_without_probabilities) {
    const char *path = write_text("b.dic", "xb\txa\nhouse\thaus\nhome\thaus\nhome\theim\n");
    struct lexicon lexicon = {0};
    struct import_findings findings;
    CHECK_OK(import_files(&path, 1, TABLE_BITEXTOR, "xa", "xb", &lexicon, &findings, error));
    CHECK(is_near(find_pair(&lexicon, "haus", "home", false), 0.5));
    CHECK(is_near(find_pair(&lexicon, "heim", "home", false), 1));
    CHECK(is_near(find_pair(&lexicon, "heim", "home", true), 0.5));
    CHECK(findings.message_count == 1 && strstr(findings.messages[0], "other way round"));
    lexicon_free(&lexicon);
}

TEST(lexicon_import_notices_the_wrong_direction) {
    /* p(from | to) in the place of p(to | from): every target's values sum to 1. */
    const char *path =
        write_text("w.tsv", "haus\thouse\t1\nhaus\thome\t0.5\nheim\thome\t0.5\nhaus\tden\t1\n");
    struct lexicon lexicon = {0};
    struct import_findings findings;
    CHECK_OK(import_files(&path, 1, TABLE_TSV, "xa", "xb", &lexicon, &findings, error));
    CHECK(findings.message_count == 1 && strstr(findings.messages[0], "along column 2"));
    CHECK(is_near(find_pair(&lexicon, "haus", "home", true), 0.5));
    CHECK(is_near(find_pair(&lexicon, "haus", "home", false), 0.2));
    lexicon_free(&lexicon);
}

TEST(lexicon_import_notices_and_repairs_sums) {
    const char *path = write_text("u.tsv", "a\tx\t30\na\ty\t10\nb\tx\t5\nb\ty\t5\nno number\n");
    struct lexicon lexicon = {0};
    struct import_findings findings;
    CHECK_OK(import_files(&path, 1, TABLE_TSV, "xa", "xb", &lexicon, &findings, error));
    CHECK(findings.message_count == 1 && strstr(findings.messages[0], "neither column"));
    CHECK(is_near(find_pair(&lexicon, "a", "x", false), 0.75));
    lexicon_free(&lexicon);
}

TEST(lexicon_import_notices_languages) {
    /* As many words as a guess needs, each with its number so that none is there twice. */
    static const char *const english[] = {"the",   "and",   "which",  "with",
                                          "their", "would", "because"};
    static const char *const german[] = {"der", "und", "welche", "mit", "ihre", "wurde", "weil"};
    const char *path = test_path("l.tsv");
    FILE *file = fopen(path, "w");
    CHECK(file);
    for (size_t i = 0; i < 140; i++)
        fprintf(file, "%s %s%zu\t%s %s%zu\n", english[i % 7], english[i / 7 % 7], i, german[i % 7],
                german[i / 7 % 7], i);
    fputs("government\tregierung\n", file);
    fclose(file);
    struct lexicon lexicon = {0};
    struct import_findings findings;
    CHECK_OK(import_files(&path, 1, TABLE_AUTO, "de", "en", &lexicon, &findings, error));
    CHECK(findings.message_count == 1 && strstr(findings.messages[0], "other way round"));
    CHECK(find_pair(&lexicon, "regierung", "government", false) == 1);
    lexicon_free(&lexicon);
}

TEST(lexicon_import_takes_either_file_of_moses) {
    const char *paths[] = {
        write_text("j.f2e", "house haus 0.75\nhome haus 0.25\nhome heim 1\n"),
        write_text("j.e2f", "haus house 1\nhaus home 0.4\nheim home 0.6\n"),
    };
    struct lexicon lexicon = {0};
    struct import_findings findings;
    /* No language tells the columns of the second file: by its words they are the first's reversed.
     */
    CHECK_OK(import_files(paths, 1, TABLE_MOSES, "xa", "xb", &lexicon, &findings, error));
    CHECK(is_near(find_pair(&lexicon, "heim", "home", true), 0.8));
    lexicon_free(&lexicon);
    CHECK_OK(import_files(paths + 1, 1, TABLE_MOSES, "xb", "xa", &lexicon, &findings, error));
    CHECK(is_near(find_pair(&lexicon, "home", "heim", false), 0.6));
    lexicon_free(&lexicon);
}

TEST(lexicon_import_refuses_what_is_no_table) {
    const char *path = write_text("no.table", "one\n\n\n");
    struct lexicon lexicon = {0};
    struct import_findings findings;
    cog_error failure = {0};
    CHECK(import_files(&path, 1, TABLE_AUTO, "xa", "xb", &lexicon, &findings, &failure) ==
          COG_ERR_INPUT);
    CHECK(strstr(failure.message, "no.table"));
    path = "/nonexistent/table";
    CHECK(import_files(&path, 1, TABLE_AUTO, "xa", "xb", &lexicon, &findings, &failure) != COG_OK);
}

TEST(lexicon_import_takes_a_first_line_without_languages_for_a_pair) {
    const char *path = write_text("no_header.dic", "Haus\tdistinguished\nHaus\thouse\n");
    struct lexicon lexicon = {0};
    struct import_findings findings;
    CHECK_OK(import_files(&path, 1, TABLE_BITEXTOR, "xa", "xb", &lexicon, &findings, error));
    CHECK(findings.rows == 2 && is_near(find_pair(&lexicon, "haus", "house", false), 0.5));
    lexicon_free(&lexicon);
}

TEST(lexicon_imports_a_table_from_a_pipe) {
    int ends[2];
    char path[32];
    static const char table[] = "haus\thouse\t0.75\nhaus\thome\t0.25\nheim\thome\t1\n";
    CHECK(pipe(ends) == 0 && write(ends[1], table, sizeof table - 1) == sizeof table - 1);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const char *paths[] = {path};
    struct lexicon lexicon = {0};
    struct import_findings findings;
    CHECK_OK(import_files(paths, 1, TABLE_AUTO, "de", "en", &lexicon, &findings, error));
    CHECK(has_the_table(&lexicon));
    lexicon_free(&lexicon);
    close(ends[0]);
}

TEST(lexicon_import_takes_a_table_of_an_empty_word) {
    struct word_table table = {0};
    uint32_t word;
    CHECK_OK(word_table_add_string(&table, view_of("", 0), 1, &word, error));
    CHECK(word_table_string(&table, word).data && word_table_string(&table, word).size == 0);
    word_table_free(&table);
}
