/* Settings: a file's record of how its content was made, as typed values under short names. Two
 * files are compatible only if their settings are equal; otherwise the first difference is
 * reported. The caller owns the entries. A lookup takes log n comparisons. */
#pragma once

#include "store/container.h"

#define SECTION_SETTINGS CONTAINER_TAG('s', 'e', 't', 't')

enum setting_type { SETTING_TEXT = 1, SETTING_U64 = 2, SETTING_DOUBLE = 3 };

struct setting {
    char *key;
    enum setting_type type;
    char *text; /* SETTING_TEXT: zero-terminated */
    uint64_t number;
    double real;
};

/* Zero-initialise; settings_free releases. Entries are sorted by key. */
struct settings {
    struct setting *entries;
    size_t count, capacity;
};

/* Adds or replaces; key (1 to 255 bytes) and text are copied. */
cog_status settings_set_text(struct settings *settings, const char *key, const char *text,
                             cog_error *error);
cog_status settings_set_u64(struct settings *settings, const char *key, uint64_t number,
                            cog_error *error);
cog_status settings_set_double(struct settings *settings, const char *key, double real,
                               cog_error *error);

/* False, with *value unchanged, if there is no entry of this type. The text is borrowed until the
 * next change. */
bool settings_get_text(const struct settings *settings, const char *key, const char **value);
bool settings_get_u64(const struct settings *settings, const char *key, uint64_t *value);
bool settings_get_double(const struct settings *settings, const char *key, double *value);

/* Adds all entries of `from`. */
cog_status settings_copy(struct settings *settings, const struct settings *from, cog_error *error);
/* Adds the entries whose keys begin with `prefix`, or, if `begins` is false, those whose keys do
 * not. */
cog_status settings_copy_some(struct settings *settings, const struct settings *from,
                              const char *prefix, bool begins, cog_error *error);

/* Doubles are compared by their bits. If the settings differ, `difference` (which may be NULL)
 * receives the first difference: "bits is 1024 here and 64 there". */
enum { SETTINGS_DIFFERENCE_BYTES = 256 };
bool settings_equal(const struct settings *here, const struct settings *there,
                    char difference[SETTINGS_DIFFERENCE_BYTES]);

cog_status settings_write(const struct settings *settings, struct container_writer *writer,
                          cog_error *error);
/* Fills zeroed settings from the file's section. */
cog_status settings_read(const struct container *container, struct settings *settings,
                         cog_error *error);

void settings_free(struct settings *settings);
