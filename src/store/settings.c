#include "store/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"

enum { MAX_KEY_BYTES = 255, ENTRY_HEAD_BYTES = 6, NUMBER_BYTES = 8 };

/* The first entry whose key is not below `key`. */
static size_t lower_bound(const struct settings *settings, const char *key) {
    size_t low;
    FIND_FIRST_NOT(low, 0, settings->count, strcmp(settings->entries[low].key, key) < 0);
    return low;
}

static const struct setting *find(const struct settings *settings, const char *key,
                                  enum setting_type type) {
    size_t place = lower_bound(settings, key);
    if (place == settings->count || strcmp(settings->entries[place].key, key) != 0)
        return NULL;
    return settings->entries[place].type == type ? &settings->entries[place] : NULL;
}

static void entry_free(struct setting *entry) {
    FREE(entry->key, entry->text);
}

static cog_status check_entry(const struct setting *entry, cog_error *error) {
    if (!entry->key || (entry->type == SETTING_TEXT && !entry->text))
        return error_memory(error, MAX_KEY_BYTES, "settings");
    size_t length = strlen(entry->key);
    if (length > 0 && length <= MAX_KEY_BYTES)
        return COG_OK;
    return error_set(error, COG_ERR_USAGE, "the name of a setting has %zu bytes; 1 to %d fit",
                     length, MAX_KEY_BYTES);
}

/* Sets *place to where the entry of this key belongs; frees the entry that it replaces. */
static cog_status make_place(struct settings *settings, const char *key, struct setting **place,
                             cog_error *error) {
    size_t at = lower_bound(settings, key);
    if (at < settings->count && strcmp(settings->entries[at].key, key) == 0) {
        entry_free(&settings->entries[at]);
    } else {
        GROW(settings->entries, settings->capacity, settings->count + 1, "settings", error);
        memmove(settings->entries + at + 1, settings->entries + at,
                (settings->count - at) * sizeof *settings->entries);
        settings->count++;
    }
    *place = &settings->entries[at];
    return COG_OK;
}

/* Takes over the strings of entry, also when it fails. */
static cog_status put(struct settings *settings, struct setting entry, cog_error *error) {
    struct setting *place = NULL;
    cog_status status = check_entry(&entry, error);
    THEN(status, make_place(settings, entry.key, &place, error));
    if (status == COG_OK)
        *place = entry;
    else
        entry_free(&entry);
    return status;
}

cog_status settings_set_text(struct settings *settings, const char *key, const char *text,
                             cog_error *error) {
    struct setting entry = {.key = strdup(key), .type = SETTING_TEXT, .text = strdup(text)};
    return put(settings, entry, error);
}

cog_status settings_set_u64(struct settings *settings, const char *key, uint64_t number,
                            cog_error *error) {
    struct setting entry = {.key = strdup(key), .type = SETTING_U64, .number = number};
    return put(settings, entry, error);
}

cog_status settings_set_double(struct settings *settings, const char *key, double real,
                               cog_error *error) {
    struct setting entry = {.key = strdup(key), .type = SETTING_DOUBLE, .real = real};
    return put(settings, entry, error);
}

cog_status settings_copy(struct settings *settings, const struct settings *from, cog_error *error) {
    return settings_copy_some(settings, from, "", true, error);
}

cog_status settings_copy_some(struct settings *settings, const struct settings *from,
                              const char *prefix, bool begins, cog_error *error) {
    for (size_t i = 0; i < from->count; i++) {
        struct setting entry = from->entries[i];
        if ((strncmp(entry.key, prefix, strlen(prefix)) == 0) != begins)
            continue;
        entry.key = strdup(entry.key);
        entry.text = entry.text ? strdup(entry.text) : NULL;
        TRY(put(settings, entry, error));
    }
    return COG_OK;
}

bool settings_get_text(const struct settings *settings, const char *key, const char **value) {
    const struct setting *entry = find(settings, key, SETTING_TEXT);
    if (entry)
        *value = entry->text;
    return entry;
}

bool settings_get_u64(const struct settings *settings, const char *key, uint64_t *value) {
    const struct setting *entry = find(settings, key, SETTING_U64);
    if (entry)
        *value = entry->number;
    return entry;
}

bool settings_get_double(const struct settings *settings, const char *key, double *value) {
    const struct setting *entry = find(settings, key, SETTING_DOUBLE);
    if (entry)
        *value = entry->real;
    return entry;
}

static void show_value(const struct setting *entry, char *text, size_t size) {
    if (!entry)
        snprintf(text, size, "absent");
    else if (entry->type == SETTING_TEXT)
        snprintf(text, size, "\"%s\"", entry->text);
    else if (entry->type == SETTING_U64)
        snprintf(text, size, "%llu", (unsigned long long)entry->number);
    else
        snprintf(text, size, "%.17g", entry->real);
}

static bool value_equal(const struct setting *a, const struct setting *b) {
    if (a->type != b->type)
        return false;
    if (a->type == SETTING_TEXT)
        return strcmp(a->text, b->text) == 0;
    return a->type == SETTING_U64 ? a->number == b->number
                                  : memcmp(&a->real, &b->real, sizeof a->real) == 0;
}

bool settings_equal(const struct settings *here, const struct settings *there,
                    char difference[SETTINGS_DIFFERENCE_BYTES]) {
    size_t a = 0, b = 0;
    while (a < here->count || b < there->count) {
        const struct setting *left = a < here->count ? &here->entries[a] : NULL;
        const struct setting *right = b < there->count ? &there->entries[b] : NULL;
        int order = !left ? 1 : !right ? -1 : strcmp(left->key, right->key);
        if (order == 0 && value_equal(left, right)) {
            a++;
            b++;
            continue;
        }
        if (difference) {
            char left_text[80], right_text[80];
            show_value(order <= 0 ? left : NULL, left_text, sizeof left_text);
            show_value(order >= 0 ? right : NULL, right_text, sizeof right_text);
            snprintf(difference, SETTINGS_DIFFERENCE_BYTES, "%.60s is %s here and %s there",
                     order <= 0 ? left->key : right->key, left_text, right_text);
        }
        return false;
    }
    return true;
}

static bool append_entry(struct buffer *bytes, const struct setting *entry) {
    uint8_t number[NUMBER_BYTES];
    uint64_t bits = entry->number;
    if (entry->type == SETTING_DOUBLE)
        memcpy(&bits, &entry->real, sizeof bits);
    encode_u64(number, bits);
    bool is_text = entry->type == SETTING_TEXT;
    const void *value = is_text ? (const void *)entry->text : number;
    size_t value_size = is_text ? strlen(entry->text) : NUMBER_BYTES, key_size = strlen(entry->key);
    uint8_t head[ENTRY_HEAD_BYTES] = {(uint8_t)entry->type, (uint8_t)key_size};
    encode_u32(head + 2, (uint32_t)value_size);
    return value_size <= UINT32_MAX && buffer_append(bytes, head, sizeof head) &&
           buffer_append(bytes, entry->key, key_size) && buffer_append(bytes, value, value_size);
}

cog_status settings_write(const struct settings *settings, struct container_writer *writer,
                          cog_error *error) {
    struct buffer bytes = {0};
    uint8_t count[4];
    encode_u32(count, (uint32_t)settings->count);
    bool ok = buffer_append(&bytes, count, sizeof count);
    for (size_t i = 0; ok && i < settings->count; i++)
        ok = append_entry(&bytes, &settings->entries[i]);
    cog_status status =
        ok ? container_writer_section(writer, SECTION_SETTINGS, bytes.data, bytes.size, error)
           : error_memory(error, bytes.size, "settings");
    buffer_free(&bytes);
    return status;
}

/* Reads one entry at *at; false when the bytes are not an entry. */
static bool parse_entry(struct bytes_view bytes, size_t *at, struct setting *entry) {
    const uint8_t *data = (const uint8_t *)bytes.data + *at;
    size_t left = bytes.size - *at;
    if (left < ENTRY_HEAD_BYTES)
        return false;
    size_t key_size = data[1], value_size = decode_u32(data + 2);
    left -= ENTRY_HEAD_BYTES;
    if (data[0] < SETTING_TEXT || data[0] > SETTING_DOUBLE || key_size == 0 || key_size > left ||
        value_size > left - key_size)
        return false;
    const uint8_t *key = data + ENTRY_HEAD_BYTES, *value = key + key_size;
    bool is_text = data[0] == SETTING_TEXT;
    if (memchr(key, 0, key_size) ||
        (is_text ? memchr(value, 0, value_size) != NULL : value_size != NUMBER_BYTES))
        return false;
    *entry = (struct setting){.type = (enum setting_type)data[0]};
    entry->key = strndup((const char *)key, key_size);
    if (is_text) {
        entry->text = strndup((const char *)value, value_size);
    } else {
        entry->number = decode_u64(value);
        memcpy(&entry->real, &entry->number, sizeof entry->real);
    }
    *at += ENTRY_HEAD_BYTES + key_size + value_size;
    return true;
}

static cog_status read_entries(const struct container *container, struct bytes_view bytes,
                               struct settings *settings, cog_error *error) {
    size_t at = 4;
    uint32_t count = bytes.size >= 4 ? decode_u32((const uint8_t *)bytes.data) : UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        struct setting entry;
        if (bytes.size < 4 || !parse_entry(bytes, &at, &entry))
            return error_set_at(
                error, COG_ERR_FORMAT, i,
                "%s: entry %u of the settings is damaged; make or copy the file again",
                container->path, i);
        bool rising = settings->count == 0 || !entry.key ||
                      strcmp(settings->entries[settings->count - 1].key, entry.key) < 0;
        cog_status status = put(settings, entry, error);
        if (status == COG_OK && !rising)
            status = error_set_at(error, COG_ERR_FORMAT, i,
                                  "%s: the settings are not in order; make or copy the file again",
                                  container->path);
        if (status != COG_OK)
            return status;
    }
    if (at != bytes.size)
        return error_set(error, COG_ERR_FORMAT,
                         "%s: bytes behind the settings; make or copy the file again",
                         container->path);
    return COG_OK;
}

cog_status settings_read(const struct container *container, struct settings *settings,
                         cog_error *error) {
    struct bytes_view bytes;
    cog_status status = container_require(container, SECTION_SETTINGS, &bytes, error);
    THEN(status, read_entries(container, bytes, settings, error));
    if (status != COG_OK)
        settings_free(settings);
    return status;
}

void settings_free(struct settings *settings) {
    for (size_t i = 0; i < settings->count; i++)
        entry_free(&settings->entries[i]);
    free(settings->entries);
    *settings = (struct settings){0};
}
