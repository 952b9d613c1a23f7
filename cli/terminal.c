#include "terminal.h"

#include <stdio.h>

#include "interrupt.h"

static bool progress_shown;

void clear_progress(void) {
    if (progress_shown)
        fprintf(stderr, "\r%60s\r", "");
    progress_shown = false;
}

/* A bar, or where the end is not known, how far it has come. */
bool show_progress(void *context, const cog_progress *progress) {
    enum { WIDTH = 30 };
    const bool *visible = context;
    if (!*visible || progress->done + progress->total == 0)
        return !was_interrupted();
    double share = progress->total ? (double)progress->done / (double)progress->total : 0;
    int filled = share < 1 ? (int)(share * WIDTH) : WIDTH;
    progress_shown = true;
    if (progress->total)
        fprintf(stderr, "\r%-24s [%.*s%*s] %3d%%", progress->stage, filled,
                "==============================", WIDTH - filled, "", filled * 100 / WIDTH);
    else
        fprintf(stderr, "\r%-24s %-34llu", progress->stage, (unsigned long long)progress->done);
    if (progress->total && progress->done >= progress->total)
        clear_progress();
    return !was_interrupted();
}

void print_message(const char *text, const char *flag) {
    clear_progress();
    fputs("cognate: ", stderr);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        bool is_c1_control = *at == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0;
        if ((*at < 0x20 && *at != '\n') || *at == 0x7F || is_c1_control)
            fprintf(stderr, "\\x%02X", is_c1_control ? *++at : *at);
        else
            fputc(*at, stderr);
    }
    fprintf(stderr, flag ? " (--%s)\n" : "\n", flag);
}

void announce_message(void *context, const char *text) {
    (void)context;
    print_message(text, NULL);
}
