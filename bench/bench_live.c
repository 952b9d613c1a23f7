/* A live index that receives one document at a time. Measures durable additions per second by one
 * writer and by many (group commit), next to the limit of the disk (a bare loop that writes and
 * syncs the same number of bytes), and the time of "have we seen this?" while documents are added
 * and while all segments are merged. It does so for simhashes and for the Jaccard similarity of
 * sets of 3-grams and, if the port of a Redis is given, for Redis with block keys of simhashes.
 *
 * usage: bench_live FOLDER [DOCUMENTS] [SECONDS] [REDIS_PORT]
 *
 * FOLDER and FOLDER.sets must not exist; they are left there. Documents have 60 words of a
 * vocabulary of 100,000 by Zipf's law; one in ten is a changed copy of an earlier one. Signatures
 * are simhashes of 64 bits with tables of bphs for a radius of 3; hits carry true cosines. Sets are
 * compared exactly, at a threshold of 0.8, and there are at most a million of them: building takes
 * 4 KB of memory for each. Redis keeps the four 16-bit blocks of as many signatures as sets (hashes
 * of the documents' numbers: it analyses no text), with whatever appendfsync it was started with.
 * bench/live_usearch.py does the same work by usearch. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "bench_timing.h"
#include "cognate.h"

enum {
    WORDS = 60,
    VOCABULARY = 100000,
    TEXT_BYTES = 1024,
    MOST_TIMES = 1 << 20,
    MOST_SETS = 1000000
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void check(cog_status status, const cog_error *error) {
    if (status == COG_OK)
        return;
    fprintf(stderr, "bench_live: %s\n", error->message);
    exit(1);
}

/* A word of the vocabulary. Printing it by the C library would take as long as reading it. */
static size_t put_word(unsigned word, char *text) {
    char digits[12];
    size_t count = 0, size = 0;
    do
        digits[count++] = (char)('0' + word % 10);
    while (word /= 10);
    text[size++] = 'w';
    while (count)
        text[size++] = digits[--count];
    text[size++] = ' ';
    return size;
}

static size_t make_text(uint64_t number, char *text) {
    uint64_t copied = number % 10 == 9 ? number / 2 : number;
    struct random random = random_seeded(copied);
    size_t at = 0;
    for (int i = 0; i < WORDS; i++) {
        double share = (double)(random_next(&random) >> 11) * 0x1p-53;
        unsigned word = (unsigned)exp(share * log(VOCABULARY));
        if (copied != number && i == (int)(number % WORDS))
            word++;
        at += put_word(word, text + at);
    }
    return at;
}

static cog_document document_of(uint64_t number, char *id, char *text) {
    size_t size = make_text(number, text);
    int id_size = snprintf(id, 24, "d%llu", (unsigned long long)number);
    return (cog_document){id, (size_t)id_size, text, size, "en", 2};
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static const double PAUSE_SECONDS = 0.001;

static uint64_t next_number;
static double until;

struct adder {
    cog_live *live; /* or */
    int redis;
    bool paces; /* pauses between additions */
    uint64_t added;
};

/* Counts an addition, and waits for the time of the next one. */
static void end_addition(struct adder *adder, double *next) {
    adder->added++;
    *next += PAUSE_SECONDS;
    if (adder->paces && *next > now())
        usleep((unsigned)((*next - now()) * 1e6));
}

static void *add_for_a_while(void *context) {
    struct adder *adder = context;
    pthread_setname_np(pthread_self(), adder->paces ? "adds-asked" : "adds");
    double next = now();
    while (now() < until) {
        char id[24], text[TEXT_BYTES];
        cog_error error = {0};
        cog_document document =
            document_of(__atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED), id, text);
        check(cog_live_add(adder->live, &document, NULL, NULL, &error), &error);
        end_addition(adder, &next);
    }
    return NULL;
}

/* Documents per second; *processor_us: microseconds of processor time per document, of all threads.
 */
static double run(void *(*work)(void *), struct adder *adders, unsigned threads, double seconds,
                  double *processor_us) {
    pthread_t ids[64];
    uint64_t added = 0;
    double start = now(), processor = bench_process_seconds();
    until = start + seconds;
    for (unsigned i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, &adders[i]);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        added += adders[i].added;
    }
    *processor_us = (bench_process_seconds() - processor) * 1e6 / (double)added;
    return (double)added / (now() - start);
}

/* ---- The disk -------------------------------------------------------------------------------- */

/* Writes and syncs the bytes of `documents` documents in a file that has room, as the log does.
 * Returns the seconds of one sync, the mean. */
static double sync_for_a_while(const char *folder, unsigned documents, double seconds) {
    enum { DOCUMENT_BYTES = 800, ROOM_BYTES = 4 << 20 };
    static char bytes[ROOM_BYTES];
    char path[4096];
    size_t size = (size_t)documents * DOCUMENT_BYTES, at = 0, count = 0;
    snprintf(path, sizeof path, "%s.sync", folder);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || pwrite(file, bytes, ROOM_BYTES, 0) != ROOM_BYTES || fsync(file) != 0)
        exit(1);
    double start = now();
    for (; now() < start + seconds; count++) {
        if (pwrite(file, bytes, size, (off_t)at) != (ssize_t)size || fdatasync(file) != 0)
            exit(1);
        at = at + 2 * size < ROOM_BYTES ? at + size : 0;
    }
    double each = (now() - start) / (double)count;
    close(file);
    unlink(path);
    printf("%-46s %.0f us, so %u waiting writers add at most %.0f documents/s\n",
           documents > 1 ? "a bare sync, 16 documents" : "a bare sync, 1 document", each * 1e6,
           documents, documents / each);
    return each;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* processor_seconds: of the asking thread, for all queries. */
static void print_times(const char *what, double *times, size_t count, double processor_seconds) {
    qsort(times, count, sizeof *times, by_size);
    printf("%-46s p50 %8.1f us   p99 %8.1f us   %.1f us of processor time each (%zu)\n", what,
           times[count / 2] * 1e6, times[count * 99 / 100] * 1e6,
           processor_seconds * 1e6 / (double)count, count);
}

/* Any one document that is near enough. */
static cog_search_options question(bool of_sets) {
    cog_search_options options;
    cog_search_options_init(&options);
    options.k = 0;
    options.first = true;
    options.recall_sample = 0;
    if (of_sets) {
        options.threshold = 0.8;
    } else {
        options.method = COG_METHOD_BPHS;
        options.radius_bits = 3;
    }
    return options;
}

static void ask_for_a_while(cog_live *live, bool of_sets, double seconds, const char *what) {
    static double times[MOST_TIMES];
    size_t count = 0;
    double processor = 0;
    cog_search_options options = question(of_sets);
    cog_searcher *searcher = NULL;
    cog_index *held = NULL;
    cog_error error = {0};
    struct random random = random_seeded(1);
    char name[16]; /* for a profiler */
    snprintf(name, sizeof name, "%.15s", what);
    pthread_setname_np(pthread_self(), name);
    for (double end = now() + seconds; now() < end && count < MOST_TIMES;) {
        char id[24], text[TEXT_BYTES];
        const cog_hits *hits;
        cog_index *snapshot;
        cog_document query = document_of(random_below(&random, 2 * next_number), id, text);
        uint64_t begin_ns = bench_cpu_ns();
        double start = now();
        check(cog_live_snapshot(live, &snapshot, &error), &error);
        if (!searcher)
            check(cog_searcher_create(snapshot, &options, &searcher, &error), &error);
        else if (snapshot != held)
            check(cog_searcher_move(searcher, snapshot, &error), &error);
        check(cog_searcher_find_text(searcher, query.text, query.text_size, "en", &hits, &error),
              &error);
        times[count++] = now() - start;
        processor += bench_cpu_seconds_since(begin_ns);
        cog_index_close(held);
        held = snapshot;
    }
    cog_searcher_free(searcher);
    cog_index_close(held);
    print_times(what, times, count, processor);
}

/* ---- Redis ----------------------------------------------------------------------------------- */

static int connect_redis(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, redis = socket(AF_INET, SOCK_STREAM, 0);
    if (redis < 0 || connect(redis, (struct sockaddr *)&address, sizeof address) != 0) {
        fprintf(stderr, "bench_live: no Redis at port %d\n", port);
        exit(1);
    }
    setsockopt(redis, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return redis;
}

/* Sends commands and reads as many lines of answer. */
static void talk(int redis, const char *commands, size_t size, int answers) {
    char answer[4096];
    if (write(redis, commands, size) != (ssize_t)size)
        exit(1);
    while (answers > 0) {
        ssize_t got = read(redis, answer, sizeof answer);
        if (got <= 0 || answer[0] == '-')
            exit(1);
        for (ssize_t i = 0; i < got; i++)
            answers -= answer[i] == '\n';
    }
}

static void *add_blocks(void *context) {
    struct adder *adder = context;
    double next = now();
    while (now() < until) {
        uint64_t number = __atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED);
        uint64_t signature = hash_mix(number);
        char commands[512];
        int at = 0;
        for (int block = 0; block < 4; block++)
            at += snprintf(commands + at, sizeof commands - (size_t)at, "SADD b%d:%04x %llu\r\n",
                           block, (unsigned)(signature >> 16 * block & 0xffff),
                           (unsigned long long)number);
        talk(adder->redis, commands, (size_t)at, 4);
        end_addition(adder, &next);
    }
    return NULL;
}

/* Reads an array of values: a line with their number, and two lines for each. */
static void read_array(int redis) {
    char answer[1 << 16];
    size_t size = 0;
    long lines = 1, number = -1;
    while (lines > 0) {
        ssize_t got = read(redis, answer + size, sizeof answer - size - 1);
        if (got <= 0 || answer[0] != '*')
            exit(1);
        for (ssize_t i = 0; i < got; i++)
            lines -= answer[size + (size_t)i] == '\n';
        size += (size_t)got;
        answer[size] = 0;
        if (number < 0 && strchr(answer, '\n')) {
            number = atol(answer + 1);
            lines += 2 * number;
        }
        if (number >= 0)
            size = 1; /* keeps the mark; values are not looked at */
    }
}

/* The rows that share a block with a signature: what would then be fetched and verified. */
static void ask_redis_for_a_while(int redis, double seconds, const char *what) {
    static double times[MOST_TIMES];
    struct random random = random_seeded(1);
    size_t count = 0;
    uint64_t begin_ns = bench_cpu_ns();
    for (double end = now() + seconds; now() < end && count < MOST_TIMES;) {
        uint64_t signature = hash_mix(random_below(&random, 2 * next_number));
        char command[128];
        double start = now();
        int at = snprintf(command, sizeof command, "SUNION");
        for (int block = 0; block < 4; block++)
            at += snprintf(command + at, sizeof command - (size_t)at, " b%d:%04x", block,
                           (unsigned)(signature >> 16 * block & 0xffff));
        at += snprintf(command + at, sizeof command - (size_t)at, "\r\n");
        if (write(redis, command, (size_t)at) != at)
            exit(1);
        read_array(redis);
        times[count++] = now() - start;
    }
    print_times(what, times, count, bench_cpu_seconds_since(begin_ns));
}

/* Additions by one writer and by 16, then queries next to up to 1,000 additions per second. */
static void measure_redis(int port, double seconds) {
    struct adder adders[16];
    double processor_us;
    for (int i = 0; i < 2; i++) {
        unsigned threads = i ? 16 : 1;
        for (unsigned t = 0; t < threads; t++)
            adders[t] = (struct adder){.redis = connect_redis(port)};
        double rate = run(add_blocks, adders, threads, seconds, &processor_us);
        printf("%s%-34s %.0f documents/s\n", i ? "16 writers, " : "1 writer,   ",
               "Redis, block keys", rate);
        for (unsigned t = 0; t < threads; t++)
            close(adders[t].redis);
    }
    pthread_t feeding;
    int asking = connect_redis(port);
    adders[0] = (struct adder){.redis = connect_redis(port), .paces = true};
    until = now() + seconds;
    pthread_create(&feeding, NULL, add_blocks, &adders[0]);
    ask_redis_for_a_while(asking, seconds, "Redis, block keys, with additions");
    pthread_join(feeding, NULL);
    printf("%-46s %.0f documents/s\n", "additions meanwhile", (double)adders[0].added / seconds);
    close(asking);
    close(adders[0].redis);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static cog_index *build(const char *folder, uint64_t documents, bool of_sets) {
    cog_error error = {0};
    cog_document *items = calloc(documents, sizeof *items);
    char *texts = malloc(documents * TEXT_BYTES), *ids = malloc(documents * 24);
    cog_documents *all = NULL;
    cog_index *index = NULL;
    cog_index_options options;
    for (uint64_t i = 0; i < documents; i++)
        items[i] = document_of(i, ids + i * 24, texts + i * TEXT_BYTES);
    cog_index_options_init_for(&options, of_sets ? COG_MEASURE_JACCARD : COG_MEASURE_COSINE);
    if (!of_sets) {
        cog_sign_options_init(&options.sign, COG_SIGNATURE_SIMHASH);
        options.sign.signature.bits = 64;
        options.method = COG_METHOD_BPHS;
        options.radius_bits = 3;
    }
    check(cog_documents_from_memory(items, documents, &all, &error), &error);
    double start = now();
    check(cog_index_build(all, &options, NULL, &index, NULL, &error), &error);
    check(cog_index_save(index, folder, &error), &error);
    printf("%-46s %.0f documents/s\n", "build and save", (double)documents / (now() - start));
    cog_index_close(index);
    cog_documents_close(all);
    free(items);
    free(texts);
    free(ids);
    start = now();
    check(cog_index_open(folder, &index, &error), &error);
    printf("%-46s %.1f ms\n", "open", (now() - start) * 1e3);
    return index;
}

static void *compact(void *context) {
    const cog_run_options one = {.threads = 1};
    cog_error error = {0};
    double start = now();
    uint64_t begin_ns = bench_cpu_ns();
    pthread_setname_np(pthread_self(), "merges");
    check(cog_live_compact(context, &one, NULL, &error), &error);
    printf("%-46s %.1f s, %.1f s of processor time\n", "merging all segments, one thread",
           now() - start, bench_cpu_seconds_since(begin_ns));
    return NULL;
}

static void measure_additions(cog_live *live, const char *folder, double seconds) {
    struct adder adders[16];
    double rates[2], processor_us;
    for (int i = 0; i < 2; i++) {
        unsigned threads = i ? 16 : 1;
        for (unsigned t = 0; t < threads; t++)
            adders[t] = (struct adder){.live = live};
        sync_for_a_while(folder, threads, seconds / 4);
        rates[i] = run(add_for_a_while, adders, threads, seconds, &processor_us);
        printf("%s%-34s %.0f documents/s, %.0f us of processor time each\n",
               i ? "16 writers, " : "1 writer,   ", "durable additions", rates[i], processor_us);
        sync_for_a_while(folder, threads, seconds / 4);
    }
    printf("%-46s %.1f\n", "16 writers by 1", rates[1] / rates[0]);
}

static void measure_index(const char *folder, uint64_t documents, bool of_sets, double seconds) {
    struct adder adder = {.paces = true};
    cog_error error = {0};
    pthread_t feeding, merging;
    next_number = documents;
    printf("%s, %llu documents\n", of_sets ? "sets of 3-grams" : "simhashes",
           (unsigned long long)documents);
    check(cog_live_create(build(folder, documents, of_sets), &adder.live, &error), &error);
    ask_for_a_while(adder.live, of_sets, seconds, "seen it? alone");
    measure_additions(adder.live, folder, seconds);
    check(cog_live_settle(adder.live, &error), &error);
    ask_for_a_while(adder.live, of_sets, seconds, "seen it? after additions");
    until = now() + seconds;
    pthread_create(&feeding, NULL, add_for_a_while, &adder);
    ask_for_a_while(adder.live, of_sets, seconds, "seen it? with up to 1,000 additions per second");
    pthread_join(feeding, NULL);
    printf("%-46s %.0f documents/s\n", "additions meanwhile", (double)adder.added / seconds);
    ask_for_a_while(adder.live, of_sets, seconds, "seen it? before all segments are merged");
    pthread_create(&merging, NULL, compact, adder.live);
    ask_for_a_while(adder.live, of_sets, seconds, "seen it? while all segments are merged");
    pthread_join(merging, NULL);
    cog_live_close(adder.live);
}

int main(int count, char **words) {
    if (count < 2) {
        fprintf(stderr, "usage: bench_live FOLDER [DOCUMENTS] [SECONDS] [REDIS_PORT]\n");
        return 2;
    }
    uint64_t documents = count > 2 ? strtoull(words[2], NULL, 10) : 200000;
    double seconds = count > 3 ? atof(words[3]) : 5;
    int port = count > 4 ? atoi(words[4]) : 0;
    char sets[4096];
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(sets, sizeof sets, "%s.sets", words[1]);
    measure_index(words[1], documents, false, seconds);
    measure_index(sets, documents < MOST_SETS ? documents : MOST_SETS, true, seconds);
    if (port)
        measure_redis(port, seconds);
    return 0;
}
