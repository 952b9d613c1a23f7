/* Tables of language links from hostile bytes: rows are valid UTF-8 and of bounded size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/documents/text_bytes.h"
#include "input/parallel/wiki_langlinks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct wiki_langlinks links = {0};
    struct langlink link;
    cog_error error = {0};
    bool end = false;
    char path[64];
    int file = memfd_create("langlinks", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    cog_status status = wiki_langlinks_open(&links, path, &error);
    while (status == COG_OK && !end) {
        status = wiki_langlinks_next(&links, &link, &end, &error);
        if (status == COG_OK && !end &&
            (link.title.size > 1024 || link.code.size > 1024 ||
             !utf8_is_valid(link.title.data, link.title.size)))
            abort();
    }
    if (status != COG_OK && !error.message[0])
        abort();
    wiki_langlinks_close(&links);
    close(file);
    return 0;
}
