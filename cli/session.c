/* The frame of every command: checks outputs before the work, runs the job with progress and
 * Ctrl-C, and reports. */
#include "session.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

/* ---- Interrupts ------------------------------------------------------------------------------ */

/* Ctrl-C, SIGTERM and a closed terminal: the first signal asks the job to stop, and unfinished
 * outputs are deleted in any case. */

enum { GRACE_SECONDS = 2 };

static atomic_int interrupted; /* the signal, or 0 */
static sigset_t watched;

/* 143 after SIGTERM, else 130. */
static int interrupted_exit_code(void) {
    return 128 + (interrupted == SIGTERM ? SIGTERM : SIGINT);
}

/* A job that looks stops and cleans up by itself. A job that is in a long stage or waits for a pipe
 * is ended after a moment, or by the next signal. */
static void *wait_for_interrupts(void *unused) {
    int number;
    (void)unused;
    sigwait(&watched, &number);
    interrupted = number;
    sigtimedwait(&watched, NULL, &(struct timespec){.tv_sec = GRACE_SECONDS});
    cog_abandon_outputs();
    _exit(interrupted_exit_code());
}

/* The program is to live on when the terminal is closed (nohup). */
static bool is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* From now on; before any other thread is started. */
static void interrupts_watch(void) {
    pthread_t thread;
    sigemptyset(&watched);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGTERM);
    if (!is_ignored(SIGHUP))
        sigaddset(&watched, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &watched, NULL); /* for the threads that come, too */
    if (pthread_create(&thread, NULL, wait_for_interrupts, NULL) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
}

static bool was_interrupted(void) {
    return interrupted != 0;
}

/* ---- Progress and messages ------------------------------------------------------------------- */

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

double seconds_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* Units per second since the stage, or a loop of it, began. */
static double find_rate(const cog_progress *progress) {
    static const char *stage;
    static uint64_t first_done, last_done, last_total;
    static struct timespec start;
    if (progress->stage != stage || progress->done < last_done || progress->total != last_total) {
        stage = progress->stage;
        first_done = progress->done;
        last_total = progress->total;
        clock_gettime(CLOCK_MONOTONIC, &start);
    }
    last_done = progress->done;
    double seconds = seconds_since(&start);
    return seconds > 0 ? (double)(progress->done - first_done) / seconds : 0;
}

/* "reading  [=====     ]  50%  12.3M/s  0:07 left"; without a total, how far it has come. */
static bool show_progress(void *context, const cog_progress *progress) {
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

void print_escaped(const char *text, size_t size, const char *allowed, FILE *stream) {
    const unsigned char *at = (const unsigned char *)text, *end = at + size;
    for (; at < end; at++) {
        bool is_c1_control = *at == 0xC2 && at + 1 < end && at[1] >= 0x80 && at[1] < 0xA0;
        bool is_control = (*at < 0x20 && !(*at && strchr(allowed, *at))) || *at == 0x7F;
        if (is_control || is_c1_control)
            fprintf(stream, "\\x%02X", is_c1_control ? *++at : *at);
        else
            fputc(*at, stream);
    }
}

/* Prints a message, with a flag in brackets unless that is NULL. */
static void print_message(const char *text, const char *flag) {
    clear_progress();
    fputs("cognate: ", stderr);
    print_escaped(text, strlen(text), "", stderr);
    fprintf(stderr, flag ? " (--%s)\n" : "\n", flag);
}

static void announce_message(void *context, const char *text) {
    (void)context;
    print_message(text, NULL);
}

/* ---- Outputs --------------------------------------------------------------------------------- */

/* The folder of a path; false if the path is too long. */
static bool folder_of(const char *path, char *folder, size_t size) {
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + (slash == path) : 1;
    if (length >= size)
        return false;
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    return true;
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether writing to `path`, a file that exists, would destroy `input` or a file of that folder. */
static bool would_overwrite(const char *path, const char *input) {
    struct stat output_info, input_info, folder_info;
    if (!input || strcmp(input, "-") == 0 || stat(path, &output_info) != 0 ||
        !S_ISREG(output_info.st_mode) || stat(input, &input_info) != 0)
        return false;
    if (!S_ISDIR(input_info.st_mode))
        return is_same_file(&output_info, &input_info);
    char folder[4096];
    return folder_of(path, folder, sizeof folder) && stat(folder, &folder_info) == 0 &&
           is_same_file(&folder_info, &input_info);
}

static bool check_inputs_kept(const struct arguments *arguments, int output) {
    const char *path = arguments->values[output], *destroyed = NULL;
    for (size_t i = 0; i < arguments->word_count; i++)
        if (would_overwrite(path, arguments->words[i]))
            destroyed = arguments->words[i];
    for (int id = 0; id < OPTION_COUNT; id++)
        if (option_at(id)->kind == KIND_READ && would_overwrite(path, arguments->values[id]))
            destroyed = arguments->values[id];
    return !destroyed ||
           usage_error(arguments, "--%s %s would overwrite what is read from %s; name another file",
                       option_at(output)->name, path, destroyed);
}

/* A folder receives one file per input file. */
static bool may_be_folder(const struct arguments *arguments, int output) {
    return output == OPTION_OUTPUT && arguments->command == &command_dedup;
}

/* Whether a file, or a folder, can be made at the path of this option. A device or a pipe is
 * written where it is, and so is the file behind a link. */
static bool check_place(const struct arguments *arguments, int output) {
    const char *name = option_at(output)->name, *path = arguments->values[output];
    char place[4096], folder[4096], target[PATH_MAX];
    struct stat info;
    if (path[0] == '\0')
        return usage_error(arguments, "--%s '': name a file", name);
    const bool exists = stat(path, &info) == 0, is_folder = exists && S_ISDIR(info.st_mode);
    if (is_folder && !may_be_folder(arguments, output))
        return usage_error(arguments, "--%s %s: a folder of this name exists; name a file", name,
                           path);
    if (exists && !is_folder && !S_ISREG(info.st_mode))
        return true;
    const char *end = exists && !is_folder && realpath(path, target) ? target : path;
    size_t length = strlen(end);
    while (length > 1 && end[length - 1] == '/' && may_be_folder(arguments, output))
        length--;
    snprintf(place, sizeof place, "%.*s%s", (int)length, end, is_folder ? "/" : "");
    if (!folder_of(place, folder, sizeof folder) || access(folder, W_OK | X_OK) == 0)
        return true;
    if (stat(folder, &info) != 0)
        return usage_error(arguments, "--%s %s: there is no folder %s; make it first", name, path,
                           folder);
    return usage_error(arguments, "--%s %s: the folder %s cannot be written", name, path, folder);
}

/* Outputs go to different files, none of them an input, in folders that exist: known before the
 * work, not after it. */
static bool check_outputs(const struct arguments *arguments) {
    const char *const *values = arguments->values;
    if (values[OPTION_STATS] && strcmp(values[OPTION_STATS], "-") == 0 && !values[OPTION_OUTPUT] &&
        !values[OPTION_CLUSTERS] && !has_option(arguments, OPTION_DRY_RUN))
        return usage_error(arguments, "--stats -: the result goes to standard output too; give %s",
                           command_takes(arguments->command, OPTION_OUTPUT) ? "-o FILE"
                                                                            : "--stats FILE");
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (!values[id] || option_at(id)->kind != KIND_WRITE)
            continue;
        for (int other = 0; other < id; other++)
            if (values[other] && option_at(other)->kind == KIND_WRITE &&
                strcmp(values[other], values[id]) == 0)
                return usage_error(arguments, "--%s and --%s: both go to %s",
                                   option_at(other)->name, option_at(id)->name, values[id]);
        if (!check_inputs_kept(arguments, id) || !check_place(arguments, id))
            return false;
    }
    return true;
}

/* ---- The run --------------------------------------------------------------------------------- */

static bool take_run_options(const struct arguments *arguments, cog_run_options *run) {
    static bool visible;
    *run = (cog_run_options){.progress = show_progress, .progress_context = &visible};
    if (!check_outputs(arguments) ||
        !unsigned_option(arguments, OPTION_THREADS, 1, COG_MAX_THREADS, &run->threads) ||
        !size_option(arguments, OPTION_MEMORY, &run->memory_bytes))
        return false;
    visible = isatty(STDERR_FILENO) && !has_option(arguments, OPTION_QUIET);
    run->announce = has_option(arguments, OPTION_QUIET) ? NULL : announce_message;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error as a full disk is */
    interrupts_watch();
    return true;
}

static int exit_code_of(cog_status status) {
    switch (status) {
    case COG_OK:
        return EXIT_DONE;
    case COG_ERR_MEMORY:
    case COG_ERR_DISK:
    case COG_ERR_BUSY:
        return EXIT_RESOURCES;
    case COG_ERR_CANCELLED:
        return interrupted_exit_code();
    default:
        return EXIT_USAGE;
    }
}

/* The flag of the option that the error is about; NULL if there is none in this command. */
static const char *flag_of(const struct session *session) {
    static const char *const names[][2] = {{"memory_bytes", "memory"},
                                           {"verify", "no-verify"},
                                           {"radius_bits", "radius"},
                                           {"kind", "signature"},
                                           {"scheme", "weighting"},
                                           {"drop_stop_words", "stop-words"},
                                           {"min_collection_frequency", "min-frequency"},
                                           {"format", "input-format"}};
    char flag[64];
    snprintf(flag, sizeof flag, "%s", session->error.option ? session->error.option : "");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(flag, names[i][0]) == 0)
            snprintf(flag, sizeof flag, "%s", names[i][1]);
    for (char *at = flag; *at; at++)
        *at = *at == '_' ? '-' : *at;
    int id = flag[0] ? find_option(session->arguments->command, flag, strlen(flag)) : -1;
    return id >= 0 ? option_at(id)->name : NULL;
}

/* Notices, --stats, the error, the summary. */
static int finish(struct session *session, cog_status status) {
    const char *stats = session->arguments->values[OPTION_STATS];
    bool quiet = has_option(session->arguments, OPTION_QUIET);
    for (size_t i = 0; !quiet && i < cog_report_notice_count(session->report); i++)
        print_message(cog_report_notice(session->report, i), NULL);
    if (status == COG_OK && stats)
        status = cog_report_write(session->report, stats, &session->error);
    if (status != COG_OK && session->error.message[0])
        print_message(session->error.message, flag_of(session));
    clear_progress();
    if (status == COG_OK && !quiet && session->arguments->command->summarize)
        session->arguments->command->summarize(session);
    return status == COG_OK && session->found_nothing ? EXIT_NOTHING : exit_code_of(status);
}

int run_session(const struct arguments *arguments) {
    struct session session = {.arguments = arguments};
    if (!take_run_options(arguments, &session.run))
        return EXIT_USAGE;
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    cog_status status = cog_report_create(&session.report, &session.error);
    THEN(status, arguments->command->run(&session));
    session.seconds = seconds_since(&start);
    int code = finish(&session, status);
    cog_report_free(session.report);
    return code;
}
