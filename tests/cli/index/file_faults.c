/* Loaded before a program (LD_PRELOAD): records what it does to the files of one folder, so that
 * the state after a loss of power can be made from any part of the record, or lets one call fail.
 *
 *   FAULTS_FOLDER  the folder, absolute
 *   FAULTS_RECORD  the record is appended here: a line of JSON per call, data in hex
 *   FAULTS_FILE    the number of the call, from 1 on, that fails (with EIO)
 *   FAULTS_MEMORY  the number of the allocation by the program itself that fails
 *   FAULTS_COUNT   the numbers of calls and allocations are written here at the end */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

enum { DESCRIPTORS = 256 };
static char *names[DESCRIPTORS]; /* of open files of the folder; "." is the folder */
static unsigned long calls, allocations, failing_call, failing_allocation;
static const char *folder;
static FILE *record;

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static unsigned long number_of(const char *variable) {
    const char *text = getenv(variable);
    return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAULTS_COUNT");
    unsigned long counted = allocations;
    failing_allocation = 0;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%lu %lu\n", calls, counted);
        fclose(file);
    }
    if (record)
        fclose(record);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The program itself: what its libraries do without memory is not ours to test. */
static const char *program_begin, *program_end;

static int find_program(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            program_begin = (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            program_end = program_begin + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the first is the program */
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAULTS_RECORD");
    folder = getenv("FAULTS_FOLDER");
    failing_call = number_of("FAULTS_FILE");
    if (path)
        record = fopen(path, "a");
    failing_allocation = number_of("FAULTS_MEMORY");
    dl_iterate_phdr(find_program, NULL);
}

static int allocation_fails(const void *caller) {
    if (!program_begin || (const char *)caller < program_begin ||
        (const char *)caller >= program_end)
        return 0;
    unsigned long number = __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    return failing_allocation && number == failing_allocation;
}
void *malloc(size_t size) {
    return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
    return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* The name inside the folder; NULL if the path leads elsewhere. */
static const char *inside(const char *path) {
    static char whole[PATH_MAX * 2];
    char here[PATH_MAX];
    if (!folder)
        return NULL;
    if (path[0] == '/')
        snprintf(whole, sizeof whole, "%s", path);
    else
        snprintf(whole, sizeof whole, "%s/%s", getcwd(here, sizeof here), path);
    size_t size = strlen(folder);
    if (strncmp(whole, folder, size) != 0)
        return NULL;
    return whole[size] == 0 ? "." : whole[size] == '/' ? whole + size + 1 : NULL;
}

static const char *name_of(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTORS ? names[descriptor] : NULL;
}

/* Whether this call is the one that fails. */
static int call_fails(void) {
    calls++;
    if (!failing_call || calls != failing_call)
        return 0;
    errno = EIO;
    return 1;
}

static void note(const char *what, const char *name, const char *other, long long number,
                 const unsigned char *data, size_t size) {
    if (!record)
        return;
    fprintf(record, "[\"%s\", \"%s\", \"%s\", %lld, \"", what, name, other, number);
    for (size_t i = 0; i < size; i++)
        fprintf(record, "%02x", data[i]);
    fputs("\"]\n", record);
    fflush(record);
}

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = flags & O_CREAT ? va_arg(list, int) : 0;
    va_end(list);
    const char *name = inside(path);
    struct stat info;
    int is_new = name && (flags & O_CREAT) && stat(path, &info) != 0;
    if (is_new && call_fails())
        return -1;
    int descriptor = NEXT(open64)(path, flags, mode);
    if (descriptor >= 0 && descriptor < DESCRIPTORS) {
        free(names[descriptor]);
        names[descriptor] = name ? strdup(name) : NULL;
        if (is_new)
            note("create", name, "", 0, NULL, 0);
    }
    return descriptor;
}

int close(int descriptor) {
    if (name_of(descriptor)) {
        free(names[descriptor]);
        names[descriptor] = NULL;
    }
    return NEXT(close)(descriptor);
}

ssize_t write(int descriptor, const void *data, size_t size) {
    const char *name = name_of(descriptor);
    if (name && call_fails())
        return -1;
    long long at = name ? (long long)lseek(descriptor, 0, SEEK_CUR) : 0;
    ssize_t done = NEXT(write)(descriptor, data, size);
    if (name && done > 0)
        note("write", name, "", at, data, (size_t)done);
    return done;
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, __off64_t at) {
    const char *name = name_of(descriptor);
    if (name && call_fails())
        return -1;
    ssize_t done = NEXT(pwrite64)(descriptor, data, size, at);
    if (name && done > 0)
        note("write", name, "", at, data, (size_t)done);
    return done;
}

int ftruncate64(int descriptor, __off64_t size) {
    const char *name = name_of(descriptor);
    if (name && call_fails())
        return -1;
    int done = NEXT(ftruncate64)(descriptor, size);
    if (name && done == 0)
        note("cut", name, "", size, NULL, 0);
    return done;
}

static int sync_file(int descriptor, int (*next)(int)) {
    const char *name = name_of(descriptor);
    if (name && call_fails())
        return -1;
    int done = next(descriptor);
    if (name && done == 0)
        note("sync", name, "", 0, NULL, 0);
    return done;
}
int fsync(int descriptor) {
    return sync_file(descriptor, NEXT(fsync));
}
int fdatasync(int descriptor) {
    return sync_file(descriptor, NEXT(fdatasync));
}

int rename(const char *from, const char *to) {
    char *old = inside(from) ? strdup(inside(from)) : NULL;
    const char *name = inside(to);
    int done = name && call_fails() ? -1 : NEXT(rename)(from, to);
    if (name && old && done == 0)
        note("rename", old, name, 0, NULL, 0);
    for (int i = 0; done == 0 && old && name && i < DESCRIPTORS; i++)
        if (names[i] && strcmp(names[i], old) == 0) {
            free(names[i]);
            names[i] = strdup(name);
        }
    free(old);
    return done;
}

int unlink(const char *path) {
    const char *name = inside(path);
    if (name && call_fails())
        return -1;
    int done = NEXT(unlink)(path);
    if (name && done == 0)
        note("unlink", name, "", 0, NULL, 0);
    return done;
}

int unlinkat(int at, const char *path, int flags) {
    const char *where = name_of(at);
    int ours = where ? strcmp(where, ".") == 0 : 0;
    char link[64], target[PATH_MAX] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    if (!ours && readlink(link, target, sizeof target - 1) > 0)
        ours = folder && strcmp(target, folder) == 0;
    if (ours && call_fails())
        return -1;
    int done = NEXT(unlinkat)(at, path, flags);
    if (ours && done == 0)
        note("unlink", path, "", 0, NULL, 0);
    return done;
}
