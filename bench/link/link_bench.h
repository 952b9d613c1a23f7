/* What the parts of bench_link share: errors end it, goals are judged. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cognate.h"

static void need(cog_status status, const cog_error *error) {
    if (status == COG_OK)
        return;
    fprintf(stderr, "bench_link: %s\n", error->message);
    exit(2);
}

/* "goal 0.660: met 0.661"; one of eight texts that take turns. */
static const char *goal_text(double value, double goal, bool at_least) {
    static char texts[8][64];
    static int next;
    char *text = texts[next++ % 8];
    bool met = at_least ? value >= goal : value <= goal;
    snprintf(text, sizeof texts[0], "goal %s%.4g %s %.4g", at_least ? "" : "at most ", goal,
             met ? "met" : "MISSED", value);
    return text;
}
