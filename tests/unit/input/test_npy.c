#include "base/hash.h"
#include "base/io/output.h"
#include "input/npy.h"
#include "test.h"

TEST(npy_round_trip) {
    struct random random = random_seeded(1);
    for (size_t columns = 1; columns <= 130; columns += 43) {
        uint8_t rows[50 * 130];
        for (size_t i = 0; i < 50 * columns; i++)
            rows[i] = (uint8_t)random_next(&random);
        const char *path = test_path("sig.npy");
        struct npy_writer *writer = NULL;
        CHECK_OK(npy_writer_open(path, NPY_UINT8, columns, &writer, error));
        CHECK_OK(npy_writer_append(writer, rows, 20, error));
        CHECK_OK(npy_writer_append(writer, rows + 20 * columns, 30, error));
        CHECK_OK(npy_writer_commit(writer, error));
        npy_writer_close(writer);
        struct npy_signatures seen;
        CHECK_OK(npy_signatures_open(path, &seen, error));
        CHECK(seen.view.rows == 50 && seen.view.bits == columns * 8);
        for (size_t i = 0; i < 50; i++)
            CHECK(memcmp(signature_row(&seen.view, i), rows + i * columns, columns) == 0);
        npy_signatures_close(&seen);
    }
}

/* As numpy.save writes numpy.array([[1.5, -2]], dtype=numpy.float32), and the same as version 2. */
TEST(npy_reads_what_numpy_writes) {
    char file[256];
    for (int version = 1; version <= 2; version++) {
        size_t start = version == 1 ? 10 : 12, length = 118;
        memset(file, ' ', sizeof file);
        memcpy(file, "\x93NUMPY", 6);
        file[6] = (char)version;
        file[7] = 0;
        file[8] = (char)length;
        file[9] = file[10] = file[11] = 0;
        static const char text[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
        memcpy(file + start, text, sizeof text - 1);
        file[start + length - 1] = '\n';
        float values[] = {1.5f, -2};
        memcpy(file + start + length, values, sizeof values);
        const char *path = test_path("w.npy");
        write_at(path, file, start + length + sizeof values);
        struct npy_array array;
        CHECK_OK(npy_open(path, NPY_FLOAT32, &array, error));
        CHECK(array.rows == 1 && array.columns == 2);
        CHECK(memcmp(array.data, values, sizeof values) == 0);
        npy_close(&array);
    }
}

TEST(npy_refusals_name_the_reason) {
    static const struct {
        const char *dictionary, *reason;
    } cases[] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }", "not of uint8"},
        {"{'descr': '|u1', 'fortran_order': True, 'shape': (1, 2), }", "Fortran"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "two dimensions"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (3, 9), }", "truncated"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000, 99999999999), }",
         "truncated"},
        {"{'descr': '|u1', 'shape': (1, 2), }", "header without"},
        {"nothing", "header without"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t file[140] = "\x93NUMPY\x01\x00\x76\x00";
        memset(file + 10, ' ', 118);
        memcpy(file + 10, cases[i].dictionary, strlen(cases[i].dictionary));
        struct npy_array array = {0};
        cog_error failure;
        CHECK(npy_parse("x.npy", file, sizeof file, NPY_UINT8, &array, &failure) == COG_ERR_INPUT);
        CHECK_MSG(strstr(failure.message, cases[i].reason), "%s", failure.message);
    }
    struct npy_array array = {0};
    cog_error failure;
    CHECK(npy_parse("x.npy", (const uint8_t *)"hello, world", 12, NPY_UINT8, &array, &failure) ==
          COG_ERR_INPUT);
    CHECK(strstr(failure.message, "not a .npy"));
}
