#include "base/number.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale;

static void make_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t number_locale(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    return c_locale;
}

bool number_parse(struct bytes_view field, double *number) {
    char text[64], *end;
    locale_t locale = number_locale();
    if (field.size == 0 || field.size >= sizeof text)
        return false;
    memcpy(text, field.data, field.size);
    text[field.size] = '\0';
    *number = locale ? strtod_l(text, &end, locale) : strtod(text, &end);
    return *end == '\0' && !isnan(*number);
}
