#include "api/random_documents.h"

#include <string.h>

#include "base/error.h"
#include "test.h"

size_t random_number(struct random *random, size_t bound) {
    return (size_t)random_below(random, bound);
}

bool random_one_in(struct random *random, size_t bound) {
    return random_number(random, bound) == 0;
}

uint64_t random_rounds(uint64_t usual) {
    const char *wanted = getenv("RANDOM_ROUNDS");
    return wanted ? strtoull(wanted, NULL, 10) : usual;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static const char *const words[] = {
    "storm",  "Road",   "roads", "winter", "the",   "of",   "library", "garden", "can't",
    "river",  "Straße", "über",  "日本語", "das",   "und",  "Haus",    "1984",   "3.5",
    "\"said", "a\\b",   "(x)",   "—",      "naïve", "🙂", "don't",   "engine", "forest",
    "silver", "école",  "le",    "bridge", "Öl",    "школа"};

static void append_word(char *text, struct random *random) {
    const char *word = words[random_number(random, sizeof words / sizeof *words)];
    if (strlen(text) + strlen(word) + 2 < RANDOM_TEXT_BYTES) {
        strcat(text, word);
        strcat(text, " ");
    }
}

/* An earlier text, and sometimes a word more. */
static void edit_text(struct random_documents *documents, size_t row, struct random *random) {
    const char *earlier = documents->rows[random_number(random, row)].text;
    strcpy(documents->texts[row], earlier ? earlier : "");
    if (random_one_in(random, 2))
        append_word(documents->texts[row], random);
}

static void make_text(struct random_documents *documents, size_t row, struct random *random) {
    char *text = documents->texts[row];
    const size_t shape = random_number(random, 20);
    size_t count = shape < 5 ? 1 + random_number(random, 3) : 6 + random_number(random, 15);
    text[0] = 0;
    if (shape == 0 || shape == 1)
        count = 0;
    if (row && shape > 12)
        edit_text(documents, row, random);
    else
        for (size_t i = 0; i < count; i++)
            append_word(text, random);
    if (shape == 1)
        strcpy(text, random_one_in(random, 2) ? " \t\r\n " : "... !");
    if (shape == 2)
        memcpy(text + strlen(text), "\xc3\x28", 3);
}

/* ---- Ids and languages ----------------------------------------------------------------------- */

/* In all forms, documents without an id are named by their place, in a file differently from the
 * others: a name that is made must not be one of the ids. */
static void make_id(struct random_documents *documents, size_t row, struct random *random) {
    char *id = documents->ids[row];
    if (documents->producer.id_format)
        snprintf(id, RANDOM_ID_BYTES, "%zu", row + 70);
    else
        snprintf(id, RANDOM_ID_BYTES, "id-%zu%s", row, random_one_in(random, 8) ? "\t\"ü\\" : "");
    if (row && random_one_in(random, 20))
        strcpy(id, documents->ids[row - 1]);
    documents->rows[row].id = random_one_in(random, 4) ? NULL : id;
}

static void make_rows(struct random_documents *documents, struct random *random) {
    static const char *const languages[] = {NULL, NULL, "en", "de", "fr", "ja", "xx"};
    documents->count = 1 + random_number(random, RANDOM_ROWS);
    for (size_t row = 0; row < documents->count; row++) {
        struct arrow_row *own = &documents->rows[row];
        make_text(documents, row, random);
        own->text = random_one_in(random, 15) ? NULL : documents->texts[row];
        make_id(documents, row, random);
        own->lang = languages[random_number(random, sizeof languages / sizeof *languages)];
        documents->usable += own->text && !strstr(own->text, "\xc3\x28");
        documents->items[row] = (cog_document){own->id,   own->id ? strlen(own->id) : 0,
                                               own->text, own->text ? strlen(own->text) : 0,
                                               own->lang, own->lang ? strlen(own->lang) : 0};
    }
}

/* ---- The forms ------------------------------------------------------------------------------- */

static void choose_layout(struct arrow_producer *producer, struct random *random) {
    static const char *const formats[] = {"u", "U", "vu", "z", "Z", "vz"};
    static const char *const whole[] = {"c", "C", "s", "S", "i", "I", "l", "L"};
    *producer = (struct arrow_producer){
        .format = formats[random_number(random, 6)],
        .id_format = random_one_in(random, 2) ? whole[random_number(random, 8)] : NULL,
        .index = random_one_in(random, 3) ? whole[random_number(random, 8)] : NULL,
        .lead = (int64_t)random_number(random, 10),
        .fails_at = -1,
    };
}

/* Some chunks may be empty. */
static void cut_chunks(struct arrow_producer *producer, size_t rows, struct random *random) {
    producer->chunk_count = 1 + random_number(random, ARROW_MAX_CHUNKS);
    for (size_t i = 0; i < producer->chunk_count; i++) {
        const bool is_last = i + 1 == producer->chunk_count;
        producer->sizes[i] = is_last ? rows : random_number(random, rows + 1);
        rows -= producer->sizes[i];
    }
}

static void write_string(FILE *file, const char *name, const char *value) {
    fprintf(file, "\"%s\":%s", name, value ? "\"" : "null");
    for (const char *c = value; c && *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if ((unsigned char)*c < ' ')
            fprintf(file, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, file);
    fputs(value ? "\"" : "", file);
}

static void write_lines(struct random_documents *documents) {
    documents->path = documents->path ? documents->path : test_path("random.jsonl");
    FILE *file = fopen(documents->path, "w");
    if (!file)
        abort();
    for (size_t row = 0; row < documents->count; row++) {
        const struct arrow_row *own = &documents->rows[row];
        fputc('{', file);
        if (own->id && documents->producer.id_format)
            fprintf(file, "\"id\":%s,", own->id);
        else if (own->id) {
            write_string(file, "id", own->id);
            fputc(',', file);
        }
        write_string(file, "text", own->text);
        fputc(',', file);
        write_string(file, "lang", own->lang);
        fputs("}\n", file);
    }
    if (fclose(file))
        abort();
}

cog_status random_documents_open(struct random_documents *documents, struct random *random,
                                 cog_error *error) {
    cog_input_options options;
    *documents = (struct random_documents){.path = documents->path};
    choose_layout(&documents->producer, random);
    make_rows(documents, random);
    documents->producer.rows = documents->rows;
    cut_chunks(&documents->producer, documents->count, random);
    TRY(cog_documents_from_memory(documents->items, documents->count, &documents->forms[0], error));
    struct ArrowArrayStream stream = arrow_stream_of(&documents->producer);
    TRY(cog_documents_from_arrow(&stream, NULL, &documents->forms[1], error));
    write_lines(documents);
    cog_input_options_init(&options);
    return cog_documents_open(&options, &documents->path, 1, &documents->forms[2], error);
}

void random_documents_close(struct random_documents *documents) {
    for (int form = 0; form < RANDOM_FORMS; form++)
        cog_documents_close(documents->forms[form]);
}
