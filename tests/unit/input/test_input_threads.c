#include <unistd.h>

#include "base/hash.h"
#include "base/threads.h"
#include "test.h"
#include "test_input_support.h"

enum { THREADS = 3, BATCHES = 2 * THREADS + 1 };

struct work_batch {
    struct record_batch records;
    uint64_t hash;
    size_t documents;
};

struct work {
    struct reader *reader;
    struct record_parser *parsers[THREADS];
    uint64_t hash;
    size_t documents;
};

static cog_status produce(void *context, void *batch, bool *end, cog_error *error) {
    return reader_fill(((struct work *)context)->reader, &((struct work_batch *)batch)->records,
                       end, error);
}

static cog_status parse(void *context, unsigned worker, void *data, cog_error *error) {
    struct work *work = context;
    struct work_batch *batch = data;
    batch->hash = batch->documents = 0;
    for (size_t i = 0; i < batch->records.count; i++) {
        struct document document;
        struct bad_record bad;
        cog_status status =
            reader_parse(work->parsers[worker], &batch->records, i, &document, &bad, error);
        if (status != COG_OK && status != COG_ERR_INPUT)
            return status;
        if (status != COG_OK)
            continue;
        batch->documents++;
        batch->hash += hash_pair(hash_bytes(document.id.data, document.id.size),
                                 hash_bytes(document.text.data, document.text.size));
    }
    return COG_OK;
}

static cog_status consume(void *context, void *data, cog_error *error) {
    (void)error;
    struct work *work = context;
    const struct work_batch *batch = data;
    work->hash += batch->hash;
    work->documents += batch->documents;
    return COG_OK;
}

/* Reads with several threads and compares with one that reads alone. */
static void check_threads(const char *const *paths, size_t count, size_t batch_bytes) {
    struct reader_options options = default_options();
    struct work work = {0};
    struct work_batch batches[BATCHES] = {0};
    void *slots[BATCHES];
    options.batch_bytes = batch_bytes;
    CHECK_OK(reader_open(&options, paths, count, &work.reader, error));
    for (int i = 0; i < BATCHES; i++)
        slots[i] = &batches[i];
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(record_parser_create(work.reader, &work.parsers[i], error));
    struct pipeline pipeline = {produce, parse, consume, &work, slots, BATCHES};
    CHECK_OK(pipeline_run(&pipeline, THREADS, error));
    CHECK_OK(reader_rewind(work.reader, error));
    struct read_result alone = read_all(work.reader);
    uint64_t hash = 0;
    for (size_t i = 0; i < alone.count; i++)
        if (!alone.items[i].bad)
            hash += hash_pair(hash_bytes(alone.items[i].id, alone.items[i].id_size),
                              hash_bytes(alone.items[i].text, alone.items[i].text_size));
    CHECK(alone.status == COG_OK && work.documents == alone.count - alone.bad_count);
    CHECK(work.documents > 0 && hash == work.hash);
    read_result_free(&alone);
    for (int i = 0; i < THREADS; i++)
        record_parser_free(work.parsers[i]);
    for (int i = 0; i < BATCHES; i++)
        record_batch_free(&batches[i].records);
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
    check_threads(paths, 3, 500);
}

TEST(input_real_documents_are_all_read) {
    const char *folder = test_data_folder();
    static const struct {
        const char *name;
        size_t documents;
    } sets[] = {{"europarl_10sent/de.jsonl.zst", 2000}, {"xling_de_en/dev/en.jsonl.zst", 5525}};
    if (!folder) {
        test_skip("no folder of real documents");
        return;
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, sets[i].name);
        if (access(path, R_OK) != 0) {
            test_skip(sets[i].name);
            return;
        }
        struct reader_options options = default_options();
        struct read_result result = read_path(&options, path);
        CHECK_MSG(result.status == COG_OK && result.count == sets[i].documents &&
                      result.bad_count == 0,
                  "%s: %zu documents", path, result.count);
        read_result_free(&result);
        const char *argument = path;
        check_threads(&argument, 1, 0);
    }
}
