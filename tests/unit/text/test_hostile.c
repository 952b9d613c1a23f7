/* Hostile input takes time in proportion to its size: each kind is made twice, the second eight
 * times as large, and the work is counted in instructions if the kernel supports it, otherwise in
 * CPU time. */
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "input/documents/wiki_markup.h"
#include "test.h"
#include "text/analyzer.h"

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

typedef void work_body(struct bytes_view text);

static uint64_t work_of(work_body *body, struct bytes_view text) {
    struct perf_event_attr wanted = {.type = PERF_TYPE_HARDWARE,
                                     .size = sizeof wanted,
                                     .config = PERF_COUNT_HW_INSTRUCTIONS,
                                     .exclude_kernel = 1,
                                     .exclude_hv = 1};
    int counter = (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0);
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < (counter < 0 ? 5 : 1); i++) {
        uint64_t begin = 0, end = 0;
        if (counter < 0)
            begin = cpu_ns();
        else if (read(counter, &begin, sizeof begin) != sizeof begin)
            abort();
        body(text);
        if (counter < 0)
            end = cpu_ns();
        else if (read(counter, &end, sizeof end) != sizeof end)
            abort();
        least = end - begin < least ? end - begin : least;
    }
    if (counter >= 0)
        close(counter);
    return least;
}

/* `unit` again and again behind `prefix`, up to `size` bytes. */
static struct bytes_view repeated(const char *prefix, const char *unit, const char *suffix,
                                  size_t size, struct buffer *text) {
    buffer_reset(text);
    buffer_append(text, prefix, strlen(prefix));
    while (text->size < size)
        buffer_append(text, unit, strlen(unit));
    buffer_append(text, suffix, strlen(suffix));
    return view_of(text->data, text->size);
}

/* Linear work grows eight times, quadratic work 64 times. */
static double growth(work_body *body, const char *prefix, const char *unit, const char *suffix,
                     size_t size) {
    struct buffer text = {0};
    body(repeated(prefix, unit, suffix, size, &text)); /* tables are made once */
    double small = (double)work_of(body, repeated(prefix, unit, suffix, size, &text));
    double large = (double)work_of(body, repeated(prefix, unit, suffix, 8 * size, &text));
    buffer_free(&text);
    return large / small;
}

static void strip(struct bytes_view text) {
    struct wiki_stripper stripper = {0};
    struct bytes_view plain;
    wiki_strip(&stripper, text, view_of("", 0), &plain);
    wiki_stripper_free(&stripper);
}

TEST(hostile_wiki_headings_take_linear_time) {
    double ratio = growth(strip, "==a", "= ", "b", 20000);
    CHECK_MSG(ratio < 24, "%g", ratio);
    ratio = growth(strip, "", "= = =b\n", "", 20000);
    CHECK_MSG(ratio < 24, "%g", ratio);
}

static struct analyzer *analyzer;
static struct term_list terms;

static void analyse(struct bytes_view text) {
    analyzer_run(analyzer, text, view_of("", 0), &terms, NULL);
}

/* Of a text in a language; 0 if no analyzer can be made. */
static double growth_of_text(const char *language, const char *prefix, const char *unit,
                             size_t size) {
    struct term_options options;
    term_options_init(&options);
    options.stem = true;
    strcpy(options.language, language);
    if (analyzer_create(&options, &analyzer, NULL) != COG_OK)
        return 0;
    double ratio = growth(analyse, prefix, unit, "", size);
    term_list_free(&terms);
    analyzer_free(analyzer);
    return ratio;
}

TEST(hostile_words_take_linear_time) {
    double ratio = growth_of_text("en", "", "y", 500000);
    CHECK_MSG(ratio < 24, "en %g", ratio);
    ratio = growth_of_text("nl", "", "\xc3\xa9", 100000);
    CHECK_MSG(ratio < 24, "nl %g", ratio);
}

TEST(hostile_runs_of_combining_marks_take_linear_time) {
    /* Grave accents and dots below have to be sorted; characters between them vanish. */
    double ratio = growth_of_text("en", "a", "\xcc\x80\xcc\xa3", 20000);
    CHECK_MSG(ratio < 24, "marks %g", ratio);
    ratio = growth_of_text("en", "a", "\xcc\x80\xe2\x80\x8d\xcc\xa3\xc2\xad", 20000);
    CHECK_MSG(ratio < 24, "with joiners %g", ratio);
    ratio = growth_of_text("en", "a", "\xef\xbe\x9e\xcc\x80", 20000);
    CHECK_MSG(ratio < 24, "halfwidth %g", ratio);
}
