/* Lexicons from hostile bytes. The first byte chooses: a lexicon file (0, or 1 with right checksums
 * put in, which would stop nearly every mutation at the door), whose words are then looked up; a
 * table of another tool, by its format; or parallel text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "crosslingual/lexicon.h"
#include "crosslingual/lexicon_import.h"
#include "input/parallel/pair_reader.h"
#include "repair_checksums.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

/* Every word is found again, and its translations are words with probabilities. */
static void use_lexicon(const struct lexicon *lexicon) {
    for (uint32_t w = 0; w < lexicon->from.count; w++) {
        struct bytes_view word = word_table_string(&lexicon->from, w);
        if (word_table_find(&lexicon->from, hash_bytes(word.data, word.size)) != w)
            abort();
        for (uint64_t i = lexicon->offsets[w]; i < lexicon->offsets[w + 1]; i++) {
            struct bytes_view to = word_table_string(&lexicon->to, lexicon->targets[i]);
            sink += hash_bytes(to.data, to.size);
            if (!(lexicon->to_given_from[i] >= 0 && lexicon->to_given_from[i] <= 1.001f))
                abort();
        }
    }
}

static void read_file(uint8_t *data, size_t size, bool repair) {
    struct lexicon lexicon = {0};
    cog_error error = {0};
    if (repair)
        repair_checksums(data, size);
    cog_status status = lexicon_load_memory("fuzz", data, size, &lexicon, &error);
    if (status == COG_OK)
        use_lexicon(&lexicon);
    else if (!error.message[0])
        abort();
    lexicon_free(&lexicon);
}

static void import_table(const char *path, enum table_format format) {
    const char *paths[] = {path, path, path};
    struct lexicon lexicon = {0};
    struct import_findings findings;
    cog_error error = {0};
    struct import_options options = {
        .format = format, .from_language = "de", .to_language = "en", .prune = {15, 0.95}};
    term_options_init(&options.from_terms);
    term_options_init(&options.to_terms);
    if (lexicon_import(&lexicon, paths, format == TABLE_GIZA ? 3 : 1, &options, &findings,
                       &error) == COG_OK)
        use_lexicon(&lexicon);
    lexicon_free(&lexicon);
}

static void read_pairs(const char *path, enum pair_format format) {
    const char *paths[] = {path, path};
    struct pair_reader_options options = {format, "de", "en"};
    struct pair_reader *reader = NULL;
    struct pair_batch batch = {0};
    cog_error error = {0};
    bool end = false;
    cog_status status =
        pair_reader_open(&options, paths, format == PAIRS_TEXT ? 2 : 1, &reader, &error);
    while (status == COG_OK && !end) {
        status = pair_reader_fill(reader, &batch, &end, &error);
        for (size_t i = 0; status == COG_OK && i < batch.count; i++)
            sink +=
                hash_bytes(batch.text.data + batch.items[i].from_begin, batch.items[i].from_size) +
                hash_bytes(batch.text.data + batch.items[i].to_begin, batch.items[i].to_size);
    }
    pair_batch_free(&batch);
    pair_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size) {
    enum { TABLES = 2, PAIRS = TABLES + TABLE_BITEXTOR + 1, CHOICES = PAIRS + PAIRS_PO + 1 };
    if (input_size == 0)
        return 0;
    unsigned choice = input[0] % CHOICES;
    size_t size = input_size - 1;
    if (choice < TABLES) {
        uint8_t *data = aligned_alloc(64, (size + 64) / 64 * 64);
        memcpy(data, input + 1, size);
        read_file(data, size, choice == 1);
        free(data);
        return 0;
    }
    int file = memfd_create("fuzz", 0);
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file < 0 || write(file, input + 1, size) != (ssize_t)size)
        abort();
    if (choice < PAIRS)
        import_table(path, (enum table_format)(choice - TABLES));
    else
        read_pairs(path, (enum pair_format)(choice - PAIRS));
    close(file);
    return 0;
}
