/* What belongs to the library as a whole. */
#include <stdlib.h>

#include "cognate.h"

const char *cog_version(void) {
    return COG_VERSION;
}

const char *cog_status_name(cog_status status) {
    static const char *const names[] = {"ok",     "usage", "input",     "io",  "format",
                                        "memory", "disk",  "cancelled", "busy"};
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown";
}

void cog_free(void *memory) {
    free(memory);
}
