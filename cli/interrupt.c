#include "interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cognate.h"

enum { GRACE_SECONDS = 2 };

static atomic_int interrupted; /* the signal, or 0 */
static sigset_t watched;

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

void interrupts_watch(void) {
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

bool was_interrupted(void) {
    return interrupted != 0;
}

int interrupted_exit_code(void) {
    return 128 + (interrupted == SIGTERM ? SIGTERM : SIGINT);
}
