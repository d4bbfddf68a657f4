/* Preloaded before the C library: lets the n-th call of a kind fail for files under a folder. Calls of most kinds
   count only for files that are open for writing; those of the kind "read" count for all. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[4096], kind[32];
static long left = -1, seen = 0;
static int code = 0, for_ever = 0;

/* Called by the harness: the call `call` number `n` (from 1) fails with `error`, and if `lasting` all after it. */
void fault_set(const char *under, const char *call, long n, int error, int lasting) {
    strncpy(folder, under, sizeof folder - 1);
    strncpy(kind, call, sizeof kind - 1);
    left = n;
    seen = 0;
    code = error;
    for_ever = lasting;
}

long fault_seen(void) { return seen; }

static int fails(const char *call) {
    if (strcmp(call, kind) != 0) return 0;
    seen++;
    if (left < 1 || seen < left || (seen > left && !for_ever)) return 0;
    errno = code;
    return 1;
}

static int is_under(const char *path) { return folder[0] && strncmp(path, folder, strlen(folder)) == 0; }

static int is_inside(int fd) {
    char link[64], path[4096];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return is_under(path);
}

static int is_written(int fd) { return is_inside(fd) && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY; }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t n) {
    if (is_written(fd) && fails("write")) return -1;
    return REAL(write)(fd, data, n);
}

ssize_t writev(int fd, const struct iovec *data, int n) {
    if (is_written(fd) && fails("write")) return -1;
    return REAL(writev)(fd, data, n);
}

ssize_t read(int fd, void *data, size_t n) {
    if (strcmp(kind, "read") == 0 && is_inside(fd) && fails("read")) return -1;
    return REAL(read)(fd, data, n);
}

#define PREAD(name, offset_t)                                                          \
    ssize_t name(int fd, void *data, size_t n, offset_t at) {                          \
        if (strcmp(kind, "read") == 0 && is_inside(fd) && fails("read")) return -1;    \
        return REAL(name)(fd, data, n, at);                                            \
    }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

#define PWRITE(name, offset_t)                                                         \
    ssize_t name(int fd, const void *data, size_t n, offset_t at) {                    \
        if (is_written(fd) && fails("write")) return -1;                               \
        return REAL(name)(fd, data, n, at);                                            \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define FSYNC(name)                                                                    \
    int name(int fd) {                                                                 \
        char link[64], path[4096];                                                     \
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);                           \
        ssize_t n = readlink(link, path, sizeof path - 1);                             \
        path[n < 0 ? 0 : n] = 0;                                                       \
        if (is_under(path) && fails("fsync")) return -1; /* of the folder, too */      \
        return REAL(name)(fd);                                                         \
    }
FSYNC(fsync)
FSYNC(fdatasync)

int ftruncate(int fd, off_t n) {
    if (is_written(fd) && fails("ftruncate")) return -1;
    return REAL(ftruncate)(fd, n);
}

int fchmod(int fd, mode_t mode) {
    if (is_written(fd) && fails("fchmod")) return -1;
    return REAL(fchmod)(fd, mode);
}

int close(int fd) {
    int failing = is_written(fd) && fails("close"), kept = errno, done = REAL(close)(fd);
    if (!failing) return done;
    errno = kept;
    return -1;
}

int rename(const char *from, const char *to) {
    if (is_under(to) && fails("rename")) return -1;
    return REAL(rename)(from, to);
}

#define OPEN(name)                                                                     \
    int name(const char *path, int flags, ...) {                                       \
        va_list more;                                                                  \
        va_start(more, flags);                                                         \
        mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;                      \
        va_end(more);                                                                  \
        if ((flags & O_CREAT) && is_under(path) && fails("open")) return -1;           \
        return REAL(name)(path, flags, mode);                                          \
    }
OPEN(open)
OPEN(open64)
