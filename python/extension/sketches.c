/* Sketches of sets, with the arithmetic of datasketch: SHA-1 of each element, a pre-mix,
 * permutations, and the minimum of each. cognate.compat.datasketch has the names that users meet.
 */
#include "module.h"

#include <stdlib.h>
#include <string.h>

/* ---- SHA-1 ----------------------------------------------------------------------------------- */

enum { BLOCK_BYTES = 64, BLOCK_WORDS = 16 };

static uint32_t rotate(uint32_t word, unsigned bits) {
    return word << bits | word >> (32 - bits);
}

/* Word i >= 16 of the schedule, kept in the place of word i - 16. */
static uint32_t next_word(uint32_t words[BLOCK_WORDS], unsigned i) {
    uint32_t word = words[(i + 13) % BLOCK_WORDS] ^ words[(i + 8) % BLOCK_WORDS] ^
                    words[(i + 2) % BLOCK_WORDS] ^ words[i % BLOCK_WORDS];
    return words[i % BLOCK_WORDS] = rotate(word, 1);
}

static void sha1_round(uint32_t state[5], uint32_t chosen, uint32_t constant, uint32_t word) {
    uint32_t next = rotate(state[0], 5) + chosen + state[4] + constant + word;
    state[4] = state[3];
    state[3] = state[2];
    state[2] = rotate(state[1], 30);
    state[1] = state[0];
    state[0] = next;
}

static void sha1_block(uint32_t state[5], const uint8_t block[BLOCK_BYTES]) {
    uint32_t words[BLOCK_WORDS], s[5];
    memcpy(s, state, sizeof s);
    for (unsigned i = 0; i < BLOCK_WORDS; i++) {
        memcpy(&words[i], block + 4 * (size_t)i, 4);
        words[i] = __builtin_bswap32(words[i]);
    }
    for (unsigned i = 0; i < 20; i++)
        sha1_round(s, (s[1] & s[2]) | (~s[1] & s[3]), 0x5a827999,
                   i < BLOCK_WORDS ? words[i] : next_word(words, i));
    for (unsigned i = 20; i < 40; i++)
        sha1_round(s, s[1] ^ s[2] ^ s[3], 0x6ed9eba1, next_word(words, i));
    for (unsigned i = 40; i < 60; i++)
        sha1_round(s, (s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3]), 0x8f1bbcdc,
                   next_word(words, i));
    for (unsigned i = 60; i < 80; i++)
        sha1_round(s, s[1] ^ s[2] ^ s[3], 0xca62c1d6, next_word(words, i));
    for (unsigned i = 0; i < 5; i++)
        state[i] += s[i];
}

/* The first eight bytes of the digest, as a little-endian number. */
static uint64_t sha1_number(const uint8_t *data, size_t size) {
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    uint8_t last[2 * BLOCK_BYTES] = {0};
    size_t whole = size / BLOCK_BYTES * BLOCK_BYTES, rest = size - whole;
    for (size_t at = 0; at < whole; at += BLOCK_BYTES)
        sha1_block(state, data + at);
    if (rest)
        memcpy(last, data + whole, rest);
    last[rest] = 0x80;
    size_t end = rest < BLOCK_BYTES - 8 ? BLOCK_BYTES : sizeof last;
    uint64_t bits = __builtin_bswap64((uint64_t)size * 8);
    memcpy(last + end - 8, &bits, 8);
    for (size_t at = 0; at < end; at += BLOCK_BYTES)
        sha1_block(state, last + at);
    return (uint64_t)__builtin_bswap32(state[1]) << 32 | __builtin_bswap32(state[0]);
}

/* ---- Permutations ---------------------------------------------------------------------------- */

/* The numbers of the schemes in cognate.compat.datasketch. */
enum scheme { AFFINE32, AFFINE64, LEGACY, SCHEMES };

struct permutations {
    enum scheme scheme;
    const void *factors, *terms; /* uint32 of AFFINE32, uint64 of the others */
    size_t count;
};

static size_t value_bytes(enum scheme scheme) {
    return scheme == AFFINE32 ? 4 : 8;
}

static uint32_t mix32(uint32_t hash) { /* as MurmurHash3 ends */
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

static uint64_t mix64(uint64_t hash) {
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 33;
}

#define INLINED static inline __attribute__((always_inline))

INLINED void apply32(const uint32_t *restrict factors, const uint32_t *restrict terms, size_t count,
                     const uint64_t *hashes, size_t hash_count, uint32_t *restrict values) {
    for (size_t i = 0; i < hash_count; i++) {
        uint32_t hash = mix32((uint32_t)hashes[i]);
        for (size_t k = 0; k < count; k++) {
            uint32_t value = factors[k] * hash + terms[k];
            values[k] = value < values[k] ? value : values[k];
        }
    }
}

INLINED void apply64(const uint64_t *restrict factors, const uint64_t *restrict terms, size_t count,
                     const uint64_t *hashes, size_t hash_count, uint64_t *restrict values) {
    for (size_t i = 0; i < hash_count; i++) {
        uint64_t hash = mix64(hashes[i]);
        for (size_t k = 0; k < count; k++) {
            uint64_t value = factors[k] * hash + terms[k];
            values[k] = value < values[k] ? value : values[k];
        }
    }
}

/* Modulo the prime 2^61 - 1, of which 32 bits remain; the product has wrapped before. */
INLINED void apply_legacy(const uint64_t *restrict factors, const uint64_t *restrict terms,
                          size_t count, const uint64_t *hashes, size_t hash_count,
                          uint64_t *restrict values) {
    const uint64_t prime = ((uint64_t)1 << 61) - 1;
    for (size_t i = 0; i < hash_count; i++)
        for (size_t k = 0; k < count; k++) {
            uint64_t value = factors[k] * hashes[i] + terms[k];
            value = (value & prime) + (value >> 61);
            value = (value >= prime ? value - prime : value) & UINT32_MAX;
            values[k] = value < values[k] ? value : values[k];
        }
}

INLINED void apply(const struct permutations *by, const uint64_t *hashes, size_t count,
                   void *values) {
    if (by->scheme == AFFINE32)
        apply32(by->factors, by->terms, by->count, hashes, count, values);
    else if (by->scheme == AFFINE64)
        apply64(by->factors, by->terms, by->count, hashes, count, values);
    else
        apply_legacy(by->factors, by->terms, by->count, hashes, count, values);
}

#ifdef __x86_64__
__attribute__((target("avx512f,avx512dq"))) static void
apply_wide(const struct permutations *by, const uint64_t *hashes, size_t count, void *values) {
    apply(by, hashes, count, values);
}

__attribute__((target("avx2"))) static void
apply_avx2(const struct permutations *by, const uint64_t *hashes, size_t count, void *values) {
    apply(by, hashes, count, values);
}
#endif

static void permute_hashes(const struct permutations *by, const uint64_t *hashes, size_t count,
                           void *values) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
        apply_wide(by, hashes, count, values);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        apply_avx2(by, hashes, count, values);
        return;
    }
#endif
    apply(by, hashes, count, values);
}

/* ---- Python ---------------------------------------------------------------------------------- */

/* Hashes of the elements of a list; grows with the largest set. */
struct hashes {
    uint64_t *items;
    size_t count, capacity;
};

static bool hashes_reserve(struct hashes *hashes, size_t count) {
    if (count <= hashes->capacity)
        return true;
    uint64_t *grown = realloc(hashes->items, count * sizeof *grown);
    if (!grown) {
        PyErr_NoMemory();
        return false;
    }
    hashes->items = grown;
    hashes->capacity = count;
    return true;
}

static bool hash_element(PyObject *element, uint64_t *hash) {
    char *data;
    Py_ssize_t size;
    Py_buffer view;
    if (PyBytes_Check(element) && PyBytes_AsStringAndSize(element, &data, &size) == 0) {
        *hash = sha1_number((const uint8_t *)data, (size_t)size);
        return true;
    }
    if (PyErr_Occurred() || PyObject_GetBuffer(element, &view, PyBUF_SIMPLE) != 0)
        return false;
    *hash = sha1_number(view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    return true;
}

/* Hashes of a list of elements. False with an exception set. */
static bool hash_elements(PyObject *elements, enum scheme scheme, struct hashes *hashes) {
    Py_ssize_t count = PyList_Size(elements);
    if (count < 0 || !hashes_reserve(hashes, (size_t)count))
        return false;
    hashes->count = 0;
    /* The list may change while an element gives its buffer. */
    for (Py_ssize_t i = 0; i < count && i < PyList_Size(elements); i++) {
        PyObject *element = Py_NewRef(PyList_GetItem(elements, i));
        uint64_t hash = 0;
        bool good = hash_element(element, &hash);
        Py_DECREF(element);
        if (!good)
            return false;
        hashes->items[hashes->count++] = scheme == AFFINE64 ? hash : hash & UINT32_MAX;
    }
    return true;
}

/* Releases the interpreter lock if the work takes longer than releasing it. */
static void permute_set(const struct permutations *by, const struct hashes *hashes, void *values) {
    enum { BRIEF = 1 << 16 };
    if (by->count * hashes->count < BRIEF) {
        permute_hashes(by, hashes->items, hashes->count, values);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    permute_hashes(by, hashes->items, hashes->count, values);
    Py_END_ALLOW_THREADS
}

static bool permute_sets(PyObject *sets, const struct permutations *by, uint8_t *values,
                         Py_ssize_t rows) {
    struct hashes hashes = {0};
    bool good = true;
    for (Py_ssize_t row = 0; row < rows && good; row++) {
        PyObject *elements = PyList_GetItem(sets, row); /* borrowed */
        good = elements && hash_elements(elements, by->scheme, &hashes);
        if (good)
            permute_set(by, &hashes, values + (size_t)row * by->count * value_bytes(by->scheme));
    }
    free(hashes.items);
    return good;
}

static bool take_permutations(PyObject *object, int scheme, Py_ssize_t count, Py_buffer *view,
                              struct permutations *by) {
    if (scheme < 0 || scheme >= SCHEMES || count < 1 || count > PY_SSIZE_T_MAX / 16) {
        PyErr_SetString(PyExc_ValueError, "schemes are 0 to 2, and permutations at least 1");
        return false;
    }
    const Py_ssize_t bytes = count * (Py_ssize_t)value_bytes((enum scheme)scheme);
    if (!buffer_of(object, 2 * bytes, false, "factors and terms", view))
        return false;
    *by = (struct permutations){(enum scheme)scheme, view->buf, (const uint8_t *)view->buf + bytes,
                                (size_t)count};
    return true;
}

/* sketch_sets(sets, permutations, scheme, count, values): lowers the values of each set, a row of
 * `count`, by its elements. Sets are a list of lists of bytes. */
static PyObject *sketch_sets(PyObject *self, PyObject *arguments) {
    PyObject *sets, *objects[2];
    int scheme;
    Py_ssize_t count;
    struct permutations by;
    Py_buffer views[2] = {{0}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!OinO", &PyList_Type, &sets, &objects[0], &scheme, &count,
                          &objects[1]))
        return NULL;
    const Py_ssize_t rows = PyList_Size(sets);
    bool good = take_permutations(objects[0], scheme, count, &views[0], &by);
    if (good && rows > PY_SSIZE_T_MAX / 8 / count) {
        PyErr_NoMemory();
        good = false;
    }
    good = good &&
           buffer_of(objects[1], rows * count * (Py_ssize_t)value_bytes(by.scheme), true,
                     "hash values", &views[1]) &&
           permute_sets(sets, &by, views[1].buf, rows);
    buffers_release(views, 2);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* sketch_hashes(hashes, permutations, scheme, count, values): the same for one set, given the
 * hashes of its elements as uint64. */
static PyObject *sketch_hashes(PyObject *self, PyObject *arguments) {
    PyObject *objects[3];
    int scheme;
    Py_ssize_t count;
    struct permutations by;
    Py_buffer views[3] = {{0}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOinO", &objects[0], &objects[1], &scheme, &count,
                          &objects[2]))
        return NULL;
    bool good = take_permutations(objects[1], scheme, count, &views[1], &by) &&
                PyObject_GetBuffer(objects[0], &views[0], PyBUF_SIMPLE) == 0 &&
                buffer_of(objects[2], count * (Py_ssize_t)value_bytes(by.scheme), true,
                          "hash values", &views[2]);
    if (good) {
        struct hashes hashes = {.items = views[0].buf, .count = (size_t)views[0].len / 8};
        permute_set(&by, &hashes, views[2].buf);
    }
    buffers_release(views, 3);
    return good ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef sketch_methods[] = {{"sketch_sets", sketch_sets, METH_VARARGS, NULL},
                                {"sketch_hashes", sketch_hashes, METH_VARARGS, NULL},
                                {0}};
