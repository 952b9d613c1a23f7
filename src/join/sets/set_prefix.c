#include "join/sets/set_prefix.h"

#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io/files.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/threads.h"

enum {
    ROWS_PER_PIECE = 2048,
    MEMBER_BYTES = MEMBER_BITS / 8,
    FILTER_BITS_MOST = 32,
    /* A stored prefix starts with these 4-byte numbers. */
    AT_TERMS = 0,
    AT_TERMS_PLACE = 4,
    AT_WORDS = 8,
    AT_WORDS_PLACE = 12,
    AT_REST = 16,
    HEADER_BYTES = 20,
    USUAL_BYTES = 1024 /* read at once from a prefix */
};
#define NOTHING UINT64_MAX

struct set_prefixes {
    uint64_t *offsets; /* by row, or NOTHING */
    size_t row_count;
    char *bytes;            /* NULL: the prefixes are in the file */
    int descriptor;         /* -1: none */
    char *path;             /* NULL: a scratch file */
    uint64_t size, members; /* atomic while prefixes are made */
    uint64_t checksum; /* of a work folder's file: the sum of the checksums of its rows; atomic */
    bool is_saved;     /* as a checkpoint of the whole file */
};

static const char *name_of(const struct set_prefixes *prefixes) {
    return prefixes->path ? prefixes->path : "the scratch file of prefixes";
}

/* ---- Stored prefixes ------------------------------------------------------------------------- */

/* The bytes from `offset` on: `size` bytes, or up to the end of the file. Valid until the next
 * call. */
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
    return descriptor_read_at(prefixes->descriptor, buffer->data, size, offset, name_of(prefixes),
                              error);
}

static size_t member_count(const char *header) {
    uint8_t bytes[HEADER_BYTES];
    memcpy(bytes, header, sizeof bytes);
    return (size_t)decode_u32(bytes + AT_TERMS) + decode_u32(bytes + AT_WORDS) +
           decode_u32(bytes + AT_REST);
}

/* All bytes of a row's prefix. */
static cog_status stored_prefix(const struct set_prefixes *prefixes, uint64_t offset,
                                struct buffer *buffer, const char **bytes, size_t *size,
                                cog_error *error) {
    TRY(stored_bytes(prefixes, offset, USUAL_BYTES, buffer, bytes, error));
    *size = HEADER_BYTES + member_count(*bytes) * MEMBER_BYTES;
    if (*size > prefixes->size - offset)
        return error_set(error, COG_ERR_FORMAT,
                         "%s: damaged at byte %llu; remove the work folder and start again",
                         name_of(prefixes), (unsigned long long)offset);
    return *size > USUAL_BYTES ? stored_bytes(prefixes, offset, *size, buffer, bytes, error)
                               : COG_OK;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* The buffers of one thread. */
struct chooser {
    uint8_t *counts;
    size_t counts_capacity;
    struct buffer bytes;
    uint64_t *offsets; /* in `bytes`, by row of the piece, or NOTHING */
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
    /* Containment: one bit per hash, set for members that are in any prefix; made in a separate
     * pass. A bit shared by two members costs time, never a pair. */
    uint8_t *filter;
    unsigned filter_bits;
    bool fills_filter;
    size_t first_row; /* of the current part */
    struct join_checkpoints *checkpoints;
    bool counts_are_saved, filter_is_saved; /* as a whole: a checkpoint of prefixes needs them */
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

/* Writes the stored members of a set's prefix in order, and sets counts[i] to 0 for each of them.
 */
static uint32_t put_prefix(const struct choosing *choosing, const uint64_t *members,
                           uint8_t *counts, size_t count, uint32_t *place, char **at) {
    const size_t places = set_prefix_places(&choosing->measure, count);
    const bool wants_all = choosing->filter && !choosing->fills_filter;
    uint32_t of_count[MEMBER_CLASSES + 1] = {0};
    *place = 0;
    if (!member_counts_get(choosing->counts, members, count,
                           wants_all || places == 0 ? count : places - 1, counts))
        return 0; /* no other set has any member of the prefix */
    for (size_t i = 0; i < count; i++)
        of_count[counts[i] + 1]++;
    const size_t alone = of_count[1] + of_count[2]; /* counts of 0 do not occur */
    *place = (uint32_t)alone;
    if (places <= alone)
        return 0;
    const uint32_t stored = (uint32_t)(places - alone);
    uint32_t starts[MEMBER_CLASSES] = {0}; /* by count, among the stored */
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

/* Writes the other members of a set that a smaller set may have in its prefix. */
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

/* The checksum of a row's stored prefix, independent of its offset. */
static uint64_t row_checksum(size_t row, const char *bytes, size_t size) {
    return hash_pair(row, hash_bytes(bytes, size));
}

/* The sum over the rows of a piece, whose prefixes are adjacent. */
static uint64_t piece_checksum(const struct chooser *chooser, size_t begin, size_t end) {
    uint64_t sum = 0, next = chooser->bytes.size;
    for (size_t row = end; row-- > begin;) {
        const uint64_t offset = chooser->offsets[row - begin];
        if (offset == NOTHING)
            continue;
        sum += row_checksum(row, chooser->bytes.data + offset, (size_t)(next - offset));
        next = offset;
    }
    return sum;
}

/* Appends a piece to the file. Its offset depends on the order of threads, its bytes do not. */
static cog_status write_piece(struct set_prefixes *prefixes, struct chooser *chooser, size_t begin,
                              size_t end, cog_error *error) {
    uint64_t at = __atomic_fetch_add(&prefixes->size, chooser->bytes.size, __ATOMIC_RELAXED);
    for (size_t row = begin; row < end; row++)
        prefixes->offsets[row] =
            chooser->offsets[row - begin] == NOTHING ? NOTHING : at + chooser->offsets[row - begin];
    __atomic_fetch_add(&prefixes->members, chooser->members, __ATOMIC_RELAXED);
    if (prefixes->path)
        __atomic_fetch_add(&prefixes->checksum, piece_checksum(chooser, begin, end),
                           __ATOMIC_RELAXED);
    return descriptor_write_at(prefixes->descriptor, chooser->bytes.data, chooser->bytes.size, at,
                               name_of(prefixes), error);
}

static cog_status choose_rows(void *context, unsigned worker, size_t part_begin, size_t part_end,
                              cog_error *error) {
    const struct choosing *choosing = context;
    struct chooser *chooser = &choosing->choosers[worker];
    const size_t begin = choosing->first_row + part_begin, end = choosing->first_row + part_end;
    const struct loaded_sets *sets;
    buffer_reset(&chooser->bytes);
    chooser->members = 0;
    chooser->cursor.next = begin;
    chooser->cursor.end = end;
    chooser->cursor.marks = choosing->marks;
    chooser->cursor.rows_read = 0;
    for (size_t row = begin; row < end; row++)
        chooser->offsets[row - begin] = NOTHING;
    for (;;) {
        TRY(set_cursor_next(&chooser->cursor, choosing->file, &sets, error));
        if (!sets)
            break;
        TRY(choose(choosing, chooser, sets, &chooser->offsets[chooser->cursor.next - 1 - begin],
                   error));
    }
    return choosing->fills_filter ? COG_OK
                                  : write_piece(choosing->prefixes, chooser, begin, end, error);
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

static const char sorting_name[] = "sorting", filter_name[] = "filter", data_name[] = "prefixes";
enum { SORTED_ROWS, SORTED_BYTES, SORTED_MEMBERS, SORTED_COUNTS, SORTED_CHECKSUM, SORTED_NUMBERS };
enum { FILTER_ROWS, FILTER_SIZE_BITS, FILTER_COUNTS, FILTER_NUMBERS };

static size_t filter_bytes(const struct choosing *choosing) {
    return ((size_t)1 << choosing->filter_bits) / 8;
}

static cog_status save_filter(const struct choosing *choosing, size_t rows, cog_error *error) {
    const uint64_t numbers[FILTER_NUMBERS] = {rows, choosing->filter_bits,
                                              choosing->counts->identity};
    const struct checkpoint_array array = {choosing->filter, filter_bytes(choosing)};
    return join_checkpoint_save(choosing->checkpoints, filter_name, numbers, FILTER_NUMBERS, &array,
                                1, error);
}

/* The number of rows whose prefixes are in the filter. */
static size_t restore_filter(const struct choosing *choosing) {
    struct container saved;
    uint64_t numbers[FILTER_NUMBERS];
    if (!join_checkpoint_open(choosing->checkpoints, filter_name, numbers, FILTER_NUMBERS, &saved))
        return 0;
    const bool fits = numbers[FILTER_SIZE_BITS] == choosing->filter_bits &&
                      numbers[FILTER_COUNTS] == choosing->counts->identity &&
                      numbers[FILTER_ROWS] <= choosing->file->row_count &&
                      join_checkpoint_copy(&saved, 0, choosing->filter, filter_bytes(choosing));
    container_close(&saved);
    return fits ? (size_t)numbers[FILTER_ROWS] : 0;
}

static cog_status save_sorting(const struct set_prefixes *prefixes, size_t rows, uint64_t counts,
                               struct join_checkpoints *checkpoints, cog_error *error) {
    const uint64_t numbers[SORTED_NUMBERS] = {rows, prefixes->size, prefixes->members, counts,
                                              prefixes->checksum};
    const struct checkpoint_array array = {prefixes->offsets, rows * sizeof *prefixes->offsets};
    if (fdatasync(prefixes->descriptor) != 0)
        return error_system(error, "write", name_of(prefixes));
    return join_checkpoint_save(checkpoints, sorting_name, numbers, SORTED_NUMBERS, &array, 1,
                                error);
}

/* Saves a checkpoint of part of the rows, and before it the tables that it depends on. */
static cog_status save_part(struct choosing *choosing, size_t rows, cog_error *error) {
    const size_t all = choosing->file->row_count;
    if (!choosing->counts_are_saved)
        TRY(member_counts_save(choosing->counts, all, choosing->checkpoints, error));
    choosing->counts_are_saved = true;
    if (choosing->fills_filter)
        return save_filter(choosing, rows, error);
    if (choosing->filter && !choosing->filter_is_saved)
        TRY(save_filter(choosing, all, error));
    choosing->filter_is_saved = true;
    return save_sorting(choosing->prefixes, rows, choosing->counts->identity, choosing->checkpoints,
                        error);
}

/* Whether all offsets are within the file. */
static bool are_possible(const struct set_prefixes *prefixes, size_t rows) {
    for (size_t row = 0; row < rows; row++)
        if (prefixes->offsets[row] != NOTHING &&
            (prefixes->size < HEADER_BYTES ||
             prefixes->offsets[row] > prefixes->size - HEADER_BYTES))
            return false;
    return true;
}

/* Verifies the checksum of the rows' prefixes. */
static bool are_undamaged(const struct set_prefixes *prefixes, size_t rows) {
    struct buffer buffer = {0};
    uint64_t sum = 0;
    bool is_read = true;
    for (size_t row = 0; row < rows && is_read; row++) {
        const uint64_t offset = prefixes->offsets[row];
        const char *bytes;
        size_t size;
        if (offset == NOTHING)
            continue;
        is_read = stored_prefix(prefixes, offset, &buffer, &bytes, &size, NULL) == COG_OK;
        if (is_read)
            sum += row_checksum(row, bytes, size);
    }
    buffer_free(&buffer);
    return is_read && sum == prefixes->checksum;
}

static bool take_sorting(struct set_prefixes *prefixes, const struct member_counts *counts,
                         bool verifies, const struct container *saved,
                         const uint64_t numbers[SORTED_NUMBERS]) {
    const size_t done = (size_t)numbers[SORTED_ROWS];
    const off_t end = lseek(prefixes->descriptor, 0, SEEK_END);
    prefixes->size = numbers[SORTED_BYTES];
    prefixes->members = numbers[SORTED_MEMBERS];
    prefixes->checksum = numbers[SORTED_CHECKSUM];
    return done <= prefixes->row_count && end >= 0 && (uint64_t)end >= prefixes->size &&
           (done == prefixes->row_count ||
            (counts && counts->identity == numbers[SORTED_COUNTS])) &&
           join_checkpoint_copy(saved, 0, prefixes->offsets, done * sizeof *prefixes->offsets) &&
           are_possible(prefixes, done) && (!verifies || are_undamaged(prefixes, done));
}

/* The number of rows whose complete and undamaged prefixes an earlier job left. */
static size_t restore_sorting(struct set_prefixes *prefixes, const struct member_counts *counts,
                              bool verifies, const struct join_checkpoints *checkpoints) {
    struct container saved;
    uint64_t numbers[SORTED_NUMBERS] = {0};
    size_t rows = 0;
    if (join_checkpoint_open(checkpoints, sorting_name, numbers, SORTED_NUMBERS, &saved)) {
        rows = take_sorting(prefixes, counts, verifies, &saved, numbers)
                   ? (size_t)numbers[SORTED_ROWS]
                   : 0;
        container_close(&saved);
    }
    prefixes->is_saved = rows == prefixes->row_count && rows > 0;
    if (rows == 0)
        prefixes->size = prefixes->members = prefixes->checksum = 0;
    return rows;
}

/* Continues where an earlier job stopped: truncates the file after the valid part. Without counts,
 * the whole has already been verified (set_prefixes_are_saved). */
static cog_status go_on_sorting(struct set_prefixes *prefixes, const struct member_counts *counts,
                                const struct join_checkpoints *checkpoints, size_t *rows,
                                cog_error *error) {
    *rows = restore_sorting(prefixes, counts, counts != NULL, checkpoints);
    return ftruncate(prefixes->descriptor, (off_t)prefixes->size) == 0
               ? COG_OK
               : error_system(error, "write", name_of(prefixes));
}

cog_status set_prefixes_save(struct set_prefixes *prefixes, struct join_checkpoints *checkpoints,
                             cog_error *error) {
    if (prefixes->is_saved)
        return COG_OK;
    TRY(save_sorting(prefixes, prefixes->row_count, 0, checkpoints, error));
    prefixes->is_saved = true;
    member_counts_remove_saved(checkpoints);
    join_checkpoint_remove(checkpoints, filter_name);
    return COG_OK;
}

void set_prefixes_remove_saved(const struct join_checkpoints *checkpoints) {
    member_counts_remove_saved(checkpoints);
    join_checkpoint_remove(checkpoints, filter_name);
    join_checkpoint_remove(checkpoints, sorting_name);
    join_checkpoint_remove(checkpoints, data_name);
}

/* ---- All rows -------------------------------------------------------------------------------- */

static cog_status choose_parts(struct choosing *choosing, size_t begin, unsigned threads,
                               cog_error *error) {
    const struct set_file *file = choosing->file;
    while (begin < file->row_count) {
        const size_t end = join_checkpoints_part_end(choosing->checkpoints, file, begin);
        choosing->first_row = begin;
        TRY(parallel_for(threads, end - begin, threads_grain(threads, end - begin, ROWS_PER_PIECE),
                         choose_rows, choosing, error));
        begin = end;
        if (end < file->row_count && join_checkpoints_are_due(choosing->checkpoints))
            TRY(save_part(choosing, end, error));
    }
    return COG_OK;
}

/* `begin`: number of rows already done. */
static cog_status run_choosers(struct choosing *choosing, size_t begin, unsigned threads,
                               cog_error *error) {
    cog_status status = COG_OK;
    TAKE_ZEROED(choosing->choosers, threads, "prefixes", error);
    for (unsigned i = 0; i < threads; i++)
        THEN(status, TAKEN(choosing->choosers[i].offsets, ROWS_PER_PIECE, "prefixes", error));
    THEN(status, choose_parts(choosing, begin, threads, error));
    for (unsigned i = 0; i < threads; i++) {
        free(choosing->choosers[i].counts);
        free(choosing->choosers[i].offsets);
        buffer_free(&choosing->choosers[i].bytes);
        set_cursor_free(&choosing->choosers[i].cursor);
    }
    free(choosing->choosers);
    return status;
}

/* Makes the filter of members that are in any prefix, in a pass over all sets. */
static cog_status make_filter(struct choosing *choosing, unsigned threads, cog_error *error) {
    const unsigned bits = choosing->counts->bits;
    choosing->filter_bits = bits < FILTER_BITS_MOST ? bits : FILTER_BITS_MOST;
    choosing->filter = memory_large(filter_bytes(choosing));
    if (!choosing->filter)
        return error_memory(error, filter_bytes(choosing), "prefixes");
    choosing->fills_filter = true;
    cog_status status = run_choosers(choosing, restore_filter(choosing), threads, error);
    choosing->fills_filter = false;
    return status;
}

/* Loads the file into memory; it stays, as checkpoints need it. */
static cog_status load_all(struct set_prefixes *prefixes, bool is_scratch, cog_error *error) {
    TAKE(prefixes->bytes, (size_t)prefixes->size + sizeof(uint64_t), "prefixes", error);
    cog_status status = descriptor_read_at(prefixes->descriptor, prefixes->bytes,
                                           (size_t)prefixes->size, 0, name_of(prefixes), error);
    if (is_scratch) {
        close(prefixes->descriptor);
        prefixes->descriptor = -1;
    }
    return status;
}

static cog_status open_data(struct set_prefixes *prefixes, const char *near_path,
                            const struct join_checkpoints *checkpoints, cog_error *error) {
    if (checkpoints->work)
        return join_checkpoint_file(checkpoints, data_name, &prefixes->descriptor, &prefixes->path,
                                    error);
    return scratch_file_open_near(near_path, &prefixes->descriptor, error);
}

bool set_prefixes_are_saved(const struct join_checkpoints *checkpoints, size_t row_count) {
    struct set_prefixes prefixes = {.row_count = row_count, .descriptor = -1};
    if (!checkpoints->work)
        return false;
    const bool are_saved = TAKEN(prefixes.offsets, row_count, "prefixes", NULL) == COG_OK &&
                           open_data(&prefixes, NULL, checkpoints, NULL) == COG_OK &&
                           restore_sorting(&prefixes, NULL, true, checkpoints) == row_count;
    if (prefixes.descriptor >= 0)
        close(prefixes.descriptor);
    free(prefixes.offsets);
    free(prefixes.path);
    return are_saved;
}

cog_status set_prefixes_make(const struct set_file *file, const struct member_counts *counts,
                             const uint8_t *marks, const struct set_measure *measure,
                             uint64_t most_bytes, const char *near_path, unsigned threads,
                             struct join_checkpoints *checkpoints, struct set_prefixes **result,
                             cog_error *error) {
    struct set_prefixes *prefixes;
    size_t done = 0;
    TAKE_ZEROED(prefixes, 1, "prefixes", error);
    prefixes->row_count = file->row_count;
    prefixes->descriptor = -1;
    struct choosing choosing = {.file = file,
                                .counts = counts,
                                .marks = marks,
                                .measure = *measure,
                                .prefixes = prefixes,
                                .checkpoints = checkpoints};
    threads = threads_resolve(threads);
    cog_status status = TAKEN(prefixes->offsets, file->row_count, "prefixes", error);
    THEN(status, open_data(prefixes, near_path, checkpoints, error));
    if (checkpoints->work)
        THEN(status, go_on_sorting(prefixes, counts, checkpoints, &done, error));
    choosing.counts_are_saved = choosing.filter_is_saved = done > 0;
    if (measure->containment && done < file->row_count)
        THEN(status, make_filter(&choosing, threads, error));
    THEN(status, run_choosers(&choosing, done, threads, error));
    if (choosing.filter)
        memory_large_free(choosing.filter, filter_bytes(&choosing));
    if (status == COG_OK && prefixes->size <= most_bytes)
        status = load_all(prefixes, !checkpoints->work, error);
    return HAND_OUT(status, prefixes, set_prefixes_free, result);
}

void set_prefixes_free(struct set_prefixes *prefixes) {
    if (!prefixes)
        return;
    if (prefixes->descriptor >= 0)
        close(prefixes->descriptor);
    FREE(prefixes->offsets, prefixes->bytes, prefixes->path, prefixes);
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

/* ---- Loading --------------------------------------------------------------------------------- */

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
    size_t size;
    uint8_t header[HEADER_BYTES];
    prefix->terms.count = prefix->words.count = prefix->rest.count = 0;
    if (offset == NOTHING)
        return COG_OK;
    TRY(stored_prefix(prefixes, offset, &prefix->bytes, &bytes, &size, error));
    memcpy(header, bytes, sizeof header);
    const size_t count = (size - HEADER_BYTES) / MEMBER_BYTES;
    GROW(prefix->members, prefix->capacity, count, "a prefix", error);
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
