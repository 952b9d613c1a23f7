#include "input/npy.h"
#include "test.h"
#include "test_input_support.h"

/* A file as numpy.save writes it, with a header of any text. */
static const char *npy_bytes(int version, const char *dictionary, const void *data, size_t size) {
    char bytes[4096] = "\x93NUMPY";
    size_t prefix = version == 1 ? 10 : 12, length = strlen(dictionary);
    bytes[6] = (char)version;
    bytes[8] = (char)length;
    bytes[9] = (char)(length >> 8);
    memcpy(bytes + prefix, dictionary, length);
    memcpy(bytes + prefix + length, data, size);
    return write_file("a.npy", bytes, prefix + length + size);
}

TEST(input_npy_spellings_of_the_header) {
    static const uint8_t data[16] = {0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff};
    static const char *const headers[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 8), }                       \n",
        "{'shape': (2L, 8L), 'fortran_order': False, 'descr': '|u1'}\n",
        "{\"descr\":\"|u1\",\"fortran_order\":False,\"shape\":(2,8)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 8,), }   \n"};
    for (int version = 1; version <= 2; version++)
        for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
            const char *path = npy_bytes(version, headers[i], data, 16);
            struct npy_signatures seen;
            CHECK_OK(npy_signatures_open(path, &seen, error));
            CHECK(seen.view.rows == 2 && seen.view.bits == 64 &&
                  (uintptr_t)seen.view.data % 8 == 0);
            CHECK(memcmp(seen.view.data, data, 16) == 0 && signature_bit(seen.view.data, 0) == 1);
            npy_signatures_close(&seen);
        }
}

TEST(input_npy_damaged_headers) {
    static const struct {
        const char *header;
        size_t size;
        const char *reason;
    } cases[] = {
        {"{'descr': '|u1x', 'fortran_order': False, 'shape': (2, 8), }\n", 16, "not of uint8"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2, 4), }\n", 16, "two dimensions"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 0), }\n", 0, "0 bytes"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 8), }\n", 16, "8 bytes follow"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (18446744073709551615, 8), }\n", 16,
         "truncated"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999, 8), }\n", 16,
         "header without"},
        {"{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (2, 8), }\n", 16,
         "header without"},
        {"{'x': 'descr', 'fortran_order': False, 'shape': (2, 8), 'descr': '|u1'}\n", 16,
         "header without"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 8)\n", 16, "header without"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (-2, 8)}\n", 16, "header without"},
        {"", 16, "header without"},
    };
    static const uint8_t data[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = npy_bytes(1, cases[i].header, data, cases[i].size);
        struct npy_signatures seen;
        cog_error failure = {0};
        CHECK_MSG(npy_signatures_open(path, &seen, &failure) == COG_ERR_INPUT, "%s",
                  cases[i].header);
        CHECK_MSG(strstr(failure.message, cases[i].reason) && strstr(failure.message, "a.npy"),
                  "%s: %s", cases[i].header, failure.message);
    }
}

TEST(input_npy_truncated_anywhere) {
    static const char header[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 8), }\n";
    uint8_t file[10 + sizeof header - 1 + 16] = "\x93NUMPY\x01";
    file[8] = sizeof header - 1;
    memcpy(file + 10, header, sizeof header - 1);
    struct npy_array array = {0};
    cog_error failure;
    CHECK_OK(npy_parse("x", file, sizeof file, NPY_UINT8, &array, error));
    for (size_t size = 0; size < sizeof file; size++)
        CHECK(npy_parse("x", file, size, NPY_UINT8, &array, &failure) == COG_ERR_INPUT);
}
