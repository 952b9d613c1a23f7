/* Texts seen before: near-duplicates by the Jaccard similarity of their terms, exactly.
 *
 * Of a set of n members, the n - o + 1 smallest are listed, where o is the smallest overlap with
 * any similar set. Two similar sets share one of these, because their smallest common member is
 * among them. Candidates are verified on the whole sets. Sets are those of dedup: a text too short
 * for n-grams is compared by words. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arguments.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "index/manifest.h"
#include "index/segment_sets.h"
#include "input/documents/text_bytes.h"
#include "jobs/index/index_pending.h"
#include "text/analyzer.h"
#include "vector/member_set.h"

/* The sets of a text, encoded one after the other. */
struct seen_text {
    uint64_t offset;
    uint32_t terms, words;
};

struct seen_posting {
    uint32_t text, next; /* next: plus 1; 0: none */
};

struct seen_list {
    uint64_t member; /* plus 1; 0: free */
    uint32_t head;   /* plus 1 */
};

struct cog_seen {
    pthread_mutex_t lock;
    struct set_measure measure;
    uint32_t ngram;
    uint64_t made_by; /* hash of the versions that determine the terms of a text */
    struct analyzer *analyzer;
    struct term_list list;
    uint64_t *scratch, *other;
    size_t scratch_capacity, other_capacity;
    struct buffer bytes; /* all sets, followed by padding for the decoder */
    struct seen_text *texts;
    size_t count, text_capacity;
    uint32_t *visited; /* by text: the index plus 1 of the last query that looked at it */
    size_t visited_capacity;
    struct seen_list *lists;
    size_t list_slots, list_count;
    struct seen_posting *postings;
    size_t posting_count, posting_capacity;
    /* For a folder. */
    struct change_log log;
    struct buffer unsaved;
    size_t unsaved_count;
    int folder_lock;
};

/* ---- Lists ----------------------------------------------------------------------------------- */

static struct seen_list *find_list(const struct cog_seen *seen, uint64_t member) {
    size_t at;
    HASH_PROBE(at, hash_mix(member), seen->list_slots,
               !seen->lists[at].member || seen->lists[at].member == member + 1);
    return &seen->lists[at];
}

static cog_status grow_lists(struct cog_seen *seen, size_t more, cog_error *error) {
    enum { LEAST_SLOTS = 1024 };
    size_t slots = hash_slots(seen->list_count + more, LEAST_SLOTS), before = seen->list_slots;
    struct seen_list *lists, *old = seen->lists;
    if (slots <= before)
        return COG_OK;
    TAKE_ZEROED(lists, slots, "seen texts", error);
    seen->lists = lists;
    seen->list_slots = slots;
    for (size_t i = 0; i < before; i++)
        if (old[i].member)
            *find_list(seen, old[i].member - 1) = old[i];
    free(old);
    return COG_OK;
}

static void list_set(struct cog_seen *seen, const uint64_t *members, size_t count, uint32_t text) {
    size_t prefix = set_prefix_places(&seen->measure, count);
    for (size_t i = 0; i < prefix; i++) {
        struct seen_list *list = find_list(seen, members[i]);
        seen->list_count += !list->member;
        list->member = members[i] + 1;
        seen->postings[seen->posting_count] = (struct seen_posting){text, list->head};
        list->head = (uint32_t)++seen->posting_count;
    }
}

/* Stores the sets as the next text. */
static cog_status remember(struct cog_seen *seen, const struct document_set *sets,
                           cog_error *error) {
    size_t prefix = set_prefix_places(&seen->measure, sets->term_count) +
                    set_prefix_places(&seen->measure, sets->word_count);
    size_t term_bytes = member_set_bytes(sets->term_count);
    size_t size = term_bytes + member_set_bytes(sets->word_count);
    if (seen->count == UINT32_MAX - 1 || seen->posting_count + prefix >= UINT32_MAX)
        return error_set(error, COG_ERR_MEMORY, "more than 4 billion terms of seen texts");
    TRY(grow_lists(seen, prefix, error));
    GROW(seen->postings, seen->posting_capacity, seen->posting_count + prefix, "seen texts", error);
    GROW(seen->texts, seen->text_capacity, seen->count + 1, "seen texts", error);
    GROW(seen->visited, seen->visited_capacity, seen->count + 1, "seen texts", error);
    if (!buffer_reserve(&seen->bytes, size + MEMBER_SET_SLACK))
        return error_memory(error, size, "seen texts");
    uint8_t *to = (uint8_t *)seen->bytes.data + seen->bytes.size;
    member_set_encode(sets->terms, sets->term_count, to);
    member_set_encode(sets->words, sets->word_count, to + term_bytes);
    seen->texts[seen->count] = (struct seen_text){seen->bytes.size, (uint32_t)sets->term_count,
                                                  (uint32_t)sets->word_count};
    seen->visited[seen->count] = 0;
    seen->bytes.size += size;
    list_set(seen, sets->terms, sets->term_count, (uint32_t)seen->count);
    list_set(seen, sets->words, sets->word_count, (uint32_t)seen->count);
    seen->count++;
    return COG_OK;
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* The similarity of a stored text; 0 if below the threshold. */
static cog_status compare(struct cog_seen *seen, const struct document_set *sets, uint32_t text,
                          double *similarity, cog_error *error) {
    const struct seen_text *at = &seen->texts[text];
    const struct document_set own = {.term_count = at->terms, .word_count = at->words};
    const uint8_t *bytes = (const uint8_t *)seen->bytes.data + at->offset;
    struct set_comparison comparison;
    *similarity = 0;
    if (!set_comparison_plan(&seen->measure, sets, &own, &comparison))
        return COG_OK;
    GROW(seen->other, seen->other_capacity, comparison.b_count + 1, "seen texts", error);
    member_set_decode(comparison.by_words ? bytes + member_set_bytes(at->terms) : bytes,
                      comparison.b_count, seen->other);
    *similarity = set_comparison_run(&seen->measure, &comparison,
                                     comparison.by_words ? sets->words : sets->terms, seen->other);
    return COG_OK;
}

static cog_status look_up(struct cog_seen *seen, const struct document_set *sets,
                          const uint64_t *members, size_t count, uint64_t *number, double *best,
                          cog_error *error) {
    size_t prefix = seen->lists ? set_prefix_places(&seen->measure, count) : 0;
    for (size_t i = 0; i < prefix; i++)
        for (uint32_t at = find_list(seen, members[i])->head; at;
             at = seen->postings[at - 1].next) {
            uint32_t text = seen->postings[at - 1].text;
            double similarity;
            if (seen->visited[text] == seen->count + 1)
                continue;
            seen->visited[text] = (uint32_t)seen->count + 1;
            TRY(compare(seen, sets, text, &similarity, error));
            if (similarity > *best || (similarity > 0 && similarity == *best && text < *number)) {
                *best = similarity;
                *number = text;
            }
        }
    return COG_OK;
}

/* Makes the sets from the list of terms, in place. A text without terms is identified by its bytes.
 */
static cog_status make_sets(struct cog_seen *seen, const char *text, size_t size,
                            struct document_set *sets, cog_error *error) {
    struct term_list *list = &seen->list;
    TRY(analyzer_run(seen->analyzer, view_of(text, size), view_of(NULL, 0), list, error));
    if (list->count == 0 && size) {
        GROW(list->hashes, list->capacity, 1, "a text", error);
        list->hashes[0] = hash_bytes(text, size);
        list->count = list->short_terms = 1;
    }
    GROW(seen->scratch, seen->scratch_capacity, list->count + 1, "a text's terms", error);
    size_t from = list->count - list->short_terms;
    uint64_t *words = list->hashes ? list->hashes + from : NULL;
    sets->terms = list->hashes;
    sets->words = words;
    sets->term_count = from ? member_set_make(list->hashes, from, seen->scratch) : 0;
    sets->word_count =
        list->short_terms ? member_set_make(words, list->short_terms, seen->scratch) : 0;
    return COG_OK;
}

/* ---- The folder ------------------------------------------------------------------------------ */

enum { SEEN_LOG = 1, UNSAVED_TEXTS = 256, HEAD_BYTES = 16 };

static bool append_unsaved(struct cog_seen *seen, const struct document_set *sets) {
    const struct seen_text *text = &seen->texts[seen->count - 1];
    const size_t before = seen->unsaved.size;
    uint8_t head[8], made[HEAD_BYTES] = {0};
    encode_u32(made, seen->ngram);
    encode_u64(made + 8, seen->made_by);
    encode_u32(head, (uint32_t)sets->term_count);
    encode_u32(head + 4, (uint32_t)sets->word_count);
    const bool fits = (before || buffer_append(&seen->unsaved, made, sizeof made)) &&
                      buffer_append(&seen->unsaved, head, sizeof head) &&
                      buffer_append(&seen->unsaved, seen->bytes.data + text->offset,
                                    seen->bytes.size - text->offset);
    if (!fits)
        seen->unsaved.size = before; /* a part of a text would damage the file */
    return fits;
}

static cog_status save(struct cog_seen *seen, cog_error *error) {
    if (seen->unsaved.size == 0)
        return COG_OK;
    TRY(change_log_append(&seen->log, seen->unsaved.data, seen->unsaved.size, error));
    buffer_reset(&seen->unsaved);
    seen->unsaved_count = 0;
    return COG_OK;
}

static cog_status load_texts(struct cog_seen *seen, struct bytes_view payload, cog_error *error) {
    const uint8_t *bytes = (const uint8_t *)payload.data;
    if (payload.size < HEAD_BYTES || decode_u32(bytes) != seen->ngram ||
        decode_u64(bytes + 8) != seen->made_by)
        return error_set(error, COG_ERR_USAGE,
                         "%s: these texts were read differently (n-grams, or another version of "
                         "the text libraries); use the same options, or another folder",
                         seen->log.path);
    for (size_t at = HEAD_BYTES; at < payload.size;) {
        struct document_set sets = {0};
        size_t left = payload.size - at;
        if (left >= 8) {
            sets.term_count = decode_u32(bytes + at);
            sets.word_count = decode_u32(bytes + at + 4);
        }
        size_t term_bytes = member_set_bytes(sets.term_count);
        size_t size = 8 + term_bytes + member_set_bytes(sets.word_count);
        if (left < 8 || size > left)
            return error_set(error, COG_ERR_FORMAT, "%s: damaged; restore it from a copy",
                             seen->log.path);
        GROW(seen->scratch, seen->scratch_capacity, sets.term_count + sets.word_count + 1,
             "seen texts", error);
        sets.terms = seen->scratch;
        sets.words = seen->scratch + sets.term_count;
        member_set_decode(bytes + at + 8, sets.term_count, seen->scratch);
        member_set_decode(bytes + at + 8 + term_bytes, sets.word_count,
                          seen->scratch + sets.term_count);
        TRY(remember(seen, &sets, error));
        at += size;
    }
    return COG_OK;
}

static cog_status read_texts(struct cog_seen *seen, cog_error *error) {
    struct buffer buffer = {0};
    struct bytes_view payload;
    bool found = true;
    uint64_t torn_bytes;
    cog_status status = COG_OK;
    while (status == COG_OK && found) {
        status = change_log_next(&seen->log, &buffer, &payload, &found, error);
        if (status == COG_OK && found) {
            if (!buffer_reserve(&buffer, MEMBER_SET_SLACK))
                status = error_memory(error, payload.size, "seen texts");
            payload.data = buffer.data;
            THEN(status, load_texts(seen, payload, error));
        }
    }
    THEN(status, change_log_check_end(&seen->log, &torn_bytes, error));
    if (status == COG_OK && torn_bytes)
        status = change_log_cut(&seen->log, error);
    buffer_free(&buffer);
    return status;
}

static cog_status open_folder(struct cog_seen *seen, const char *folder, cog_error *error) {
    struct stat info;
    if (manifest_exists(folder)) /* whose log has the same name */
        return error_set(error, COG_ERR_USAGE,
                         "%s: holds an index; keep seen texts in another folder", folder);
    char *path = change_log_path(folder, SEEN_LOG);
    if (!path)
        return error_memory(error, strlen(folder), "a path");
    cog_status status = mkdir(folder, 0777) == 0 || errno == EEXIST
                            ? index_lock(folder, &seen->folder_lock, error)
                            : error_system(error, "create the folder", folder);
    if (status == COG_OK && stat(path, &info) != 0)
        status = errno == ENOENT ? change_log_create(folder, SEEN_LOG, NULL, error)
                                 : error_system(error, "open", path);
    THEN(status, change_log_open(folder, SEEN_LOG, &seen->log, error));
    THEN(status, read_texts(seen, error));
    free(path);
    return status;
}

/* ---- The handle ------------------------------------------------------------------------------ */

void cog_seen_options_init(cog_seen_options *options) {
    *options = (cog_seen_options){.threshold = 0.8, .ngram = 3};
}

void cog_seen_close(cog_seen *seen) {
    if (!seen)
        return;
    if (seen->log.descriptor >= 0)
        save(seen, NULL);
    change_log_close(&seen->log);
    index_unlock(seen->folder_lock);
    analyzer_free(seen->analyzer);
    term_list_free(&seen->list);
    buffer_free(&seen->bytes);
    buffer_free(&seen->unsaved);
    FREE(seen->scratch, seen->other, seen->texts, seen->visited, seen->lists, seen->postings);
    pthread_mutex_destroy(&seen->lock);
    free(seen);
}

/* Makes terms like dedup. */
static cog_status open_analyzer(struct cog_seen *seen, const cog_seen_options *options,
                                cog_error *error) {
    cog_dedup_options dedup;
    struct term_options terms;
    struct settings settings = {0};
    const char *versions = "";
    cog_dedup_options_init(&dedup);
    dedup.pairs.sign.terms.ngram = options->ngram;
    cog_status status =
        options_set_terms(&dedup.pairs.sign.terms, dedup.pairs.measure, &terms, error);
    THEN(status, options_record_terms(&dedup.pairs.sign.terms, &settings, error));
    if (status == COG_OK)
        settings_get_text(&settings, "versions of text libraries", &versions);
    seen->made_by = hash_bytes(versions, strlen(versions));
    seen->ngram = options->ngram;
    THEN(status, analyzer_create(&terms, &seen->analyzer, error));
    settings_free(&settings);
    return status;
}

cog_status cog_seen_open(const cog_seen_options *options, const char *folder, cog_seen **result,
                         cog_error *error) {
    cog_seen *seen;
    TRY(check_given(options, "options", error));
    TRY(check_given(result, "seen", error));
    TRY(options_check_reserved(options->reserved, 4, "seen", error));
    TRY(check_share(options->threshold, "threshold", error));
    TAKE_ZEROED(seen, 1, "seen texts", error);
    pthread_mutex_init(&seen->lock, NULL);
    seen->log.descriptor = seen->folder_lock = -1;
    seen->measure.threshold = options->threshold;
    cog_status status = open_analyzer(seen, options, error);
    if (status == COG_OK && folder)
        status = open_folder(seen, folder, error);
    return HAND_OUT(status, seen, cog_seen_close, result);
}

uint64_t cog_seen_count(const cog_seen *seen) {
    pthread_mutex_lock((pthread_mutex_t *)&seen->lock);
    uint64_t count = seen->count;
    pthread_mutex_unlock((pthread_mutex_t *)&seen->lock);
    return count;
}

static cog_status check_text(cog_seen *seen, const char *text, size_t size, uint64_t *number,
                             double *similarity, cog_error *error) {
    struct document_set sets = {0};
    TRY(make_sets(seen, text, size, &sets, error));
    TRY(look_up(seen, &sets, sets.terms, sets.term_count, number, similarity, error));
    TRY(look_up(seen, &sets, sets.words, sets.word_count, number, similarity, error));
    TRY(remember(seen, &sets, error));
    if (seen->log.descriptor < 0)
        return COG_OK;
    if (!append_unsaved(seen, &sets))
        return error_memory(error, seen->unsaved.size, "seen texts");
    return ++seen->unsaved_count < UNSAVED_TEXTS ? COG_OK : save(seen, error);
}

cog_status cog_seen_check(cog_seen *seen, const char *text, size_t text_size, uint64_t *number,
                          double *similarity, cog_error *error) {
    uint64_t found = COG_SEEN_NONE;
    double best = 0;
    TRY(check_given(seen, "seen", error));
    if (text_size)
        TRY(check_given(text, "text", error));
    TRY(check_given(number, "number", error));
    if (!utf8_is_valid(text, text_size))
        return error_set(error, COG_ERR_INPUT, "the text is not valid UTF-8");
    pthread_mutex_lock(&seen->lock);
    cog_status status = check_text(seen, text, text_size, &found, &best, error);
    pthread_mutex_unlock(&seen->lock);
    *number = found;
    if (similarity)
        *similarity = best;
    return status;
}

cog_status cog_seen_sync(cog_seen *seen, cog_error *error) {
    TRY(check_given(seen, "seen", error));
    pthread_mutex_lock(&seen->lock);
    cog_status status = seen->log.descriptor >= 0 ? save(seen, error) : COG_OK;
    pthread_mutex_unlock(&seen->lock);
    return status;
}
