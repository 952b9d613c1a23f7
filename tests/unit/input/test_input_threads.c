#include <glob.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "test.h"
#include "test_input_support.h"

enum { THREADS = 3, BATCHES = 2 * THREADS + 1 };

struct work_batch {
    struct record_batch records;
    uint64_t *hashes; /* of its documents */
    size_t documents, capacity;
};

struct work {
    struct reader *reader;
    struct record_parser *parsers[THREADS];
    uint64_t hash; /* of the documents in the order of delivery */
    size_t documents;
};

static uint64_t hash_document(const char *id, size_t id_size, const char *text, size_t text_size) {
    return hash_pair(hash_bytes(id, id_size), hash_bytes(text, text_size));
}

static cog_status produce(void *context, void *batch, bool *end, cog_error *error) {
    return reader_fill(((struct work *)context)->reader, &((struct work_batch *)batch)->records,
                       end, error);
}

static cog_status parse(void *context, unsigned worker, void *data, cog_error *error) {
    struct work *work = context;
    struct work_batch *batch = data;
    batch->documents = 0;
    if (!memory_grow((void **)&batch->hashes, &batch->capacity, batch->records.count,
                     sizeof *batch->hashes))
        return COG_ERR_MEMORY;
    for (size_t i = 0; i < batch->records.count; i++) {
        struct document document;
        struct bad_record bad;
        cog_status status =
            reader_parse(work->parsers[worker], &batch->records, i, &document, &bad, error);
        if (status != COG_OK && status != COG_ERR_INPUT)
            return status;
        if (status != COG_OK)
            continue;
        batch->hashes[batch->documents++] = hash_document(document.id.data, document.id.size,
                                                          document.text.data, document.text.size);
    }
    return COG_OK;
}

static cog_status consume(void *context, void *data, cog_error *error) {
    (void)error;
    struct work *work = context;
    const struct work_batch *batch = data;
    for (size_t i = 0; i < batch->documents; i++)
        work->hash = hash_pair(work->hash, batch->hashes[i]);
    work->documents += batch->documents;
    return COG_OK;
}

/* Reads with several threads and compares with one that reads alone. */
static void check_threads(const struct reader_options *options, const char *const *paths,
                          size_t count) {
    struct work work = {0};
    struct work_batch batches[BATCHES] = {0};
    void *slots[BATCHES];
    CHECK_OK(reader_open(options, paths, count, &work.reader, error));
    for (int i = 0; i < BATCHES; i++)
        slots[i] = &batches[i];
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(record_parser_create(work.reader, &work.parsers[i], error));
    struct pipeline pipeline = {.produce = produce,
                                .work = parse,
                                .consume = consume,
                                .context = &work,
                                .batches = slots,
                                .batch_count = BATCHES};
    CHECK_OK(pipeline_run(&pipeline, THREADS, error));
    CHECK_OK(reader_rewind(work.reader, error));
    struct read_result alone = read_all(work.reader);
    uint64_t hash = 0;
    for (size_t i = 0; i < alone.count; i++)
        if (!alone.items[i].bad)
            hash = hash_pair(hash, hash_document(alone.items[i].id, alone.items[i].id_size,
                                                 alone.items[i].text, alone.items[i].text_size));
    CHECK(alone.status == COG_OK && work.documents == alone.count - alone.bad_count);
    CHECK(work.documents > 0 && hash == work.hash);
    read_result_free(&alone);
    for (int i = 0; i < THREADS; i++)
        record_parser_free(work.parsers[i]);
    for (int i = 0; i < BATCHES; i++) {
        record_batch_free(&batches[i].records);
        free(batches[i].hashes);
    }
    reader_close(work.reader);
}

TEST(input_threads_parse_what_one_reads) {
    char *json = malloc(1 << 20), *csv = malloc(1 << 20);
    size_t json_size = 0, csv_size = (size_t)sprintf(csv, "id,text\n");
    for (int i = 0; i < 3000; i++) {
        json_size += (size_t)sprintf(json + json_size, "{\"text\":\"text\\n %d\"}\n", i * i);
        csv_size += (size_t)sprintf(csv + csv_size, "%d,\"a \"\"%d\"\"\"\n", i, i * 3);
    }
    const char *paths[] = {write_file("a.jsonl", json, json_size),
                           write_file("b.csv", csv, csv_size), write_text("c.txt", "one text")};
    free(json);
    free(csv);
    struct reader_options options = default_options();
    options.batch_bytes = 500;
    check_threads(&options, paths, 3);
}

/* Debian's base packages bring licences: every system has these documents. */
TEST(input_real_documents_are_all_read) {
    static const char *const licences = "/usr/share/common-licenses";
    glob_t found;
    CHECK(glob("/usr/share/common-licenses/*", 0, NULL, &found) == 0 && found.gl_pathc > 5);
    size_t files = found.gl_pathc;
    globfree(&found);
    struct reader_options options = default_options();
    options.format = INPUT_TXT;
    struct read_result result = read_path(&options, licences);
    CHECK_MSG(result.status == COG_OK && result.count == files && result.bad_count == 0,
              "%zu documents of %zu files", result.count, files);
    read_result_free(&result);
    options.lines = true;
    check_threads(&options, &licences, 1);
}
