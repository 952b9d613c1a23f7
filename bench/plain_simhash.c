/* The rival that anybody would write: a scalar loop that lower-cases ASCII letters and digits byte
 * by byte, hashes each word (FNV-1a) and adds its 64 bits to 64 counters; lines of JSON are
 * searched for "text" and not otherwise parsed. Prints megabytes a second of processor time, and a
 * sum of the signatures. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_timing.h"

static uint64_t sign(const char *text, size_t size) {
    int32_t counters[64] = {0};
    uint64_t hash = 0xcbf29ce484222325u;
    bool inside = false;
    for (size_t i = 0; i <= size; i++) {
        unsigned char c = i < size ? (unsigned char)text[i] : ' ';
        if (isalnum(c) || c >= 0x80) {
            hash = (hash ^ (unsigned char)tolower(c)) * 0x100000001b3u;
            inside = true;
        } else if (inside) {
            for (int bit = 0; bit < 64; bit++)
                counters[bit] += (hash >> bit) & 1 ? 1 : -1;
            hash = 0xcbf29ce484222325u;
            inside = false;
        }
    }
    uint64_t signature = 0;
    for (int bit = 0; bit < 64; bit++)
        signature |= (uint64_t)(counters[bit] >= 0) << bit;
    return signature;
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: plain_simhash FILE.jsonl\n");
        return 2;
    }
    uint64_t start = bench_cpu_ns(), sum = 0, bytes = 0;
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; (size = getline(&line, &capacity, file)) > 0;) {
        const char *text = strstr(line, "\"text\": \"");
        bytes += (uint64_t)size;
        if (text)
            sum += sign(text + 9, (size_t)(line + size - text) - 9);
    }
    printf("%.1f %llu\n", (double)bytes / 1e6 / bench_cpu_seconds_since(start),
           (unsigned long long)sum);
    free(line);
    fclose(file);
    return 0;
}
