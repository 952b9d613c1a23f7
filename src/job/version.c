#include "cognate.h"

const char *cog_version(void) {
    return COGNATE_VERSION;
}
