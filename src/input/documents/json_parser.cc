#include "input/documents/json_parser.h"
#include "base/strings.h"

#include <simdjson.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

static size_t digit_run(const char *data, size_t at, size_t size) {
    size_t start = at;
    while (at < size && data[at] >= '0' && data[at] <= '9')
        at++;
    return at - start;
}

bool json_token_is_number(struct bytes_view token) {
    const char *data = token.data;
    size_t at = token.size && data[0] == '-' ? 1 : 0;
    size_t digits = digit_run(data, at, token.size);
    if (digits == 0 || (digits > 1 && data[at] == '0'))
        return false;
    at += digits;
    if (at < token.size && data[at] == '.') {
        digits = digit_run(data, ++at, token.size);
        if (digits == 0)
            return false;
        at += digits;
    }
    if (at < token.size && (data[at] == 'e' || data[at] == 'E')) {
        at++;
        if (at < token.size && (data[at] == '+' || data[at] == '-'))
            at++;
        digits = digit_run(data, at, token.size);
        if (digits == 0)
            return false;
        at += digits;
    }
    return at == token.size;
}

static bool json_token_is_literal(struct bytes_view token) {
    static const char *const literals[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
        if (view_is(token, literals[i]))
            return true;
    return false;
}

/* Four hexadecimal digits, or -1. */
static int hex_unit(const char *data) {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = data[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* \uXXXX at `at` (behind the backslash); a high surrogate needs its low one. Returns the bytes
 * consumed from `at`, or 0 when the escape is not legal. */
static size_t decode_unicode(const char *at, const char *end, char *out, size_t *written) {
    if (end - at < 5)
        return 0;
    int unit = hex_unit(at + 1);
    if (unit < 0 || (unit >= 0xdc00 && unit < 0xe000))
        return 0;
    if (unit < 0xd800 || unit >= 0xe000) {
        *written = utf8_encode((unsigned)unit, out);
        return 5;
    }
    if (end - at < 11 || at[5] != '\\' || at[6] != 'u')
        return 0;
    int low = hex_unit(at + 7);
    if (low < 0xdc00 || low >= 0xe000)
        return 0;
    *written =
        utf8_encode(0x10000 + (((unsigned)unit - 0xd800) << 10) + ((unsigned)low - 0xdc00), out);
    return 11;
}

/* The escape at `at` (behind the backslash) to `out` (4 bytes). Returns the bytes consumed, 0 if
 * illegal. */
static size_t decode_escape(const char *at, const char *end, char *out, size_t *written) {
    if (at == end)
        return 0;
    *written = 1;
    switch (*at) {
    case '"':
    case '\\':
    case '/':
        *out = *at;
        return 1;
    case 'b':
        *out = '\b';
        return 1;
    case 'f':
        *out = '\f';
        return 1;
    case 'n':
        *out = '\n';
        return 1;
    case 'r':
        *out = '\r';
        return 1;
    case 't':
        *out = '\t';
        return 1;
    case 'u':
        return decode_unicode(at, end, out, written);
    default:
        return 0;
    }
}

static bool is_quoted(struct bytes_view token) {
    return token.size >= 2 && token.data[0] == '"' && token.data[token.size - 1] == '"';
}

/* Decodes [at, end), which starts with a backslash, to `out`; NULL when an escape is illegal. No
 * escape is shorter than what it stands for, so `out` needs no more bytes than come in. */
static char *decode_run(const char *at, const char *end, char *out) {
    while (at < end) {
        size_t written = 0;
        size_t used = decode_escape(at + 1, end, out, &written);
        if (used == 0)
            return NULL;
        at += 1 + used;
        out += written;
        const char *next = (const char *)memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((next ? next : end) - at);
        memcpy(out, at, plain);
        at += plain;
        out += plain;
    }
    return out;
}

enum parse_result json_string_decode(struct bytes_view token, struct buffer *decoded,
                                     struct bytes_view *text) {
    if (!is_quoted(token))
        return PARSE_BAD;
    const char *start = token.data + 1, *end = token.data + token.size - 1;
    const char *escape = (const char *)memchr(start, '\\', (size_t)(end - start));
    *text = view_of(start, (size_t)(end - start));
    if (!escape)
        return PARSE_OK;
    if (!buffer_reserve(decoded, token.size))
        return PARSE_OUT_OF_MEMORY;
    char *out = decoded->data + decoded->size;
    memcpy(out, start, (size_t)(escape - start));
    const char *stop = decode_run(escape, end, out + (escape - start));
    if (!stop)
        return PARSE_BAD;
    *text = view_of(out, (size_t)(stop - out));
    decoded->size += text->size;
    return PARSE_OK;
}

/* Whether every escape of a string token is legal (no lone surrogates). */
static bool json_string_is_valid(struct bytes_view token) {
    if (!is_quoted(token))
        return false;
    const char *at = token.data + 1, *end = token.data + token.size - 1;
    while ((at = (const char *)memchr(at, '\\', (size_t)(end - at)))) {
        char out[4];
        size_t written;
        size_t used = decode_escape(at + 1, end, out, &written);
        if (used == 0)
            return false;
        at += 1 + used;
    }
    return true;
}

static_assert(size_t(JSON_PADDING_BYTES) >= simdjson::SIMDJSON_PADDING,
              "records need more padding");

namespace ondemand = simdjson::ondemand;

struct json_parser {
    ondemand::parser parser;
};

namespace {

/* Deeper nesting is refused, because validating recurses. */
constexpr int MAX_DEPTH = 500;

const char *const PROBLEM_SCALAR = "a value is neither string, number, true, false nor null";
const char *const PROBLEM_ESCAPE = "a string holds an illegal escape or half a surrogate pair";
const char *const PROBLEM_DEPTH = "objects or arrays are nested more than 500 deep";

bytes_view token_of(ondemand::value &value) {
    std::string_view token = value.raw_json_token();
    size_t size = token.size();
    while (size && is_one_of(token[size - 1], " \t\r\n"))
        size--;
    return view_of(token.data(), size);
}

/* Stage 1 of simdjson has checked UTF-8 and control characters; the iterators check the structure;
 * this checks the scalars, which on-demand parsing would leave unseen. NULL when all is well. */
const char *check(ondemand::value value, int depth);

/* Calls visit(key, value) for each member, until it finds a problem. */
template <typename Visit> const char *each_member(ondemand::object &object, Visit visit) {
    for (auto field : object) {
        std::string_view key;
        ondemand::value value;
        if (auto code = field.unescaped_key().get(key))
            return simdjson::error_message(code);
        if (auto code = field.value().get(value))
            return simdjson::error_message(code);
        if (const char *problem = visit(key, value))
            return problem;
    }
    return nullptr;
}

const char *check_object(ondemand::object object, int depth) {
    return each_member(object, [depth](std::string_view, ondemand::value &value) {
        return check(value, depth + 1);
    });
}

const char *check_array(ondemand::array array, int depth) {
    for (auto element : array) {
        ondemand::value value;
        if (auto code = element.get(value))
            return simdjson::error_message(code);
        if (const char *problem = check(value, depth + 1))
            return problem;
    }
    return nullptr;
}

const char *check_scalar(bytes_view token) {
    if (token.size && token.data[0] == '"')
        return json_string_is_valid(token) ? nullptr : PROBLEM_ESCAPE;
    return json_token_is_number(token) || json_token_is_literal(token) ? nullptr : PROBLEM_SCALAR;
}

const char *check(ondemand::value value, int depth) {
    if (depth > MAX_DEPTH)
        return PROBLEM_DEPTH;
    bytes_view token = token_of(value);
    if (token.size == 0)
        return PROBLEM_SCALAR;
    if (token.data[0] == '{') {
        ondemand::object object;
        auto code = value.get_object().get(object);
        return code ? simdjson::error_message(code) : check_object(object, depth);
    }
    if (token.data[0] == '[') {
        ondemand::array array;
        auto code = value.get_array().get(array);
        return code ? simdjson::error_message(code) : check_array(array, depth);
    }
    return check_scalar(token);
}

/* What is looked for inside one value: of each field the part of its name that is left there, or
 * nothing (data NULL). */
struct search {
    json_field *fields;
    size_t count;
    std::string_view rest[JSON_MAX_FIELDS];
    bool own_name[JSON_MAX_FIELDS]; /* a key had the whole name; it wins over a path */
};

/* The search inside the value of `key`; false if nothing is looked for there. */
bool search_below(const search &here, std::string_view key, search &below) {
    bool any = false;
    below = search{here.fields, here.count, {}, {}};
    for (size_t i = 0; i < here.count; i++) {
        std::string_view rest = here.rest[i];
        if (here.fields[i].token.size || rest.size() <= key.size() || rest[key.size()] != '.' ||
            rest.substr(0, key.size()) != key)
            continue;
        below.rest[i] = rest.substr(key.size() + 1);
        any = true;
    }
    return any;
}

/* Takes the value of `key` where it is wanted; whether it was. */
bool take_token(search &here, std::string_view key, ondemand::value &value) {
    bool taken = false;
    for (size_t i = 0; i < here.count; i++) {
        if (here.own_name[i] || !here.rest[i].data() || here.rest[i] != key)
            continue;
        here.fields[i].token = token_of(value);
        here.own_name[i] = taken = true;
    }
    return taken;
}

const char *take_members(search &here, ondemand::value &value, int depth);

/* A member of an object or an array: its tokens are taken, and all of it is checked. */
const char *take_member(search &here, std::string_view key, ondemand::value &value, int depth) {
    search below;
    take_token(here, key, value);
    return search_below(here, key, below) ? take_members(below, value, depth) : check(value, depth);
}

const char *take_from_object(search &here, ondemand::object &object, int depth) {
    return each_member(object, [&here, depth](std::string_view key, ondemand::value &value) {
        return take_member(here, key, value, depth + 1);
    });
}

const char *take_from_array(search &here, ondemand::array &array, int depth) {
    size_t number = 0;
    for (auto element : array) {
        char key[24];
        ondemand::value value;
        if (auto code = element.get(value))
            return simdjson::error_message(code);
        int size = std::snprintf(key, sizeof key, "%zu", number++);
        if (const char *problem =
                take_member(here, std::string_view(key, size_t(size)), value, depth + 1))
            return problem;
    }
    return nullptr;
}

const char *take_members(search &here, ondemand::value &value, int depth) {
    ondemand::object object;
    ondemand::array array;
    if (depth > MAX_DEPTH)
        return PROBLEM_DEPTH;
    switch (*value.raw_json_token().data()) {
    case '{':
        if (auto code = value.get_object().get(object))
            return simdjson::error_message(code);
        return take_from_object(here, object, depth);
    case '[':
        if (auto code = value.get_array().get(array))
            return simdjson::error_message(code);
        return take_from_array(here, array, depth);
    default:
        return check(value, depth);
    }
}

/* One top-level field: strings that are wanted are checked when they are decoded, all else here. */
const char *take_field(search &here, ondemand::field field) {
    std::string_view key;
    search below;
    if (auto code = field.unescaped_key().get(key))
        return simdjson::error_message(code);
    ondemand::value value = field.value();
    if (take_token(here, key, value) && token_of(value).data[0] == '"')
        return nullptr;
    return search_below(here, key, below) ? take_members(below, value, 1) : check(value, 1);
}

simdjson::error_code start(ondemand::parser &parser, const char *data, size_t size,
                           ondemand::document &document) {
    if (parser.capacity() < size) {
        size_t capacity = 4096;
        while (capacity < size && capacity < parser.max_capacity() / 2)
            capacity *= 2;
        if (auto code = parser.allocate(capacity < size ? size : capacity))
            return code;
    }
    return parser.iterate(data, size, size + JSON_PADDING_BYTES).get(document);
}

const char *take_fields(ondemand::document &document, json_field *fields, size_t count) {
    search here = {fields, count, {}, {}};
    ondemand::object object;
    for (size_t i = 0; i < count; i++)
        here.rest[i] = std::string_view(fields[i].name.data, fields[i].name.size);
    if (auto code = document.get_object().get(object))
        return code == simdjson::INCORRECT_TYPE ? "the record is not an object"
                                                : "the object does not end where the record ends";
    for (auto result : object) {
        ondemand::field field;
        if (auto code = std::move(result).get(field))
            return simdjson::error_message(code);
        if (const char *problem = take_field(here, field))
            return problem;
    }
    bool at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    return at_end ? nullptr : "something follows the object on its line";
}

} // namespace

json_parser *json_parser_create(void) {
    return new (std::nothrow) json_parser;
}

void json_parser_free(json_parser *parser) {
    delete parser;
}

parse_result json_parser_find(json_parser *parser, const char *data, size_t size,
                              json_field *fields, size_t count, const char **problem) {
    for (size_t i = 0; i < count; i++)
        fields[i].token = view_of(data, 0);
    ondemand::document document;
    simdjson::error_code code = start(parser->parser, data, size, document);
    if (code == simdjson::MEMALLOC)
        return PARSE_OUT_OF_MEMORY;
    *problem = code ? simdjson::error_message(code) : take_fields(document, fields, count);
    return *problem ? PARSE_BAD : PARSE_OK;
}

bool json_has_name(struct bytes_view object, struct bytes_view name) {
    const char *at = object.data, *end = object.data + object.size;
    while ((at = (const char *)memmem(at, (size_t)(end - at), name.data, name.size))) {
        at += name.size;
        const char *next = at;
        while (next < end && is_one_of(*next, " \t\r\n"))
            next++;
        if (next < end && *next == ':')
            return true;
    }
    return false;
}
