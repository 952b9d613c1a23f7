/* Converts wiki markup to plain text: templates, tables, references and files are removed; links
 * are replaced by their labels. Linear in the input, however deep or broken its nesting. */
#pragma once

#include "base/memory.h"

/* Buffers that are reused from page to page; zero-initialise. */
struct wiki_stripper {
    struct buffer without_tags, without_templates, plain;
    struct wiki_opening *openings;
    size_t opening_capacity;
};

/* *text is valid until the next call. Links to files, categories and media are removed with their
 * captions. They are recognised by the namespace names of the English and some other wikis, and by
 * `namespaces`, a list made by wiki_namespace_add, which may be empty. False if memory ran out. */
bool wiki_strip(struct wiki_stripper *stripper, struct bytes_view markup,
                struct bytes_view namespaces, struct bytes_view *text);
/* Adds a namespace name as the wiki spells it; case does not matter. False if memory ran out. */
bool wiki_namespace_add(struct buffer *namespaces, struct bytes_view name);
void wiki_stripper_free(struct wiki_stripper *stripper);
