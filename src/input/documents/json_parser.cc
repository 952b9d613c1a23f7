#include "input/documents/json_parser.h"

#include <simdjson.h>

#include <cstring>
#include <new>
#include <utility>

#include "input/characters.h"

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

const char *check_object(ondemand::object object, int depth) {
    for (auto field : object) {
        std::string_view key;
        ondemand::value value;
        if (auto code = field.unescaped_key().get(key))
            return simdjson::error_message(code);
        if (auto code = field.value().get(value))
            return simdjson::error_message(code);
        if (const char *problem = check(value, depth + 1))
            return problem;
    }
    return nullptr;
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

json_field *wanted_field(std::string_view key, json_field *fields, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (fields[i].name.size == key.size() &&
            std::memcmp(fields[i].name.data, key.data(), key.size()) == 0)
            return &fields[i];
    return nullptr;
}

/* One top-level field: strings that are wanted are checked when they are decoded, all else here. */
const char *take_field(ondemand::field field, json_field *fields, size_t count) {
    std::string_view key;
    if (auto code = field.unescaped_key().get(key))
        return simdjson::error_message(code);
    ondemand::value value = field.value();
    json_field *wanted = wanted_field(key, fields, count);
    if (wanted && wanted->token.size == 0) {
        wanted->token = token_of(value);
        if (wanted->token.size && wanted->token.data[0] == '"')
            return nullptr;
    }
    return check(value, 1);
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
    ondemand::object object;
    if (document.get_object().get(object))
        return "the record is not an object";
    for (auto result : object) {
        ondemand::field field;
        if (auto code = std::move(result).get(field))
            return simdjson::error_message(code);
        if (const char *problem = take_field(field, fields, count))
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

json_result json_parser_find(json_parser *parser, const char *data, size_t size, json_field *fields,
                             size_t count, const char **problem) {
    for (size_t i = 0; i < count; i++)
        fields[i].token = view_of(data, 0);
    ondemand::document document;
    simdjson::error_code code = start(parser->parser, data, size, document);
    if (code == simdjson::MEMALLOC)
        return JSON_OUT_OF_MEMORY;
    *problem = code ? simdjson::error_message(code) : take_fields(document, fields, count);
    return *problem ? JSON_INVALID : JSON_OK;
}
