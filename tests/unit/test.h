/* A small test runner: TEST(name) { ... CHECK(condition); ... }. Tests register themselves. `unit`
 * runs all of them, or those whose name or file (such as "join/test_join_cosine.c") contains the
 * argument, and prints one line per test. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void test_body(void);
void test_register(const char *name, const char *file, test_body *body);
void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Marks the running test as skipped, with the reason; return from it afterwards. */
void test_skip(const char *reason);
/* A fresh path below a folder that is removed at the end; valid until the program ends. */
const char *test_path(const char *name);
void write_at(const char *path, const void *data, size_t size);
/* Writes a file at a fresh path and returns that. */
const char *write_file(const char *name, const void *data, size_t size);
const char *write_text(const char *name, const char *text);
static inline bool near(double a, double b, double tolerance) {
    return a - b <= tolerance && b - a <= tolerance;
}

#define TEST(name)                                                                                 \
    static void test_##name(void);                                                                 \
    __attribute__((constructor)) static void register_##name(void) {                               \
        test_register(#name, __FILE__, test_##name);                                               \
    }                                                                                              \
    static void test_##name(void)

/* A failed check ends its test. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            test_fail(__FILE__, __LINE__, "%s", #condition);                                       \
            return;                                                                                \
        }                                                                                          \
    } while (0)

#define CHECK_MSG(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            test_fail(__FILE__, __LINE__, __VA_ARGS__);                                            \
            return;                                                                                \
        }                                                                                          \
    } while (0)

#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        cog_error check_error = {0};                                                               \
        cog_error *error = &check_error;                                                           \
        if ((call) != COG_OK) {                                                                    \
            test_fail(__FILE__, __LINE__, "%s: %s", #call, error->message);                        \
            return;                                                                                \
        }                                                                                          \
    } while (0)
