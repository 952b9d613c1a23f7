#include "overlap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"

/* Longer lists and passages are cut; the texts below them show everything. */
enum { LISTED_SPANS = 20, LISTED_BYTES = 160 };

struct marking {
    bool is_terminal; /* control characters are escaped */
    const char *before, *after;
};

static struct marking choose_marking(void) {
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    struct marking marking = {isatty(STDOUT_FILENO), "[[", "]]"};
    if (marking.is_terminal && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0) {
        marking.before = "\033[1;32m";
        marking.after = "\033[0m";
    }
    return marking;
}

static void print_piece(const struct marking *marking, const char *text, size_t size) {
    if (marking->is_terminal)
        print_escaped(text, size, "\n\t", stdout);
    else
        fwrite(text, 1, size, stdout);
}

static void print_name(const struct marking *marking, const cog_overlap *overlap, int side) {
    size_t size;
    const char *id = cog_overlap_id(overlap, side, &size);
    print_piece(marking, id, size);
}

static const char *unit_of(const cog_overlap_summary *summary, size_t count) {
    return summary->by_words ? count == 1 ? "word" : "words" : count == 1 ? "n-gram" : "n-grams";
}

/* A short text has words only, a long one n-grams only. */
static bool are_incomparable(const cog_overlap_summary *summary) {
    return summary->by_words && (summary->terms[0] == 0) != (summary->terms[1] == 0);
}

static void print_similarities(const struct marking *marking, const cog_overlap *overlap,
                               cog_measure measure) {
    cog_overlap_summary summary = cog_overlap_summarize(overlap);
    bool containment_first = measure == COG_MEASURE_CONTAINMENT;
    for (int i = 0; i < 2; i++)
        if ((i == 0) == containment_first)
            printf("containment %.6f\n", summary.containment);
        else
            printf("jaccard %.6f\n", summary.jaccard);
    for (int side = 0; side < 2; side++) {
        printf("%c (", side ? 'b' : 'a');
        print_name(marking, overlap, side);
        printf("): %zu %s, %zu of them in %c (%.6f)\n", summary.terms[side],
               unit_of(&summary, summary.terms[side]), summary.shared, side ? 'a' : 'b',
               summary.share[side]);
    }
    if (are_incomparable(&summary))
        puts("a short text is compared by its words, with texts of up to 20 words");
}

/* On one line: white space runs as one space. */
static void print_line(const struct marking *marking, const char *text, size_t size) {
    bool is_cut = size > LISTED_BYTES, after_white = false;
    size_t end = is_cut ? LISTED_BYTES : size;
    while (is_cut && ((unsigned char)text[end] & 0xc0) == 0x80) /* not inside a character */
        end--;
    for (size_t i = 0; i < end; i++) {
        bool is_white = strchr(" \t\r\n\v\f", text[i]) && text[i];
        if (!is_white)
            print_piece(marking, text + i, 1);
        else if (!after_white)
            putchar(' ');
        after_white = is_white;
    }
    puts(is_cut ? " ..." : "");
}

static void print_spans(const struct marking *marking, const cog_overlap *overlap) {
    size_t count = cog_overlap_span_count(overlap), size;
    const char *text = cog_overlap_text(overlap, 0, &size);
    if (count == 0)
        return;
    cog_overlap_summary summary = cog_overlap_summarize(overlap);
    printf("\n%s\tbytes of a\tbytes of b\tshared passage\n", unit_of(&summary, 0));
    for (size_t i = 0; i < count && i < LISTED_SPANS; i++) {
        cog_shared_span span = cog_overlap_span(overlap, i);
        printf("%zu\t%zu-%zu\t%zu-%zu\t", span.terms, span.begin[0], span.end[0], span.begin[1],
               span.end[1]);
        print_line(marking, text + span.begin[0], span.end[0] - span.begin[0]);
    }
    if (count > LISTED_SPANS)
        printf("and %zu shorter ones; --format tsv lists all\n", count - LISTED_SPANS);
}

static void print_text(const struct marking *marking, const cog_overlap *overlap, int side) {
    size_t size, done = 0, marks = cog_overlap_mark_count(overlap, side);
    const char *text = cog_overlap_text(overlap, side, &size);
    printf("\n--- %c: ", side ? 'b' : 'a');
    print_name(marking, overlap, side);
    putchar('\n');
    for (size_t i = 0; i < marks; i++) {
        cog_text_span mark = cog_overlap_mark(overlap, side, i);
        print_piece(marking, text + done, mark.begin - done);
        fputs(marking->before, stdout);
        print_piece(marking, text + mark.begin, mark.end - mark.begin);
        fputs(marking->after, stdout);
        done = mark.end;
    }
    print_piece(marking, text + done, size - done);
    if (size == 0 || text[size - 1] != '\n')
        putchar('\n');
}

void print_overlap(const cog_overlap *overlap, cog_measure measure) {
    struct marking marking = choose_marking();
    clear_progress();
    print_similarities(&marking, overlap, measure);
    print_spans(&marking, overlap);
    print_text(&marking, overlap, 0);
    print_text(&marking, overlap, 1);
}
