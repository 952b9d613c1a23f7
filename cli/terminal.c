#include "terminal.h"

#include <stdio.h>
#include <time.h>

#include "interrupt.h"

static bool progress_shown;

void clear_progress(void) {
    if (progress_shown)
        fprintf(stderr, "\r%78s\r", "");
    progress_shown = false;
}

/* "1.2k", "34.5M" */
static void format_amount(double amount, char *text, size_t size) {
    static const char units[] = " kMGT";
    int unit = 0;
    for (; amount >= 1000 && unit < 4; unit++)
        amount /= 1000;
    snprintf(text, size, unit ? "%.1f%c" : "%.0f", amount, units[unit]);
}

/* Units per second since the stage, or a loop of it, began. */
static double find_rate(const cog_progress *progress) {
    static const char *stage;
    static uint64_t first_done, last_done, last_total;
    static struct timespec start;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (progress->stage != stage || progress->done < last_done || progress->total != last_total) {
        stage = progress->stage;
        first_done = progress->done;
        last_total = progress->total;
        start = now;
    }
    last_done = progress->done;
    double seconds =
        (double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9;
    return seconds > 0 ? (double)(progress->done - first_done) / seconds : 0;
}

/* "reading  [=====     ]  50%  12.3M/s  0:07 left"; without a total, how far it has come. */
bool show_progress(void *context, const cog_progress *progress) {
    enum { WIDTH = 24 };
    const bool *visible = context;
    if (!*visible || progress->done + progress->total == 0)
        return !was_interrupted();
    char speed[16], done[16], left[32] = "";
    double rate = find_rate(progress), total = (double)progress->total;
    double share = total > 0 && (double)progress->done < total ? (double)progress->done / total : 1;
    int filled = (int)(share * WIDTH);
    format_amount(rate, speed, sizeof speed);
    format_amount((double)progress->done, done, sizeof done);
    if (total > 0 && rate > 0) {
        unsigned seconds = (unsigned)((1 - share) * total / rate + 0.5);
        snprintf(left, sizeof left, "%u:%02u left", seconds / 60, seconds % 60);
    }
    progress_shown = true;
    if (total > 0)
        fprintf(stderr, "\r%-22.22s [%.*s%*s] %3d%% %8s/s %-14.14s", progress->stage, filled,
                "========================", WIDTH - filled, "", (int)(share * 100), speed, left);
    else
        fprintf(stderr, "\r%-22.22s %10s %8s/s %34s", progress->stage, done, speed, "");
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
