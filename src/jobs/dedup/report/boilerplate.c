#include "jobs/dedup/report/boilerplate.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "vector/member_set.h"

static const char stage[] = "naming boilerplate";

/* The n-grams, by member. */
struct known_member {
    uint64_t member;
    size_t ngram;
};

struct record_text {
    struct buffer text, lang;
};

struct reading {
    struct ingest *ingest;
    uint64_t *records; /* ascending */
    struct record_text *texts;
    size_t record_count;
    struct known_member *known; /* by ascending member, then n-gram */
    size_t known_count;
    struct boilerplate *boilerplate;
    struct term_list terms; /* of the record analysed last */
    const struct record_text *analysed;
};

void boilerplate_free(struct boilerplate *boilerplate) {
    free(boilerplate->passages);
    buffer_free(&boilerplate->texts);
    *boilerplate = (struct boilerplate){0};
}

/* A part of the texts; empty if there are none. */
static struct bytes_view part_of(const struct boilerplate *boilerplate, size_t begin, size_t size) {
    return size ? view_of(boilerplate->texts.data + begin, size) : view_of("", 0);
}

struct bytes_view boilerplate_passage(const struct boilerplate *boilerplate, size_t ngram) {
    const struct passage *passage = &boilerplate->passages[ngram];
    return part_of(boilerplate, passage->begin, passage->size);
}

struct bytes_view boilerplate_run(const struct boilerplate *boilerplate, size_t ngram) {
    const struct passage *passage = &boilerplate->passages[ngram];
    return part_of(boilerplate, passage->begin + passage->run_begin,
                   passage->run_end - passage->run_begin);
}

/* ---- The records ----------------------------------------------------------------------------- */

static int by_member(const void *x, const void *y) {
    const struct known_member *a = x, *b = y;
    if (a->member != b->member)
        return a->member < b->member ? -1 : 1;
    return ORDER(a->ngram, b->ngram);
}

static cog_status list_ngrams(struct reading *reading, const struct boilerplate_ngram *ngrams,
                              size_t count, cog_error *error) {
    TAKE(reading->records, count, "records of n-grams", error);
    TAKE(reading->known, count, "n-grams", error);
    for (size_t i = 0; i < count; i++) {
        reading->records[i] = ngrams[i].record;
        reading->known[i] = (struct known_member){ngrams[i].member, i};
    }
    reading->record_count = sort_distinct_u64(reading->records, count);
    qsort(reading->known, count, sizeof *reading->known, by_member);
    reading->known_count = count;
    return TAKEN_ZEROED(reading->texts, reading->record_count, "records of n-grams", error);
}

static struct record_text *find_text(const struct reading *reading, uint64_t record) {
    const uint64_t *found = bsearch(&record, reading->records, reading->record_count,
                                    sizeof *reading->records, compare_u64);
    return found ? &reading->texts[found - reading->records] : NULL;
}

/* Each record has its own entry, so threads need no lock. */
static cog_status take_texts(void *context, unsigned worker, void *batch, cog_error *error) {
    struct reading *reading = context;
    for (;;) {
        struct ingested item;
        TRY(ingest_next(reading->ingest, worker, batch, &item, error));
        if (!item.document)
            return COG_OK;
        struct record_text *to = find_text(reading, item.record);
        const struct document *document = item.document;
        if (to && (!buffer_append(&to->text, document->text.data, document->text.size) ||
                   !buffer_append(&to->lang, document->lang.data, document->lang.size)))
            return error_memory(error, document->text.size, "a document with boilerplate");
    }
}

/* Adds nothing to the report, as the pass does not see all records. */
static cog_status read_texts(struct reading *reading, cog_documents *documents,
                             const struct job *job, cog_error *error) {
    cog_status status =
        ingest_open(documents, NULL, 1, stage, &job->run, NULL, true, &reading->ingest, error);
    if (status != COG_OK)
        return status;
    ingest_only(reading->ingest, reading->records, reading->record_count);
    status = ingest_run(reading->ingest, reading, take_texts, NULL, error);
    ingest_close(reading->ingest);
    return status;
}

/* ---- Passages -------------------------------------------------------------------------------- */

/* Terms of a record: [first, end) are of one kind, [run_from, run_to) is the run of given n-grams
 * around `at`, and [from, to) is shown. */
struct window {
    const struct term_list *list;
    struct bytes_view text;
    size_t first, end, at;
    size_t run_from, run_to;
    size_t from, to;
};

/* The first given n-gram with this term; NULL if none. */
static const struct known_member *find_known(const struct reading *reading, uint64_t hash) {
    const uint64_t member = member_of_hash(hash);
    size_t low;
    FIND_FIRST_NOT(low, 0, reading->known_count, reading->known[low].member < member);
    bool found = low < reading->known_count && reading->known[low].member == member;
    return found ? &reading->known[low] : NULL;
}

static bool find_term(const struct term_list *list, uint64_t member, struct window *window) {
    const size_t ngrams = list->count - list->short_terms;
    for (size_t i = 0; i < list->count; i++)
        if (member_of_hash(list->hashes[i]) == member) {
            window->at = i;
            window->first = i < ngrams ? 0 : ngrams;
            window->end = i < ngrams ? ngrams : list->count;
            return true;
        }
    return false;
}

static void find_run(const struct reading *reading, struct window *window) {
    const uint64_t *hashes = window->list->hashes;
    window->run_from = window->at;
    window->run_to = window->at + 1;
    while (window->run_from > window->first && find_known(reading, hashes[window->run_from - 1]))
        window->run_from--;
    while (window->run_to < window->end && find_known(reading, hashes[window->run_to]))
        window->run_to++;
}

static bool is_white(char byte) {
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Whether terms [from, to) fit into a passage of at most PASSAGE_CHARACTERS. */
static bool fits(const struct window *window, size_t from, size_t to) {
    const size_t begin = window->list->places[from].begin, end = window->list->places[to - 1].end;
    const char *text = window->text.data;
    size_t characters = 0;
    for (size_t i = begin; i < end; i++) {
        bool repeats_white = i > begin && is_white(text[i]) && is_white(text[i - 1]);
        characters += utf8_is_start(text[i]) && !repeats_white;
        if (characters > PASSAGE_CHARACTERS)
            return false;
    }
    return true;
}

/* Extends the part shown, alternately on both sides, within terms [least, most). */
static void extend(struct window *window, size_t least, size_t most) {
    bool before = true, behind = true;
    while (before || behind) {
        behind = behind && window->to < most && fits(window, window->from, window->to + 1);
        window->to += behind;
        before = before && window->from > least && fits(window, window->from - 1, window->to);
        window->from -= before;
    }
}

/* Appends text[begin .. end), with white space as single spaces. */
static bool append_line(struct buffer *line, struct bytes_view text, size_t begin, size_t end) {
    bool appended = true;
    for (size_t i = begin; i < end && appended; i++)
        if (!is_white(text.data[i]))
            appended = buffer_append(line, text.data + i, 1);
        else if (line->size && line->data[line->size - 1] != ' ')
            appended = buffer_append(line, " ", 1);
    return appended;
}

/* Truncates an n-gram that is longer than a passage. */
static size_t cut_end(const struct window *window, size_t begin, size_t end) {
    return begin +
           utf8_cut(view_of(window->text.data + begin, end - begin), 4 * PASSAGE_CHARACTERS);
}

static cog_status write_passage(const struct window *window, struct buffer *texts,
                                struct passage *passage, cog_error *error) {
    const struct text_place *places = window->list->places;
    size_t from = window->run_from > window->from ? window->run_from : window->from;
    size_t to = window->run_to < window->to ? window->run_to : window->to;
    const size_t begin = places[window->from].begin;
    const size_t end = cut_end(window, begin, places[window->to - 1].end);
    const size_t run_begin = places[from].begin;
    const size_t run_end = places[to - 1].end < end ? places[to - 1].end : end;
    passage->begin = texts->size;
    passage->is_short_word = window->first > 0 || window->list->short_terms == window->list->count;
    bool appended = append_line(texts, window->text, begin, run_begin);
    passage->run_begin = texts->size - passage->begin;
    appended = appended && append_line(texts, window->text, run_begin, run_end);
    passage->run_end = texts->size - passage->begin;
    appended = appended && append_line(texts, window->text, run_end, end);
    passage->size = texts->size - passage->begin;
    return appended ? COG_OK : error_memory(error, texts->size, "passages");
}

/* Assigns the passage to all n-grams of the run that have none yet. */
static void share_passage(const struct reading *reading, const struct window *window,
                          size_t ngram) {
    struct passage *passages = reading->boilerplate->passages;
    for (size_t i = window->run_from; i < window->run_to; i++) {
        const struct known_member *known = find_known(reading, window->list->hashes[i]);
        const struct known_member *end = reading->known + reading->known_count;
        for (uint64_t member = known->member; known < end && known->member == member; known++)
            if (passages[known->ngram].size == 0)
                passages[known->ngram] = passages[ngram];
    }
}

/* Analyses the record, unless it was analysed last. */
static cog_status analyse(struct reading *reading, const struct record_text *record,
                          struct analyzer *analyzer, cog_error *error) {
    if (record == reading->analysed)
        return COG_OK;
    reading->analysed = record;
    return analyzer_run(analyzer, view_of(record->text.data, record->text.size),
                        view_of(record->lang.data, record->lang.size), &reading->terms, error);
}

static cog_status name_ngram(struct reading *reading, const struct boilerplate_ngram *given,
                             size_t ngram, struct analyzer *analyzer, cog_error *error) {
    struct boilerplate *boilerplate = reading->boilerplate;
    const struct record_text *record = find_text(reading, given->record);
    struct window window = {.list = &reading->terms,
                            .text = view_of(record->text.data, record->text.size)};
    TRY(analyse(reading, record, analyzer, error));
    if (!find_term(window.list, given->member, &window))
        return COG_OK;
    find_run(reading, &window);
    window.from = window.at;
    window.to = window.at + 1;
    extend(&window, window.run_from, window.run_to);
    extend(&window, window.first, window.end);
    TRY(write_passage(&window, &boilerplate->texts, &boilerplate->passages[ngram], error));
    share_passage(reading, &window, ngram);
    return COG_OK;
}

static cog_status name_ngrams(struct reading *reading, const struct term_options *terms,
                              const struct boilerplate_ngram *ngrams, cog_error *error) {
    struct boilerplate *boilerplate = reading->boilerplate;
    struct analyzer *analyzer = NULL;
    reading->terms.want_places = true;
    cog_status status = analyzer_create(terms, &analyzer, error);
    for (size_t i = 0; i < boilerplate->count && status == COG_OK; i++)
        if (boilerplate->passages[i].size == 0) {
            boilerplate->passages[i].ngram = i;
            status = name_ngram(reading, &ngrams[i], i, analyzer, error);
        }
    term_list_free(&reading->terms);
    analyzer_free(analyzer);
    return status;
}

cog_status boilerplate_read(struct boilerplate *boilerplate, cog_documents *documents,
                            const struct term_options *terms,
                            const struct boilerplate_ngram *ngrams, size_t count, struct job *job,
                            cog_error *error) {
    struct reading reading = {.boilerplate = boilerplate};
    const uint64_t start = clock_ns();
    TAKE_ZEROED(boilerplate->passages, count, "passages", error);
    boilerplate->count = count;
    cog_status status = list_ngrams(&reading, ngrams, count, error);
    if (count)
        THEN(status, read_texts(&reading, documents, job, error));
    THEN(status, name_ngrams(&reading, terms, ngrams, error));
    for (size_t i = 0; reading.texts && i < reading.record_count; i++) {
        buffer_free(&reading.texts[i].text);
        buffer_free(&reading.texts[i].lang);
    }
    FREE(reading.texts, reading.records, reading.known);
    report_stage(job->report, stage, clock_seconds_since(start));
    return status;
}
