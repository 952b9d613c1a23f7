#include "papers/query_log_generator.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

enum { SHARED_URLS_MIN = 6, NO_GROUP = QUERY_GROUP_KINDS };

/* Groups one after the other; group g has rows [starts[g], starts[g + 1]). */
struct query_log_generator {
    struct query_log_shape shape;
    uint32_t *group_of; /* row */
    uint32_t *starts;
    uint8_t *kinds;
    size_t group_count;
};

void query_log_shape_init(struct query_log_shape *shape) {
    *shape = (struct query_log_shape){
        .queries = 300000,
        .urls = 700000,
        .shared_urls_max = 10,
        .first_clicks_min = 10,
        .first_clicks_max = 49,
        .popularity_exponent = 2,
        .groups = {[QUERY_GROUP_SPELLINGS] = {0.038, 2, 12, 0.90, 0.99},
                   [QUERY_GROUP_VARIANTS] = {0.14, 2, 12, 0.80, 0.90},
                   [QUERY_GROUP_RELATED] = {0.22, 2, 12, 0.70, 0.80},
                   [QUERY_GROUP_TOPIC] = {0.06, 2, 12, 0.30, 0.65}},
        .seed = 2015,
    };
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static uint8_t draw_kind(const struct query_log_shape *shape, struct random *random) {
    double u = random_unit(random);
    for (uint8_t kind = 0; kind < QUERY_GROUP_KINDS; kind++) {
        u -= shape->groups[kind].share;
        if (u < 0)
            return kind;
    }
    return NO_GROUP;
}

static size_t draw_members(const struct query_log_shape *shape, uint8_t kind,
                           struct random *random) {
    if (kind == NO_GROUP)
        return 1;
    const struct query_group_shape *group = &shape->groups[kind];
    return group->members_min + random_below(random, group->members_max - group->members_min + 1);
}

static void draw_groups(struct query_log_generator *generator) {
    const struct query_log_shape *shape = &generator->shape;
    struct random random = random_seeded(hash_pair(shape->seed, 0));
    size_t row = 0, group = 0;
    for (; row < shape->queries; group++) {
        uint8_t kind = draw_kind(shape, &random);
        size_t members = draw_members(shape, kind, &random);
        generator->kinds[group] = kind;
        generator->starts[group] = (uint32_t)row;
        for (; members > 0 && row < shape->queries; members--)
            generator->group_of[row++] = (uint32_t)group;
    }
    generator->starts[group] = (uint32_t)row;
    generator->group_count = group;
}

cog_status query_log_generator_create(const struct query_log_shape *shape,
                                      struct query_log_generator **result, cog_error *error) {
    struct query_log_generator *generator = calloc(1, sizeof *generator);
    if (!generator)
        return error_memory(error, sizeof *generator, "a query log");
    generator->shape = *shape;
    generator->group_of = memory_array(shape->queries, sizeof *generator->group_of);
    generator->starts = memory_array(shape->queries + 1, sizeof *generator->starts);
    generator->kinds = memory_array(shape->queries, sizeof *generator->kinds);
    if (!generator->group_of || !generator->starts || !generator->kinds) {
        query_log_generator_free(generator);
        return error_memory(error, shape->queries * sizeof *generator->starts, "a query log");
    }
    draw_groups(generator);
    *result = generator;
    return COG_OK;
}

void query_log_generator_free(struct query_log_generator *generator) {
    if (!generator)
        return;
    free(generator->group_of);
    free(generator->starts);
    free(generator->kinds);
    free(generator);
}

/* ---- Clicks ---------------------------------------------------------------------------------- */

struct click_list {
    struct query_click *items;
    size_t count;
};

static uint32_t draw_url(const struct query_log_shape *shape, struct random *random) {
    double rank = (double)shape->urls * pow(random_unit(random), shape->popularity_exponent);
    return (uint32_t)rank < shape->urls ? (uint32_t)rank : shape->urls - 1;
}

/* A URL that is in the list already gets the clicks on top. */
static void add_click(struct click_list *list, uint32_t url, uint32_t clicks) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].url == url) {
            list->items[i].clicks += clicks;
            return;
        }
    if (list->count < QUERY_CLICKS_MAX)
        list->items[list->count++] = (struct query_click){url, clicks};
}

/* Clicks on the first ten places of result lists in AOL's log of 2006, in thousands. */
static const double clicks_by_place[] = {8220, 2317, 1641, 1172, 944, 775, 656, 579, 549, 577};

/* Clicks fall with the place in the list of results. Returns the sum of squares. */
static double add_shared(const struct query_log_shape *shape, struct random *random,
                         struct click_list *list) {
    size_t count =
        SHARED_URLS_MIN + random_below(random, shape->shared_urls_max - SHARED_URLS_MIN + 1);
    unsigned clicks_range = shape->first_clicks_max - shape->first_clicks_min + 1;
    double first = shape->first_clicks_min + (double)random_below(random, clicks_range),
           squares = 0;
    while (list->count < count) {
        uint32_t clicks =
            (uint32_t)(first * clicks_by_place[list->count] / clicks_by_place[0] + 0.5);
        add_click(list, draw_url(shape, random), clicks ? clicks : 1);
    }
    for (size_t i = 0; i < list->count; i++)
        squares += (double)list->items[i].clicks * list->items[i].clicks;
    return squares;
}

/* Own clicks whose squares sum to about `squares`: as many URLs as the shared part at most. */
static void add_own(const struct query_log_shape *shape, struct random *random, double squares,
                    struct click_list *list) {
    while (squares >= 0.5 && list->count < QUERY_CLICKS_MAX) {
        double most = floor(sqrt(squares));
        uint32_t clicks = 1 + (most > 1 ? (uint32_t)random_below(random, (uint64_t)most) : 0);
        add_click(list, draw_url(shape, random), clicks);
        squares -= (double)clicks * clicks;
    }
}

static int by_url(const void *x, const void *y) {
    const struct query_click *p = x, *q = y;
    return (p->url > q->url) - (p->url < q->url);
}

size_t query_log_row(const struct query_log_generator *generator, size_t row,
                     struct query_click clicks[QUERY_CLICKS_MAX]) {
    const struct query_log_shape *shape = &generator->shape;
    uint32_t group = generator->group_of[row];
    struct random of_group = random_seeded(hash_pair(hash_pair(shape->seed, 1), group));
    struct random of_row = random_seeded(hash_pair(hash_pair(shape->seed, 2), row));
    struct click_list list = {clicks, 0};
    double squares = add_shared(shape, &of_group, &list);
    if (generator->kinds[group] != NO_GROUP) {
        const struct query_group_shape *kind = &shape->groups[generator->kinds[group]];
        double cosine =
            kind->cosine_min + (kind->cosine_max - kind->cosine_min) * random_unit(&of_group);
        add_own(shape, &of_row, squares * (1 - cosine) / cosine, &list);
    }
    qsort(list.items, list.count, sizeof *list.items, by_url);
    return list.count;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static bool append_word(struct buffer *text, uint64_t number) {
    static const char consonants[] = "bdfgklmnprstvwz", vowels[] = "aeiou";
    char word[8];
    size_t size = 0;
    for (int syllable = 0; syllable < 3; syllable++) {
        word[size++] = consonants[number % 15];
        word[size++] = vowels[number / 15 % 5];
        number /= 75;
    }
    return buffer_append(text, word, size);
}

/* Two words of the group and the number of the member; a spelling has a letter changed instead. */
bool query_log_text(const struct query_log_generator *generator, size_t row, struct buffer *text) {
    uint32_t group = generator->group_of[row];
    size_t member = row - generator->starts[group], first = text->size;
    uint64_t words = hash_pair(hash_pair(generator->shape.seed, 3), group);
    if (!append_word(text, words) || !buffer_append(text, " ", 1) ||
        !append_word(text, words >> 32) || !buffer_printf(text, " %u", group))
        return false;
    if (member == 0)
        return true;
    if (generator->kinds[group] != QUERY_GROUP_SPELLINGS)
        return buffer_printf(text, " ") && append_word(text, hash_pair(words, member)) &&
               buffer_printf(text, " %zu", member);
    text->data[first + member % 6] = (char)('a' + member / 6 % 26);
    return buffer_printf(text, "%c", (int)('a' + member % 26));
}

/* ---- The whole log as a matrix --------------------------------------------------------------- */

struct column_frequency {
    uint32_t url, frequency;
};

static int by_frequency(const void *x, const void *y) {
    const struct column_frequency *p = x, *q = y;
    if (p->frequency != q->frequency)
        return p->frequency < q->frequency ? -1 : 1;
    return (p->url > q->url) - (p->url < q->url);
}

static int by_column(const void *x, const void *y) {
    const struct query_click *p = x, *q = y;
    return (p->url > q->url) - (p->url < q->url);
}

static cog_status number_columns(const struct query_log_generator *generator, uint32_t *columns,
                                 struct sparse_matrix *matrix, uint32_t **urls, cog_error *error) {
    const size_t pool = generator->shape.urls;
    struct column_frequency *frequencies = memory_zeroed_array(pool, sizeof *frequencies);
    struct query_click clicks[QUERY_CLICKS_MAX];
    if (!frequencies)
        return error_memory(error, pool * sizeof *frequencies, "columns");
    for (size_t url = 0; url < pool; url++)
        frequencies[url].url = (uint32_t)url;
    for (size_t row = 0; row < generator->shape.queries; row++) {
        size_t count = query_log_row(generator, row, clicks);
        matrix->offsets[row + 1] = matrix->offsets[row] + count;
        for (size_t i = 0; i < count; i++)
            frequencies[clicks[i].url].frequency++;
    }
    qsort(frequencies, pool, sizeof *frequencies, by_frequency);
    size_t unused = 0;
    while (unused < pool && frequencies[unused].frequency == 0)
        unused++;
    matrix->column_count = (uint32_t)(pool - unused);
    *urls = memory_array(pool - unused, sizeof **urls);
    for (size_t i = unused; *urls && i < pool; i++) {
        (*urls)[i - unused] = frequencies[i].url;
        columns[frequencies[i].url] = (uint32_t)(i - unused);
    }
    free(frequencies);
    return *urls ? COG_OK : error_memory(error, pool * sizeof **urls, "columns");
}

static void fill_rows(const struct query_log_generator *generator, const uint32_t *columns,
                      struct sparse_matrix *matrix) {
    struct query_click clicks[QUERY_CLICKS_MAX];
    for (size_t row = 0; row < generator->shape.queries; row++) {
        size_t count = query_log_row(generator, row, clicks);
        double squares = 0;
        for (size_t i = 0; i < count; i++) {
            clicks[i].url = columns[clicks[i].url];
            squares += (double)clicks[i].clicks * clicks[i].clicks;
        }
        qsort(clicks, count, sizeof *clicks, by_column);
        for (size_t i = 0; i < count; i++) {
            matrix->columns[matrix->offsets[row] + i] = clicks[i].url;
            matrix->values[matrix->offsets[row] + i] = (float)(clicks[i].clicks / sqrt(squares));
        }
    }
}

cog_status query_log_matrix(const struct query_log_generator *generator,
                            struct sparse_matrix *matrix, uint32_t **urls, cog_error *error) {
    const size_t rows = generator->shape.queries;
    *matrix = (struct sparse_matrix){.rows = rows};
    *urls = NULL;
    uint32_t *columns = memory_array(generator->shape.urls, sizeof *columns);
    matrix->offsets = memory_zeroed_array(rows + 1, sizeof *matrix->offsets);
    cog_status status = columns && matrix->offsets
                            ? number_columns(generator, columns, matrix, urls, error)
                            : error_memory(error, rows * sizeof *matrix->offsets, "rows");
    if (status == COG_OK) {
        matrix->columns = memory_array(matrix->offsets[rows], sizeof *matrix->columns);
        matrix->values = memory_array(matrix->offsets[rows], sizeof *matrix->values);
        if (matrix->columns && matrix->values)
            fill_rows(generator, columns, matrix);
        else
            status = error_memory(error, matrix->offsets[rows] * 8, "rows");
    }
    free(columns);
    if (status != COG_OK) {
        sparse_matrix_free(matrix);
        free(*urls);
        *urls = NULL;
    }
    return status;
}
