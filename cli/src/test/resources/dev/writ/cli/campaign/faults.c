/*
 * Faults at the boundary to the kernel, for the crash campaign: loaded with LD_PRELOAD, it lets the
 * Nth call of one kind that concerns a file below one directory fail, stop half-way, or be the last
 * thing that the process does.
 *
 *   WRIT_FAULT_DIR   the directory
 *   WRIT_FAULT_CALL  sync, write, rename, open, link or unlink
 *   WRIT_FAULT_NTH   which call, counted from 1
 *   WRIT_FAULT_DO    kill, once, always or short
 *   WRIT_FAULT_ERRNO what a failing call says, a number
 *   WRIT_FAULT_LOG   a file: one line for each fault: the call, the inode that it was about, and of a
 *                    sync the bytes that it did not bring to the disk, from and to
 *
 * It acts in the program called java only and is taken out of the environment there, so that no
 * program that java starts is touched.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static char directory[PATH_MAX];
static char call[16];
static char what[16];
static char log_file[PATH_MAX];
static long nth;
static int error_number;
static atomic_long seen;
static int active;
static time_t began;

__attribute__((constructor)) static void start(void) {
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0) {
    return;
  }
  self[n] = 0;
  const char *name = strrchr(self, '/');
  if (name == NULL || strcmp(name, "/java") != 0) {
    return;
  }
  const char *at = getenv("WRIT_FAULT_DIR");
  const char *kind = getenv("WRIT_FAULT_CALL");
  const char *number = getenv("WRIT_FAULT_NTH");
  const char *action = getenv("WRIT_FAULT_DO");
  const char *error = getenv("WRIT_FAULT_ERRNO");
  const char *log = getenv("WRIT_FAULT_LOG");
  if (at && kind && number && action && error && log) {
    snprintf(directory, sizeof directory, "%s/", at);
    snprintf(call, sizeof call, "%s", kind);
    snprintf(what, sizeof what, "%s", action);
    snprintf(log_file, sizeof log_file, "%s", log);
    nth = atol(number);
    error_number = atoi(error);
    began = time(NULL);
    active = 1;
  }
  unsetenv("LD_PRELOAD");
}

static int is_below(const char *path) {
  return strncmp(path, directory, strlen(directory)) == 0;
}

static int descriptor_is_below(int fd) {
  char link[64];
  char path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) {
    return 0;
  }
  path[n] = 0;
  return is_below(path);
}

static int path_is_below(int at, const char *path) {
  char whole[PATH_MAX];
  if (path[0] == '/') {
    return is_below(path);
  }
  char link[64];
  if (at == AT_FDCWD) {
    snprintf(link, sizeof link, "/proc/self/cwd");
  } else {
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
  }
  ssize_t n = readlink(link, whole, sizeof whole - 1);
  if (n <= 0) {
    return 0;
  }
  whole[n] = 0;
  strncat(whole, "/", sizeof whole - strlen(whole) - 1);
  strncat(whole, path, sizeof whole - strlen(whole) - 1);
  return is_below(whole);
}

/* How long files were when they were last synced, by inode; what does not fit is forgotten. */
#define SYNCED_MAX 4096
static struct { unsigned long long inode; long long length; } synced[SYNCED_MAX];
static atomic_flag synced_lock = ATOMIC_FLAG_INIT;

static void remember_synced(int fd) {
  struct stat status;
  if (!active || fstat(fd, &status) != 0) {
    return;
  }
  while (atomic_flag_test_and_set(&synced_lock)) { }
  for (int i = 0; i < SYNCED_MAX; i++) {
    if (synced[i].inode == 0 || synced[i].inode == (unsigned long long) status.st_ino) {
      synced[i].inode = status.st_ino;
      synced[i].length = status.st_size;
      break;
    }
  }
  atomic_flag_clear(&synced_lock);
}

/* What was there before this process is on the disk; what it made is not until it was synced. */
static long long synced_length(int fd, unsigned long long inode, long long length) {
  long long found = -1;
  while (atomic_flag_test_and_set(&synced_lock)) { }
  for (int i = 0; i < SYNCED_MAX && synced[i].inode != 0; i++) {
    if (synced[i].inode == inode) {
      found = synced[i].length;
    }
  }
  atomic_flag_clear(&synced_lock);
  if (found >= 0) {
    return found;
  }
  struct statx born;
  int known = statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &born) == 0;
  return known && born.stx_btime.tv_sec < began ? length : 0;
}

static void note(const char *kind, unsigned long long inode, long long from, long long to) {
  char line[128];
  int n = snprintf(line, sizeof line, "%s %llu %lld %lld\n", kind, inode, from, to);
  int fd = (int) syscall(SYS_openat, AT_FDCWD, log_file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd >= 0) {
    if (syscall(SYS_write, fd, line, (size_t) n) < 0) { /* the fault itself still happens */ }
    syscall(SYS_close, fd);
  }
}

/* 0: go on; 1: fail with errno; 2: do half of it and fail. Does not return where the process ends. */
static int fault(const char *kind, int concerns, int fd) {
  if (!active || strcmp(kind, call) != 0 || !concerns) {
    return 0;
  }
  long number = atomic_fetch_add(&seen, 1) + 1;
  if (number < nth || (number > nth && strcmp(what, "always") != 0)) {
    return 0;
  }
  struct stat status = {0};
  if (fd >= 0 && fstat(fd, &status) == 0 && strcmp(kind, "sync") == 0) {
    note(kind, status.st_ino, synced_length(fd, status.st_ino, status.st_size), status.st_size);
  } else {
    note(kind, status.st_ino, 0, 0);
  }
  if (strcmp(what, "kill") == 0) {
    kill(getpid(), SIGKILL);
    for (;;) {
      pause();
    }
  }
  return strcmp(what, "short") == 0 ? 2 : 1;
}

static int descriptor_fault(const char *kind, int fd) {
  if (!active || strcmp(kind, call) != 0) {
    return 0;
  }
  return fault(kind, descriptor_is_below(fd), fd);
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (real == NULL) { \
    real = (type (*)(__VA_ARGS__)) dlsym(RTLD_NEXT, name); \
  }

#define FAILED_IF(condition) \
  if (condition) { \
    errno = error_number; \
    return -1; \
  }

static int after_sync(int fd, int status) {
  if (status == 0) {
    remember_synced(fd);
  }
  return status;
}

int fsync(int fd) {
  REAL(int, "fsync", int)
  FAILED_IF(descriptor_fault("sync", fd))
  return after_sync(fd, real(fd));
}

int fdatasync(int fd) {
  REAL(int, "fdatasync", int)
  FAILED_IF(descriptor_fault("sync", fd))
  return after_sync(fd, real(fd));
}

int sync_file_range(int fd, off64_t offset, off64_t length, unsigned int flags) {
  REAL(int, "sync_file_range", int, off64_t, off64_t, unsigned int)
  FAILED_IF(descriptor_fault("sync", fd))
  return real(fd, offset, length, flags);
}

int syncfs(int fd) {
  REAL(int, "syncfs", int)
  FAILED_IF(descriptor_fault("sync", fd))
  return real(fd);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t)
  int f = descriptor_fault("write", fd);
  if (f == 2 && length > 1) {
    real(fd, bytes, length / 2);
  }
  FAILED_IF(f)
  return real(fd, bytes, length);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)
  int f = descriptor_fault("write", fd);
  if (f == 2 && length > 1) {
    real(fd, bytes, length / 2, offset);
  }
  FAILED_IF(f)
  return real(fd, bytes, length, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  return pwrite64(fd, bytes, length, (off64_t) offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int)
  int f = descriptor_fault("write", fd);
  if (f == 2 && count > 1) {
    real(fd, parts, count / 2);
  }
  FAILED_IF(f)
  return real(fd, parts, count);
}

int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *)
  FAILED_IF(fault("rename", path_is_below(AT_FDCWD, to), -1))
  return real(from, to);
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
  REAL(int, "renameat", int, const char *, int, const char *)
  FAILED_IF(fault("rename", path_is_below(to_at, to), -1))
  return real(from_at, from, to_at, to);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned int flags) {
  REAL(int, "renameat2", int, const char *, int, const char *, unsigned int)
  FAILED_IF(fault("rename", path_is_below(to_at, to), -1))
  return real(from_at, from, to_at, to, flags);
}

int link(const char *from, const char *to) {
  REAL(int, "link", const char *, const char *)
  FAILED_IF(fault("link", path_is_below(AT_FDCWD, to), -1))
  return real(from, to);
}

int unlink(const char *path) {
  REAL(int, "unlink", const char *)
  FAILED_IF(fault("unlink", path_is_below(AT_FDCWD, path), -1))
  return real(path);
}

int unlinkat(int at, const char *path, int flags) {
  REAL(int, "unlinkat", int, const char *, int)
  FAILED_IF(fault("unlink", path_is_below(at, path), -1))
  return real(at, path, flags);
}

static mode_t mode_of(int flags, va_list rest) {
  return (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
}

#define OPENS(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, #name, const char *, int, ...) \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = mode_of(flags, rest); \
    va_end(rest); \
    FAILED_IF(active && fault("open", path_is_below(AT_FDCWD, path), -1)) \
    return real(path, flags, mode); \
  }

OPENS(open)
OPENS(open64)

#define OPENS_AT(name) \
  int name(int at, const char *path, int flags, ...) { \
    REAL(int, #name, int, const char *, int, ...) \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = mode_of(flags, rest); \
    va_end(rest); \
    FAILED_IF(active && fault("open", path_is_below(at, path), -1)) \
    return real(at, path, flags, mode); \
  }

OPENS_AT(openat)
OPENS_AT(openat64)
