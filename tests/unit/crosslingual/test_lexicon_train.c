#include <math.h>

#include "base/hash.h"
#include "crosslingual/aligner.h"
#include "jobs/lexicon/lexicon_job.h"
#include "lexicon_entries.h"
#include "test.h"

/* A language of generated words, its translation by a fixed dictionary in another order, and words
 * without counterpart on both sides. */
enum { WORDS = 60, SENTENCES = 3000 };

static const char *write_generated(const char *name) {
    const char *path = test_path(name);
    FILE *file = fopen(path, "w");
    struct random random = random_seeded(7);
    for (int s = 0; file && s < SENTENCES; s++) {
        int length = 3 + (int)random_below(&random, 6), words[16] = {0};
        for (int i = 0; i < length; i++) {
            words[i] = (int)random_below(&random, WORDS);
            fprintf(file, "%sfa%dx", i ? " " : "", words[i]);
        }
        fprintf(file, " filler%d\t", (int)random_below(&random, 5));
        for (int i = length - 1; i >= 0; i--)
            fprintf(file, "tb%dy ", words[i ^ (i > 0 && i % 2 && random_below(&random, 2))]);
        fprintf(file, "noise%d\n", (int)random_below(&random, 5));
    }
    if (file)
        fclose(file);
    return path;
}

static cog_status train_file(const char *path, unsigned threads, cog_lexicon **lexicon,
                             cog_error *error) {
    cog_lexicon_options options;
    cog_lexicon_options_init(&options);
    options.from = "qaa";
    options.to = "qab";
    cog_run_options run = {.threads = threads};
    return cog_lexicon_train(&path, 1, &options, &run, lexicon, NULL, error);
}

TEST(lexicon_learns_a_dictionary) {
    cog_lexicon *lexicon = NULL;
    CHECK_OK(train_file(write_generated("generated.tsv"), 1, &lexicon, error));
    for (int w = 0; w < WORDS; w++) {
        char from[16], to[16];
        snprintf(from, sizeof from, "fa%dx", w);
        snprintf(to, sizeof to, "tb%dy", w);
        double forward = find_pair(&lexicon->table, from, to, false);
        double backward = find_pair(&lexicon->table, from, to, true);
        CHECK_MSG(forward > 0.9 && backward > 0.9, "%s: %g %g", from, forward, backward);
    }
    cog_lexicon_free(lexicon);
}

TEST(lexicon_tells_which_word_of_a_small_text) {
    /* The text of the usual introductions to Model 1. */
    const char *path = write_text("small.tsv", "das haus\tthe house\ndas buch\tthe book\n"
                                               "ein buch\ta book\nein haus\ta house\n");
    cog_lexicon_options options;
    cog_lexicon_options_init(&options);
    options.from = "qaa";
    options.to = "qab";
    cog_lexicon *lexicon = NULL;
    CHECK_OK(cog_lexicon_train(&path, 1, &options, NULL, &lexicon, NULL, error));
    CHECK(find_pair(&lexicon->table, "haus", "house", false) > 0.9);
    CHECK(find_pair(&lexicon->table, "buch", "book", false) > 0.9);
    CHECK(find_pair(&lexicon->table, "das", "the", true) > 0.9);
    CHECK(find_pair(&lexicon->table, "haus", "book", false) < 0.1);
    cog_lexicon_free(lexicon);
}

static bool tables_equal(const struct lexicon *a, const struct lexicon *b) {
    size_t entries = lexicon_entry_count(a);
    return a->from.count == b->from.count && a->to.count == b->to.count &&
           entries == lexicon_entry_count(b) && a->from.strings.size == b->from.strings.size &&
           memcmp(a->from.strings.data, b->from.strings.data, a->from.strings.size) == 0 &&
           memcmp(a->to.strings.data, b->to.strings.data, a->to.strings.size) == 0 &&
           memcmp(a->offsets, b->offsets, (a->from.count + 1) * sizeof *a->offsets) == 0 &&
           memcmp(a->targets, b->targets, entries * sizeof *a->targets) == 0 &&
           memcmp(a->to_given_from, b->to_given_from, entries * sizeof(float)) == 0 &&
           memcmp(a->from_given_to, b->from_given_to, entries * sizeof(float)) == 0;
}

TEST(lexicon_is_the_same_for_any_number_of_threads) {
    const char *path = write_generated("generated.tsv");
    cog_lexicon *first = NULL;
    CHECK_OK(train_file(path, 1, &first, error));
    CHECK(lexicon_entry_count(&first->table) > WORDS);
    for (unsigned threads = 2; threads <= 3; threads++) {
        cog_lexicon *other = NULL;
        CHECK_OK(train_file(path, threads, &other, error));
        CHECK(tables_equal(&first->table, &other->table));
        cog_lexicon_free(other);
    }
    cog_lexicon_free(first);
}

TEST(lexicon_comes_back_from_its_file) {
    const char *path = test_path("reload.lex");
    cog_lexicon *lexicon = NULL, *loaded = NULL;
    CHECK_OK(train_file(write_generated("generated.tsv"), 2, &lexicon, error));
    CHECK_OK(cog_lexicon_save(lexicon, path, error));
    CHECK_OK(cog_lexicon_open(path, &loaded, error));
    CHECK(tables_equal(&lexicon->table, &loaded->table));
    CHECK(strcmp(cog_lexicon_from(loaded), "qaa") == 0 &&
          strcmp(cog_lexicon_to(loaded), "qab") == 0);
    CHECK(settings_equal(&lexicon->table.settings, &loaded->table.settings, NULL));
    cog_lexicon_free(lexicon);
    cog_lexicon_free(loaded);
}

TEST(lexicon_refuses_damaged_files) {
    const char *path = test_path("damaged.lex");
    cog_lexicon *lexicon = NULL;
    CHECK_OK(train_file(write_text("tiny.tsv", "a b\tc d\nb a\td c\n"), 1, &lexicon, error));
    CHECK_OK(cog_lexicon_save(lexicon, path, error));
    cog_lexicon_free(lexicon);
    FILE *file = fopen(path, "rb");
    CHECK(file);
    char bytes[8192];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    CHECK(size > 500 && size < sizeof bytes);
    struct lexicon table = {0};
    CHECK_OK(lexicon_load_memory("whole", bytes, size, &table, error));
    lexicon_free(&table);
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0x10;
        CHECK_MSG(lexicon_load_memory("damaged", bytes, size, &table, NULL) != COG_OK, "byte %zu",
                  at);
        bytes[at] ^= 0x10;
    }
    CHECK(lexicon_load_memory("short", bytes, size - 1, &table, NULL) != COG_OK);
}

TEST(lexicon_keeps_entries_by_number_and_mass) {
    struct lexicon lexicon = {0};
    struct lexicon_entry entries[8];
    uint32_t word;
    CHECK_OK(word_table_add_string(&lexicon.from, view_of("f", 1), 1, &word, error));
    static const float probabilities[] = {0.4f, 0.3f, 0.2f, 0.06f, 0.04f};
    for (uint32_t i = 0; i < 5; i++) {
        char name = (char)('a' + i);
        CHECK_OK(word_table_add_string(&lexicon.to, view_of(&name, 1), 1, &word, error));
        entries[i] = (struct lexicon_entry){0, i, probabilities[i], 0};
    }
    struct prune_options prune = {15, 0.85};
    CHECK_OK(lexicon_build(&lexicon, entries, 5, &prune, error));
    CHECK(lexicon_entry_count(&lexicon) == 3);
    CHECK(fabsf(lexicon.to_given_from[0] - 0.4f / 0.9f) < 1e-6f && lexicon.targets[2] == 2);
    lexicon_free(&lexicon);
}

/* ---- Formats of parallel text ---------------------------------------------------------------- */

static cog_status read_all(const char *const *paths, size_t count, enum pair_format format,
                           struct buffer *text, uint64_t *bad, cog_error *error) {
    struct pair_reader_options options = {format, "de", "en"};
    struct pair_reader *reader = NULL;
    struct pair_batch batch = {0};
    cog_status status = pair_reader_open(&options, paths, count, &reader, error);
    bool end = false;
    while (status == COG_OK && !end) {
        status = pair_reader_fill(reader, &batch, &end, error);
        for (size_t i = 0; status == COG_OK && i < batch.count; i++) {
            const struct pair_span *span = &batch.items[i];
            buffer_printf(text, "%.*s=%.*s\n", (int)span->from_size,
                          batch.text.data + span->from_begin, (int)span->to_size,
                          batch.text.data + span->to_begin);
        }
    }
    if (reader)
        *bad = pair_reader_bad_rows(reader);
    pair_reader_close(reader);
    pair_batch_free(&batch);
    buffer_append(text, "", 1);
    return status;
}

TEST(lexicon_reads_every_format_of_pairs) {
    const char *tsv = write_text("p.tsv", "Haus\thouse\r\nohne Tab\n\nBuch\tbook\tmore\n\tempty\n");
    const char *de = write_text("p.de", "eins\n\ndrei\n"),
               *en = write_text("p.en", "one\ntwo\nthree");
    const char *tmx = write_text(
        "p.tmx", "<?xml version=\"1.0\"?><tmx version=\"1.4\"><body>"
                 "<tu><tuv xml:lang=\"EN-us\"><seg>a <bpt>x</bpt>key &amp; lock</seg></tuv>"
                 "<tuv xml:lang=\"fr\"><seg>cle</seg></tuv>"
                 "<tuv xml:lang=\"de\"><seg>Schl\xc3\xbcssel</seg></tuv></tu>"
                 "<tu><tuv xml:lang=\"en\"><seg>only</seg></tuv></tu></body></tmx>");
    const char *po = write_text("p.po", "msgid \"\"\nmsgstr \"\"\n\"Language: de_DE\\n\"\n\n"
                                        "#: x.c\nmsgid \"_Open\"\nmsgstr \"_\xc3\x96"
                                        "ffnen\"\n\n#, fuzzy\nmsgid \"no\"\nmsgstr \"nein\"\n\n"
                                        "msgid \"%d file\"\nmsgid_plural \"%d \"\n\"files\"\n"
                                        "msgstr[0] \"%d Datei\"\nmsgstr[1] \"%d Dateien\"\n\n"
                                        "#~ msgid \"old\"\n#~ msgstr \"alt\"\n"
                                        "msgctxt \"c\"\nmsgid \"say \\\"a\\\"\"\nmsgstr \"sag\"\n");
    const char *paths[] = {tsv, de, en, tmx, po};
    struct buffer text = {0};
    uint64_t bad = 0;
    CHECK_OK(read_all(paths, 5, PAIRS_AUTO, &text, &bad, error));
    CHECK_MSG(strcmp(text.data, "Haus=house\nBuch=book\neins=one\ndrei=three\n"
                                "Schl\xc3\xbcssel=a key & lock\n\xc3\x96"
                                "ffnen=Open\n%d Datei=%d file\n%d Dateien=%d files\n"
                                "sag=say \"a\"\n") == 0,
              "%s", text.data);
    CHECK(bad == 2);
    buffer_free(&text);
}

TEST(pairs_keep_variants_and_plural_entries_apart) {
    const char *tmx =
        write_text("v.tmx", "<tmx><body><tu><tuv xml:lang=\"en-US\"><seg>color</seg></tuv>"
                            "<tuv xml:lang=\"en-GB\"><seg>colour</seg></tuv>"
                            "<tuv xml:lang=\"de\"><seg>Farbe</seg></tuv></tu></body></tmx>");
    const char *po =
        write_text("v.po", "msgid \"a file\"\nmsgid_plural \"files\"\nmsgstr[0] \"eine Datei\"\n"
                           "msgstr[1] \"Dateien\"\nmsgstr[2] \"viele\"\n"
                           "msgid \"open\"\nmsgstr \"auf\"\n"
                           "msgctxt \"c\"\nmsgid \"shut\"\nmsgstr \"zu\"\n");
    const char *paths[] = {tmx, po};
    struct buffer text = {0};
    uint64_t bad = 0;
    CHECK_OK(read_all(paths, 2, PAIRS_AUTO, &text, &bad, error));
    CHECK_MSG(strcmp(text.data, "Farbe=color colour\neine Datei=a file\nDateien=files\nauf=open\n"
                                "zu=shut\n") == 0,
              "%s", text.data);
    CHECK(bad == 0);
    buffer_free(&text);
}

TEST(lexicon_refuses_sides_of_different_length) {
    const char *paths[] = {write_text("q.de", "eins\nzwei\n"), write_text("q.en", "one\n")};
    struct buffer text = {0};
    uint64_t bad;
    cog_error failure = {0};
    CHECK(read_all(paths, 2, PAIRS_TEXT, &text, &bad, &failure) == COG_ERR_INPUT);
    CHECK(strstr(failure.message, "different numbers of lines"));
    CHECK(read_all(paths, 1, PAIRS_TEXT, &text, &bad, &failure) == COG_ERR_USAGE);
    buffer_free(&text);
}

TEST(lexicon_trains_on_linked_sentences_without_their_header) {
    cog_lexicon *lexicon = NULL;
    cog_report *report = NULL;
    const char *path = write_text("linked.tsv", "from\tto\tsimilarity\tfrom_id\tto_id\n"
                                                "fa1x fa2x\ttb1y tb2y\t0.9\ta\tb\n"
                                                "fa1x\ttb1y\t0.8\ta\tb\n");
    cog_lexicon_options options;
    cog_lexicon_options_init(&options);
    options.from = "qaa";
    options.to = "qab";
    CHECK_OK(cog_report_create(&report, error));
    CHECK_OK(cog_lexicon_train(&path, 1, &options, NULL, &lexicon, report, error));
    CHECK(cog_report_number(report, "pairs") == 2);
    CHECK(find_pair(&lexicon->table, "from", "to", false) == -1);
    cog_lexicon_free(lexicon);
    cog_report_free(report);
}
