#include "input/documents/wiki_markup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unicode/uchar.h>

#include "base/memory.h"
#include "base/strings.h"
#include "input/documents/html_entity.h"
#include "input/documents/text_bytes.h"
#include "input/parallel/wiki_languages.h"

/* Bounds keep broken markup from being searched again and again. */
enum { MAX_TAG_BYTES = 1000 };

enum opening_kind { OPEN_TEMPLATE, OPEN_PARAMETER, OPEN_TABLE, OPENING_KINDS };

/* Where something opened, as a place in the output that it may have to be cut back to. */
struct wiki_opening {
    size_t output;
    enum opening_kind kind;
};

/* A walk over markup that writes to a buffer with room for all of it. */
struct stripping {
    const char *at, *end, *start;
    char *out, *out_start;
};

static bool next_is(const struct stripping *s, const char *text) {
    size_t size = strlen(text);
    return (size_t)(s->end - s->at) >= size && memcmp(s->at, text, size) == 0;
}

static void copy_byte(struct stripping *s) {
    *s->out++ = *s->at++;
}

static bool begin(struct stripping *s, struct bytes_view in, struct buffer *out) {
    buffer_reset(out);
    if (!buffer_reserve(out, in.size + 1))
        return false;
    *s = (struct stripping){in.data, in.data + in.size, in.data, out->data, out->data};
    return true;
}

static struct bytes_view finish(const struct stripping *s, struct buffer *out) {
    out->size = (size_t)(s->out - s->out_start);
    return buffer_view(out);
}

/* Comments, and tags that go with what they enclose. */

static const char *const dropped_tags[] = {"ref",   "math",     "gallery",  "timeline", "score",
                                           "graph", "imagemap", "mapframe", "hiero",    "chem"};
enum { DROPPED_TAGS = sizeof dropped_tags / sizeof *dropped_tags };

/* The number of the tag in dropped_tags that opens at `at` (on '<'), or -1. */
static int dropped_tag(const struct stripping *s) {
    for (int i = 0; i < DROPPED_TAGS; i++) {
        size_t size = strlen(dropped_tags[i]);
        if ((size_t)(s->end - s->at) > size + 1 &&
            strncasecmp(s->at + 1, dropped_tags[i], size) == 0 &&
            is_one_of(s->at[1 + size], " \t\n/>"))
            return i;
    }
    return -1;
}

/* The end of "</name...>" from `from` on, or NULL. */
static const char *closing_tag(const char *from, const char *end, const char *name) {
    size_t size = strlen(name);
    while ((from = memchr(from, '<', (size_t)(end - from)))) {
        if ((size_t)(end - from) > size + 2 && from[1] == '/' &&
            strncasecmp(from + 2, name, size) == 0) {
            const char *close = memchr(from, '>', (size_t)(end - from));
            return close ? close + 1 : NULL;
        }
        from++;
    }
    return NULL;
}

/* Skips <tag/> or <tag>...</tag>; false when it is not closed. `unclosed` remembers names that have
 * no closing tag further on, so that each is searched for in vain once. */
static bool skip_element(struct stripping *s, int tag, bool unclosed[DROPPED_TAGS]) {
    size_t left = (size_t)(s->end - s->at);
    const char *close = memchr(s->at, '>', left < MAX_TAG_BYTES ? left : (size_t)MAX_TAG_BYTES);
    if (!close)
        return false;
    if (close[-1] == '/') {
        s->at = close + 1;
        return true;
    }
    const char *end = unclosed[tag] ? NULL : closing_tag(close + 1, s->end, dropped_tags[tag]);
    unclosed[tag] = !end;
    if (end)
        s->at = end;
    return end;
}

static void drop_comment(struct stripping *s) {
    const char *end = memmem(s->at + 4, (size_t)(s->end - s->at - 4), "-->", 3);
    s->at = end ? end + 3 : s->end;
}

static void drop_tags(struct stripping *s) {
    bool unclosed[DROPPED_TAGS] = {false};
    while (s->at < s->end) {
        const char *open = memchr(s->at, '<', (size_t)(s->end - s->at));
        size_t plain = (size_t)((open ? open : s->end) - s->at);
        memcpy(s->out, s->at, plain);
        s->at += plain;
        s->out += plain;
        if (!open)
            return;
        int tag = dropped_tag(s);
        if (next_is(s, "<!--"))
            drop_comment(s);
        else if (tag < 0 || !skip_element(s, tag, unclosed))
            copy_byte(s);
    }
}

/* Templates and tables. */

struct nesting {
    struct wiki_stripper *stripper;
    size_t depth;
    size_t open[OPENING_KINDS];
    bool out_of_memory;
};

static void push(struct stripping *s, struct nesting *nesting, enum opening_kind kind,
                 size_t size) {
    struct wiki_stripper *stripper = nesting->stripper;
    if (!memory_grow((void **)&stripper->openings, &stripper->opening_capacity, nesting->depth + 1,
                     sizeof *stripper->openings)) {
        nesting->out_of_memory = true;
        return;
    }
    stripper->openings[nesting->depth++] =
        (struct wiki_opening){(size_t)(s->out - s->out_start), kind};
    nesting->open[kind]++;
    for (size_t i = 0; i < size; i++)
        copy_byte(s);
}

/* Goes back to the last opening of this kind, whatever is still open inside it. */
static void pop(struct stripping *s, struct nesting *nesting, enum opening_kind kind, size_t size) {
    struct wiki_opening opening;
    do {
        opening = nesting->stripper->openings[--nesting->depth];
        nesting->open[opening.kind]--;
    } while (opening.kind != kind);
    s->out = s->out_start + opening.output;
    s->at += size;
}

static bool at_line_start(const struct stripping *s) {
    const char *before = s->at;
    while (before > s->start && (before[-1] == ' ' || before[-1] == '\t' || before[-1] == ':') &&
           s->at - before < 20)
        before--;
    return before == s->start || before[-1] == '\n';
}

static void close_braces(struct stripping *s, struct nesting *nesting) {
    bool parameter =
        nesting->depth && nesting->stripper->openings[nesting->depth - 1].kind == OPEN_PARAMETER;
    if (parameter)
        pop(s, nesting, OPEN_PARAMETER, next_is(s, "}}}") ? 3 : 2);
    else if (nesting->open[OPEN_TEMPLATE])
        pop(s, nesting, OPEN_TEMPLATE, 2);
    else
        copy_byte(s);
}

static bool drop_templates(struct stripping *s, struct wiki_stripper *stripper) {
    struct nesting nesting = {.stripper = stripper};
    while (s->at < s->end && !nesting.out_of_memory) {
        char c = *s->at;
        if (c != '{' && c != '}' && c != '|')
            copy_byte(s);
        else if (next_is(s, "{{{") && !next_is(s, "{{{{"))
            push(s, &nesting, OPEN_PARAMETER, 3);
        else if (next_is(s, "{{"))
            push(s, &nesting, OPEN_TEMPLATE, 2);
        else if (next_is(s, "{|") && at_line_start(s))
            push(s, &nesting, OPEN_TABLE, 2);
        else if (next_is(s, "}}"))
            close_braces(s, &nesting);
        else if (next_is(s, "|}") && !next_is(s, "|}}") && nesting.open[OPEN_TABLE] &&
                 at_line_start(s))
            pop(s, &nesting, OPEN_TABLE, 2);
        else
            copy_byte(s);
    }
    return !nesting.out_of_memory;
}

/* Links, emphasis, headings, lists, entities. */

/* The names of English wikis, which work in every wiki, and names that wikis have given up but keep
 * as aliases, which a dump does not list: folded, each between newlines. */
static const char known_namespaces[] =
    "\nfile\nimage\ncategory\nmedia\ndatei\nbild\nkategorie\nfichier\ncatégorie\narchivo\nimagen"
    "\ncategoría\nimmagine\ncategoria\nficheiro\nimagem\nbestand\nafbeelding\ncategorie\nplik"
    "\ngrafika\nkategoria\nfil\nkategori\nфайл\nкатегория\n";

enum { MAX_NAMESPACE_BYTES = 128 };

/* The name between newlines, folded, blanks at its ends left out; 0 if it is too long or empty. */
static size_t fold_name(struct bytes_view name, char folded[MAX_NAMESPACE_BYTES + 8]) {
    size_t size = 0;
    folded[size++] = '\n';
    for (size_t at = 0; at < name.size;) {
        uint32_t c;
        at += utf8_decode(name.data + at, name.size - at, &c);
        if ((c == ' ' || c == '_') && (size == 1 || at == name.size))
            continue;
        if (size > MAX_NAMESPACE_BYTES || c == '\n')
            return 0;
        size += utf8_encode(c == '_' ? ' ' : (uint32_t)u_foldCase((UChar32)c, U_FOLD_CASE_DEFAULT),
                            folded + size);
    }
    folded[size++] = '\n';
    return size > 2 ? size : 0;
}

bool wiki_namespace_add(struct buffer *namespaces, struct bytes_view name) {
    char folded[MAX_NAMESPACE_BYTES + 8];
    return buffer_append(namespaces, folded, fold_name(name, folded));
}

enum { MAX_LINK_DEPTH = 32 };

struct links {
    size_t outputs[MAX_LINK_DEPTH]; /* where the open links' contents start in the output */
    size_t depth;
    size_t addresses; /* open brackets of outside links on this line */
    struct bytes_view namespaces;
};

static bool is_dropped_namespace(const char *target, size_t size, struct bytes_view namespaces) {
    char folded[MAX_NAMESPACE_BYTES + 8];
    const char *colon = size ? memchr(target, ':', size) : NULL;
    size_t length = colon ? fold_name(view_of(target, (size_t)(colon - target)), folded) : 0;
    return length &&
           (memmem(known_namespaces, sizeof known_namespaces - 1, folded, length) ||
            (namespaces.size && memmem(namespaces.data, namespaces.size, folded, length)));
}

/* Output before this place belongs to no open link and stays. */
static const char *link_floor(const struct stripping *s, const struct links *links) {
    return s->out_start + (links->depth ? links->outputs[links->depth - 1] : 0);
}

/* At "]]": the output since "[[" becomes the label, or is dropped. */
static void close_link(struct stripping *s, struct links *links) {
    char *content = s->out_start + links->outputs[--links->depth];
    size_t size = (size_t)(s->out - content);
    const char *bar = size ? memchr(content, '|', size) : NULL;
    const char *label = bar ? bar + 1 : content + (size && *content == ':');
    size_t target = bar ? (size_t)(bar - content) : size;
    if (is_dropped_namespace(content, target, links->namespaces) ||
        wiki_language_code(content, target)) {
        s->out = content;
    } else {
        size_t length = (size_t)(s->out - label);
        memmove(content, label, length);
        s->out = content + length;
    }
    s->at += 2;
}

/* At "[http://... label]": the address goes. */
static bool skip_address(struct stripping *s) {
    static const char *const schemes[] = {"[http://", "[https://", "[//", "[ftp://", "[mailto:"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (!next_is(s, schemes[i]))
            continue;
        while (s->at < s->end && *s->at != ' ' && *s->at != ']' && *s->at != '\n')
            s->at++;
        if (s->at < s->end && *s->at == ' ')
            s->at++;
        return true;
    }
    return false;
}

/* At '<': drops a tag; tags that break lines leave a newline. */
static bool skip_tag(struct stripping *s) {
    static const char *const breaking[] = {"br", "p", "div", "li", "tr", "td", "th", "hr"};
    const char *name = s->at + 1;
    if (name < s->end && *name == '/')
        name++;
    size_t left = (size_t)(s->end - s->at);
    const char *close =
        name < s->end && is_letter(*name)
            ? memchr(s->at, '>', left < MAX_TAG_BYTES ? left : (size_t)MAX_TAG_BYTES)
            : NULL;
    if (!close)
        return false;
    size_t length = 0;
    while (is_letter(name[length]))
        length++;
    s->at = close + 1;
    for (size_t i = 0; i < sizeof breaking / sizeof *breaking; i++)
        if (strlen(breaking[i]) == length && strncasecmp(name, breaking[i], length) == 0) {
            *s->out++ = '\n';
            break;
        }
    return true;
}

/* At '&'. */
static bool decode_entity(struct stripping *s) {
    unsigned code;
    size_t size = html_entity_decode(view_of(s->at, (size_t)(s->end - s->at)), &code);
    if (size)
        s->out += utf8_encode(code, s->out);
    s->at += size;
    return size > 0;
}

static void skip_run(struct stripping *s, const char *bytes) {
    while (s->at < s->end && is_one_of(*s->at, bytes))
        s->at++;
}

/* Marks of headings, lists and rules at the start of a line. */
static bool start_line(struct stripping *s) {
    bool heading = s->at < s->end && *s->at == '=';
    if (heading)
        skip_run(s, "= ");
    else if (next_is(s, "----"))
        skip_run(s, "-");
    else if (s->at < s->end && is_one_of(*s->at, "*#:;"))
        skip_run(s, "*#:; ");
    return heading;
}

/* At '=' in a heading: drops the closing marks, or copies a run of marks and blanks that is
 * followed by more text. A run is looked at once. */
static void heading_marks(struct stripping *s, const struct links *links) {
    const char *begin = s->at;
    skip_run(s, "= \t");
    if (s->at < s->end && *s->at != '\n') {
        s->out = mempcpy(s->out, begin, (size_t)(s->at - begin));
        return;
    }
    const char *floor = link_floor(s, links);
    while (s->out > floor && (s->out[-1] == ' ' || s->out[-1] == '\t'))
        s->out--;
}

/* __TOC__ and the like. */
static bool skip_magic_word(struct stripping *s) {
    const char *at = s->at + 2;
    while (at < s->end && *at >= 'A' && *at <= 'Z')
        at++;
    if (at - s->at < 5 || s->end - at < 2 || at[0] != '_' || at[1] != '_')
        return false;
    s->at = at + 2;
    return true;
}

static void newline(struct stripping *s, struct links *links) {
    bool two = s->out - link_floor(s, links) >= 2 && s->out[-1] == '\n' && s->out[-2] == '\n';
    s->at++;
    links->addresses = 0;
    if (!two && s->out > s->out_start)
        *s->out++ = '\n';
}

/* At '(': templates of pronunciations and foreign names leave "(; , a hero)", of which "(a hero)"
 * is to be read. */
static void open_parenthesis(struct stripping *s) {
    copy_byte(s);
    const char *at = s->at;
    while (at < s->end && is_one_of(*at, " ;,"))
        at++;
    if (memchr(s->at, ';', (size_t)(at - s->at)) || memchr(s->at, ',', (size_t)(at - s->at)))
        s->at = at;
}

/* At ')': a pair of parentheses with nothing inside goes, if it stands apart: "f()" is a name. */
static void close_parenthesis(struct stripping *s, const struct links *links) {
    const char *floor = link_floor(s, links);
    char *before = s->out;
    while (before > floor && is_one_of(before[-1], " ;,"))
        before--;
    if (before - floor >= 2 && before[-1] == '(' && before[-2] == ' ') {
        s->out = before - 2;
        s->at++;
    } else {
        copy_byte(s);
    }
}

/* The bytes that plain_step has to look at; asked for every byte. */
static bool is_inline_mark(char c) {
    return c == '[' || c == ']' || c == '\'' || c == '<' || c == '&' || c == '_' || c == '(' ||
           c == ')';
}

static void plain_step(struct stripping *s, struct links *links) {
    bool link = next_is(s, "[[") && links->depth < MAX_LINK_DEPTH;
    if (link) {
        links->outputs[links->depth++] = (size_t)(s->out - s->out_start);
        s->at += 2;
    } else if (next_is(s, "]]") && links->depth) {
        close_link(s, links);
    } else if (next_is(s, "''")) {
        skip_run(s, "'");
    } else if (*s->at == '(') {
        open_parenthesis(s);
    } else if (*s->at == ')') {
        close_parenthesis(s, links);
    } else if (*s->at == '[' && skip_address(s)) {
        links->addresses++;
    } else if (*s->at == ']' && links->addresses) {
        links->addresses--;
        s->at++;
    } else if ((*s->at == '<' && skip_tag(s)) || (*s->at == '&' && decode_entity(s)) ||
               (next_is(s, "__") && skip_magic_word(s))) {
        return;
    } else {
        copy_byte(s);
    }
}

static void strip_inline(struct stripping *s, struct bytes_view namespaces) {
    struct links links = {.namespaces = namespaces};
    bool heading = start_line(s);
    while (s->at < s->end) {
        if (*s->at == '\n') {
            newline(s, &links);
            heading = start_line(s);
        } else if (heading && *s->at == '=') {
            heading_marks(s, &links);
        } else if (is_inline_mark(*s->at)) {
            plain_step(s, &links);
        } else {
            copy_byte(s);
        }
    }
    while (s->out > s->out_start && is_one_of(s->out[-1], " \n\t"))
        s->out--;
}

bool wiki_strip(struct wiki_stripper *stripper, struct bytes_view markup,
                struct bytes_view namespaces, struct bytes_view *text) {
    struct stripping s;
    if (!begin(&s, markup, &stripper->without_tags))
        return false;
    drop_tags(&s);
    if (!begin(&s, finish(&s, &stripper->without_tags), &stripper->without_templates) ||
        !drop_templates(&s, stripper))
        return false;
    if (!begin(&s, finish(&s, &stripper->without_templates), &stripper->plain))
        return false;
    strip_inline(&s, namespaces);
    *text = finish(&s, &stripper->plain);
    return true;
}

void wiki_stripper_free(struct wiki_stripper *stripper) {
    buffer_free(&stripper->without_tags);
    buffer_free(&stripper->without_templates);
    buffer_free(&stripper->plain);
    free(stripper->openings);
    *stripper = (struct wiki_stripper){0};
}
