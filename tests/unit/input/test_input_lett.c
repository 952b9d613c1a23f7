#include "base/hash.h"
#include "input/base64.h"
#include "test.h"
#include "test_input_support.h"

static size_t encode(const unsigned char *data, size_t size, char *out) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *start = out;
    for (size_t i = 0; i < size; i += 3) {
        unsigned group = (unsigned)data[i] << 16 | (i + 1 < size ? data[i + 1] << 8 : 0) |
                         (i + 2 < size ? data[i + 2] : 0);
        *out++ = letters[group >> 18];
        *out++ = letters[group >> 12 & 63];
        *out++ = i + 1 < size ? letters[group >> 6 & 63] : '=';
        *out++ = i + 2 < size ? letters[group & 63] : '=';
    }
    return (size_t)(out - start);
}

TEST(input_base64_round_trip) {
    struct random random = random_seeded(4);
    struct buffer decoded = {0};
    for (size_t size = 0; size < 300; size++) {
        unsigned char data[300];
        char text[404];
        for (size_t i = 0; i < size; i++)
            data[i] = (unsigned char)random_next(&random);
        size_t length = encode(data, size, text);
        for (int padded = 1; padded >= 0; padded--) {
            while (!padded && length && text[length - 1] == '=')
                length--;
            buffer_reset(&decoded);
            CHECK(base64_decode(view_of(text, length), &decoded) == PARSE_OK);
            CHECK(decoded.size == size && (size == 0 || memcmp(decoded.data, data, size) == 0));
        }
    }
    static const char *const invalid[] = {
        "A", "AB=C", "AB-_", "A===", "QQ=", "====", "AB C", "QQ=Q", "QR=="};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        CHECK_MSG(base64_decode(view_of_text(invalid[i]), &decoded) == PARSE_BAD, "%s", invalid[i]);
    buffer_free(&decoded);
}

TEST(input_lett_columns) {
    struct reader_options options = default_options();
    const char *path =
        write_text("site.lett", "en\ttext/html\tcharset=utf-8\thttp://x.org/a\tPGI+\tR3LDvMOfZQo=\n"
                                "fr\ttext/html\tutf-8\thttp://x.org/b\t\t\r\n"
                                "fr\ttext/html\tutf-8\thttp://x.org/c\tPGI+\n"
                                "fr\ttext/html\tutf-8\thttp://x.org/d\tPGI+\tR3L*\n"
                                "fr\ttext/html\tutf-8\thttp://x.org/e\tPGI+\t/w==\n"
                                "fr\ta\tb\tc\td\tR3I=\tg\n"
                                "de\tt\tu\thttp://x.org/f\t\tR3I=");
    struct read_result result = read_path(&options, path);
    CHECK(result.status == COG_OK && result.count == 7 && result.bad_count == 4);
    CHECK(strcmp(result.items[0].id, "http://x.org/a") == 0);
    CHECK(strcmp(result.items[0].lang, "en") == 0);
    CHECK(strcmp(result.items[0].text, "Gr\xc3\xbc\xc3\x9f"
                                       "e\n") == 0);
    CHECK(strncmp(result.items[0].raw, "en\t", 3) == 0 &&
          result.items[0].raw[result.items[0].raw_size - 1] == '\n');
    CHECK(!result.items[1].bad && result.items[1].text_size == 0);
    CHECK(strstr(result.items[2].message, "site.lett:3: not the 6 columns"));
    CHECK(strstr(result.items[3].message, "site.lett:4: the text column is not valid base64"));
    CHECK(strstr(result.items[4].message, "site.lett:5: not valid UTF-8"));
    CHECK(strstr(result.items[5].message, "site.lett:6: not the 6 columns"));
    CHECK(strcmp(result.items[6].text, "Gr") == 0);
    read_result_free(&result);
}
