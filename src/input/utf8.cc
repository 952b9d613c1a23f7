#include "input/utf8.h"

#include <simdjson.h>

bool utf8_is_valid(const char *data, size_t size) {
    return size == 0 || simdjson::validate_utf8(data, size);
}
