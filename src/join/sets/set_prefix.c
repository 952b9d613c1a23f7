#include "join/sets/set_prefix.h"

#include <string.h>
#include <unistd.h>

#include "base/io/files.h"
#include "base/io/output.h"
#include "base/numbers.h"
#include "base/threads.h"

enum {
    ROWS_PER_PIECE = 2048,
    MEMBER_BYTES = MEMBER_BITS / 8,
    FILTER_BITS_MOST = 32,
    /* A stored prefix opens with these numbers of 4 bytes. */
    AT_TERMS = 0,
    AT_TERMS_PLACE = 4,
    AT_WORDS = 8,
    AT_WORDS_PLACE = 12,
    AT_REST = 16,
    HEADER_BYTES = 20,
    USUAL_BYTES = 1024 /* what is read of a prefix at once */
};
#define NOTHING UINT64_MAX

static const char name[] = "the scratch file of prefixes";

struct set_prefixes {
    uint64_t *offsets; /* of a row, or NOTHING */
    size_t row_count;
    char *bytes;            /* NULL: they are in the file */
    int descriptor;         /* -1: there is none */
    uint64_t size, members; /* atomic while they are made */
};

/* ---- Choosing -------------------------------------------------------------------------------- */

/* One thread's buffers. */
struct chooser {
    uint8_t *counts;
    size_t counts_capacity;
    struct buffer bytes;
    uint64_t *offsets; /* of the piece's rows in `bytes`, or NOTHING */
    uint64_t members;
    struct set_cursor cursor;
};

struct choosing {
    const struct set_file *file;
    const struct member_counts *counts;
    const uint8_t *marks;
    struct set_measure measure;
    struct set_prefixes *prefixes;
    struct chooser *choosers;
    /* Containment: which members are in any prefix, by a bit per hash; made in a pass of its own.
     * A bit that two members share costs time, never a pair. */
    uint8_t *filter;
    unsigned filter_bits;
    bool fills_filter;
};

static size_t filter_bit(const struct choosing *choosing, uint64_t member) {
    return (size_t)(member & (((uint64_t)1 << choosing->filter_bits) - 1));
}

static void filter_add(const struct choosing *choosing, uint64_t member) {
    size_t bit = filter_bit(choosing, member);
    __atomic_fetch_or(&choosing->filter[bit / 8], (uint8_t)(1u << (bit % 8)), __ATOMIC_RELAXED);
}

static bool filter_has(const struct choosing *choosing, uint64_t member) {
    size_t bit = filter_bit(choosing, member);
    return choosing->filter[bit / 8] >> (bit % 8) & 1;
}

static void put_member(char **at, uint64_t member) {
    memcpy(*at, &member, MEMBER_BYTES);
    *at += MEMBER_BYTES;
}

static size_t prefix_places(const struct choosing *choosing, size_t count) {
    return count ? count - set_least_overlap(&choosing->measure, count) + 1 : 0;
}

/* Writes the stored members of a set's prefix in order, and in counts[i] a 0 for each of them. */
static uint32_t put_prefix(const struct choosing *choosing, const uint64_t *members,
                           uint8_t *counts, size_t count, uint32_t *place, char **at) {
    const size_t places = prefix_places(choosing, count);
    const bool wants_all = choosing->filter && !choosing->fills_filter;
    uint32_t of_count[MEMBER_CLASSES + 1] = {0};
    *place = 0;
    if (!member_counts_get(choosing->counts, members, count,
                           wants_all || places == 0 ? count : places - 1, counts))
        return 0; /* the whole prefix has members that no other set has */
    for (size_t i = 0; i < count; i++)
        of_count[counts[i] + 1]++;
    const size_t alone = of_count[1] + of_count[2]; /* counts of 0 do not occur */
    *place = (uint32_t)alone;
    if (places <= alone)
        return 0;
    const uint32_t stored = (uint32_t)(places - alone);
    uint32_t starts[MEMBER_CLASSES] = {0}; /* of a count, among the stored */
    for (size_t c = 2; c + 1 < MEMBER_CLASSES; c++)
        starts[c + 1] = starts[c] + of_count[c + 1];
    for (size_t i = 0; i < count; i++) {
        uint8_t c = counts[i];
        if (c < 2 || starts[c] >= stored)
            continue;
        char *to = *at + (size_t)starts[c]++ * MEMBER_BYTES;
        put_member(&to, members[i]);
        counts[i] = 0;
    }
    *at += (size_t)stored * MEMBER_BYTES;
    return stored;
}

/* The other members of a set that a smaller set may have in its prefix. */
static uint32_t put_rest(const struct choosing *choosing, const uint64_t *members,
                         const uint8_t *counts, size_t count, char **at) {
    uint32_t stored = 0;
    for (size_t i = 0; i < count; i++)
        if (counts[i] > 1 && filter_has(choosing, members[i])) {
            put_member(at, members[i]);
            stored++;
        }
    return stored;
}

static void note_prefix(const struct choosing *choosing, const char *members, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t member = 0;
        memcpy(&member, members + i * MEMBER_BYTES, MEMBER_BYTES);
        filter_add(choosing, member);
    }
}

static cog_status choose(const struct choosing *choosing, struct chooser *chooser,
                         const struct loaded_sets *sets, uint64_t *offset, cog_error *error) {
    const size_t terms = sets->term_count, words = sets->word_count;
    const size_t most = HEADER_BYTES + (terms + words) * MEMBER_BYTES + sizeof(uint64_t);
    *offset = NOTHING;
    GROW(chooser->counts, chooser->counts_capacity, terms + words + 1, "counts of terms", error);
    if (!buffer_reserve(&chooser->bytes, most))
        return error_memory(error, most, "prefixes");
    char *header = chooser->bytes.data + chooser->bytes.size, *at = header + HEADER_BYTES;
    uint32_t terms_place, words_place, rest = 0;
    uint32_t listed_terms =
        put_prefix(choosing, sets->terms, chooser->counts, terms, &terms_place, &at);
    uint32_t listed_words =
        put_prefix(choosing, sets->words, chooser->counts + terms, words, &words_place, &at);
    if (choosing->fills_filter)
        note_prefix(choosing, header + HEADER_BYTES, listed_terms + listed_words);
    else if (choosing->filter)
        rest = put_rest(choosing, sets->terms, chooser->counts, terms, &at);
    if (listed_terms + listed_words + rest == 0 || choosing->fills_filter)
        return COG_OK;
    const uint32_t numbers[] = {listed_terms, terms_place, listed_words, words_place, rest};
    memcpy(header, numbers, sizeof numbers);
    *offset = chooser->bytes.size;
    chooser->bytes.size = (size_t)(at - chooser->bytes.data);
    chooser->members += listed_terms + listed_words + rest;
    return COG_OK;
}

/* Writes a piece behind what others have written. The place depends on who comes first, the bytes
 * do not. */
static cog_status write_piece(struct set_prefixes *prefixes, struct chooser *chooser, size_t begin,
                              size_t end, cog_error *error) {
    uint64_t at = __atomic_fetch_add(&prefixes->size, chooser->bytes.size, __ATOMIC_RELAXED);
    for (size_t row = begin; row < end; row++)
        prefixes->offsets[row] =
            chooser->offsets[row - begin] == NOTHING ? NOTHING : at + chooser->offsets[row - begin];
    __atomic_fetch_add(&prefixes->members, chooser->members, __ATOMIC_RELAXED);
    return descriptor_write_at(prefixes->descriptor, chooser->bytes.data, chooser->bytes.size, at,
                               name, error);
}

static cog_status choose_rows(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    const struct choosing *choosing = context;
    struct chooser *chooser = &choosing->choosers[worker];
    const struct loaded_sets *sets;
    buffer_reset(&chooser->bytes);
    chooser->members = 0;
    chooser->cursor.next = begin;
    chooser->cursor.end = end;
    chooser->cursor.rows_read = 0;
    for (size_t row = begin; row < end; row++) {
        TRY(set_cursor_next(&chooser->cursor, choosing->file, &sets, error));
        chooser->offsets[row - begin] = NOTHING;
        if (!choosing->marks || choosing->marks[row])
            TRY(choose(choosing, chooser, sets, &chooser->offsets[row - begin], error));
    }
    return choosing->fills_filter ? COG_OK
                                  : write_piece(choosing->prefixes, chooser, begin, end, error);
}

static cog_status run_choosers(struct choosing *choosing, unsigned threads, cog_error *error) {
    cog_status status = COG_OK;
    TAKE_ZEROED(choosing->choosers, threads, "prefixes", error);
    for (unsigned i = 0; i < threads; i++)
        THEN(status, TAKEN(choosing->choosers[i].offsets, ROWS_PER_PIECE, "prefixes", error));
    THEN(status, parallel_for(threads, choosing->file->row_count, ROWS_PER_PIECE, choose_rows,
                              choosing, error));
    for (unsigned i = 0; i < threads; i++) {
        free(choosing->choosers[i].counts);
        free(choosing->choosers[i].offsets);
        buffer_free(&choosing->choosers[i].bytes);
        set_cursor_free(&choosing->choosers[i].cursor);
    }
    free(choosing->choosers);
    return status;
}

/* Which members are in any prefix, by a pass over all sets. */
static cog_status make_filter(struct choosing *choosing, unsigned threads, cog_error *error) {
    const unsigned bits = choosing->counts->bits;
    choosing->filter_bits = bits < FILTER_BITS_MOST ? bits : FILTER_BITS_MOST;
    choosing->filter = memory_large(((size_t)1 << choosing->filter_bits) / 8);
    if (!choosing->filter)
        return error_memory(error, ((size_t)1 << choosing->filter_bits) / 8, "prefixes");
    choosing->fills_filter = true;
    cog_status status = run_choosers(choosing, threads, error);
    choosing->fills_filter = false;
    return status;
}

/* Takes the file into memory. */
static cog_status load_all(struct set_prefixes *prefixes, cog_error *error) {
    TAKE(prefixes->bytes, (size_t)prefixes->size + sizeof(uint64_t), "prefixes", error);
    cog_status status = descriptor_read_at(prefixes->descriptor, prefixes->bytes,
                                           (size_t)prefixes->size, 0, name, error);
    close(prefixes->descriptor);
    prefixes->descriptor = -1;
    return status;
}

cog_status set_prefixes_make(const struct set_file *file, const struct member_counts *counts,
                             const uint8_t *marks, const struct set_measure *measure,
                             uint64_t most_bytes, const char *beside, unsigned threads,
                             struct set_prefixes **result, cog_error *error) {
    struct set_prefixes *prefixes;
    TAKE_ZEROED(prefixes, 1, "prefixes", error);
    prefixes->row_count = file->row_count;
    prefixes->descriptor = -1;
    struct choosing choosing = {
        .file = file, .counts = counts, .marks = marks, .measure = *measure, .prefixes = prefixes};
    threads = threads_resolve(threads);
    cog_status status = TAKEN(prefixes->offsets, file->row_count, "prefixes", error);
    if (status == COG_OK && (prefixes->descriptor = scratch_file_open_beside(beside, error)) < 0)
        status = COG_ERR_IO;
    if (measure->containment)
        THEN(status, make_filter(&choosing, threads, error));
    THEN(status, run_choosers(&choosing, threads, error));
    if (choosing.filter)
        memory_large_free(choosing.filter, ((size_t)1 << choosing.filter_bits) / 8);
    if (status == COG_OK && prefixes->size <= most_bytes)
        status = load_all(prefixes, error);
    return HAND_OUT(status, prefixes, set_prefixes_free, result);
}

void set_prefixes_free(struct set_prefixes *prefixes) {
    if (!prefixes)
        return;
    if (prefixes->descriptor >= 0)
        close(prefixes->descriptor);
    free(prefixes->offsets);
    free(prefixes->bytes);
    free(prefixes);
}

bool set_prefixes_has(const struct set_prefixes *prefixes, size_t row) {
    return prefixes->offsets[row] != NOTHING;
}

uint64_t set_prefixes_members(const struct set_prefixes *prefixes) {
    return prefixes->members;
}

uint64_t set_prefixes_memory_bytes(const struct set_prefixes *prefixes) {
    return prefixes->row_count * sizeof *prefixes->offsets + (prefixes->bytes ? prefixes->size : 0);
}

uint64_t set_prefixes_disk_bytes(const struct set_prefixes *prefixes) {
    return prefixes->size;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The bytes of a row's prefix: `size` of them, or all that are stored behind it if these are fewer.
 * They stay valid until the next call. */
static cog_status stored_bytes(const struct set_prefixes *prefixes, uint64_t offset, size_t size,
                               struct buffer *buffer, const char **bytes, cog_error *error) {
    if (prefixes->bytes) {
        *bytes = prefixes->bytes + offset;
        return COG_OK;
    }
    if (size > prefixes->size - offset)
        size = (size_t)(prefixes->size - offset);
    buffer_reset(buffer);
    if (!buffer_reserve(buffer, size + sizeof(uint64_t)))
        return error_memory(error, size, "a prefix");
    *bytes = buffer->data;
    return descriptor_read_at(prefixes->descriptor, buffer->data, size, offset, name, error);
}

static uint64_t *take_part(struct prefix_part *part, const uint8_t *header, size_t at_count,
                           uint64_t *members) {
    part->members = members;
    part->count = decode_u32(header + at_count);
    return members + part->count;
}

cog_status set_prefix_load(const struct set_prefixes *prefixes, size_t row,
                           struct set_prefix *prefix, cog_error *error) {
    const uint64_t offset = prefixes->offsets[row];
    const char *bytes;
    uint8_t header[HEADER_BYTES];
    prefix->terms.count = prefix->words.count = prefix->rest.count = 0;
    if (offset == NOTHING)
        return COG_OK;
    TRY(stored_bytes(prefixes, offset, USUAL_BYTES, &prefix->bytes, &bytes, error));
    memcpy(header, bytes, sizeof header);
    const size_t count = (size_t)decode_u32(header + AT_TERMS) + decode_u32(header + AT_WORDS) +
                         decode_u32(header + AT_REST);
    GROW(prefix->members, prefix->capacity, count, "a prefix", error);
    const size_t size = HEADER_BYTES + count * MEMBER_BYTES;
    if (size > USUAL_BYTES)
        TRY(stored_bytes(prefixes, offset, size, &prefix->bytes, &bytes, error));
    for (size_t i = 0; i < count; i++) {
        prefix->members[i] = 0;
        memcpy(&prefix->members[i], bytes + HEADER_BYTES + i * MEMBER_BYTES, MEMBER_BYTES);
    }
    uint64_t *members = take_part(&prefix->terms, header, AT_TERMS, prefix->members);
    members = take_part(&prefix->words, header, AT_WORDS, members);
    take_part(&prefix->rest, header, AT_REST, members);
    prefix->terms.place = decode_u32(header + AT_TERMS_PLACE);
    prefix->words.place = decode_u32(header + AT_WORDS_PLACE);
    return COG_OK;
}

void set_prefix_free(struct set_prefix *prefix) {
    free(prefix->members);
    buffer_free(&prefix->bytes);
    *prefix = (struct set_prefix){0};
}
