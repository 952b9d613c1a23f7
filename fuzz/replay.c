/* Runs a fuzzer's body over files, without libFuzzer, so that any compiler replays the corpora of
 * the tree. Prints each file's name before it runs, so that a crash names its input. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        printf("%s\n", argv[i]);
        fflush(stdout);
        FILE *file = fopen(argv[i], "rb");
        if (!file || fseek(file, 0, SEEK_END) != 0)
            return 2;
        size_t size = (size_t)ftell(file);
        uint8_t *data = malloc(size + !size); /* no byte more, so that sanitizers see its end */
        rewind(file);
        if (!data || fread(data, 1, size, file) != size)
            return 2;
        fclose(file);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
