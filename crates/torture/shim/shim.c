// A library for LD_PRELOAD that stands between a process and one directory.
//
// It records every change below that directory in a trace, and makes chosen calls fail.
//
//   TORTURE_BASE=/dir      the directory (absolute, canonical); without it the shim does nothing
//   TORTURE_TRACE=/file    where the trace goes; src/trace.rs reads it
//   TORTURE_LEDGER=/file   what is written to this file goes into the trace, in order with the rest
//   TORTURE_FAULT=class:n:error:count[:part]
//                          The n-th call of a class fails, and count - 1 further ones do (-1: all).
//                          With a part, only calls on paths that contain it count.
//                          Classes: write fsync read open meta trunc.
//                          Errors: EIO ENOSPC EINTR EMFILE, SHORT (half is written or read),
//                          KILL (the process ends there).
//   TORTURE_COUNTS=/file   at exit: how many calls of each class there were, and how many failed
//
// No call is passed on to fsync: what a power loss leaves is decided by the replay of the trace,
// and what a kill leaves is in the page cache anyway.
//
// Calls that change something are carried out and recorded under one lock, so the trace has the
// order in which they took effect. Streams of libc (fopen, fwrite) call its own functions inside
// and pass by unseen; RocksDB writes only its text log with them.
#define _GNU_SOURCE
#include <stdarg.h>

#include "recorder.h"

// ---- beginning and end ---------------------------------------------------------------------

static void open_trace(const char *path) {
  int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) syscall(SYS_exit_group, 99);
  // Out of the way of programs that count on low numbers.
  int high = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 900);
  if (high >= 0) syscall(SYS_close, fd);
  trace = high >= 0 ? high : fd;
  nftw(base, record_present, 32, FTW_PHYS);
  record('B', 0, 0, NULL, 0, NULL, 0);
}

__attribute__((constructor)) static void start(void) {
  base = getenv("TORTURE_BASE");
  if (!base) return;
  base_len = strlen(base);
  ledger = getenv("TORTURE_LEDGER");
  counts_path = getenv("TORTURE_COUNTS");
  if (getenv("TORTURE_FAULT")) parse_fault(strdup(getenv("TORTURE_FAULT")));
  if (getenv("TORTURE_TRACE")) open_trace(getenv("TORTURE_TRACE"));
  ready = true;
}

__attribute__((destructor)) static void end(void) {
  if (!base || !counts_path) return;
  char text[512];
  int len = snprintf(text, sizeof text, "hits %ld\n", hits);
  for (int i = 0; i < CLASSES; i++)
    len += snprintf(text + len, sizeof text - len, "%s %ld\n", class_names[i], counts[i]);
  int fd = syscall(SYS_openat, AT_FDCWD, counts_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) return;
  syscall(SYS_write, fd, text, len);
  syscall(SYS_close, fd);
}

// ---- open and close ------------------------------------------------------------------------

// Makes a path absolute, without double slashes and dots.
static const char *absolute(int dirfd, const char *path, char *out) {
  char dir[PATH_MAX] = "";
  if (path[0] != '/' && dirfd == AT_FDCWD) {
    if (syscall(SYS_getcwd, dir, sizeof dir) < 0) dir[0] = 0;
  } else if (path[0] != '/') {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
    long len = syscall(SYS_readlink, link, dir, sizeof dir - 1);
    dir[len > 0 ? len : 0] = 0;
  }
  if (snprintf(out, PATH_MAX, "%s%s%s", dir, *dir ? "/" : "", path) >= PATH_MAX) out[0] = 0;
  char *to = out;
  for (const char *from = out; *from;) {
    if (from[0] == '/' && from[1] == '/') from++;
    else if (from[0] == '/' && from[1] == '.' && (from[2] == '/' || !from[2])) from += 2;
    else *to++ = *from++;
  }
  if (to > out + 1 && to[-1] == '/') to--;
  *to = 0;
  return out;
}

static void remember(int fd, const char *path, int flags, bool is_ledger, const struct stat *st) {
  if (fd < 0 || fd >= DESCRIPTORS) return;
  descriptors[fd] = (struct descriptor){.inode = st->st_ino, .path = strdup(path),
      .append = flags & O_APPEND, .directory = S_ISDIR(st->st_mode), .ledger = is_ledger};
}

static int do_open(int dirfd, const char *path, int flags, mode_t mode) {
  char full[PATH_MAX] = "";
  struct stat st = {0};
  if (!ready || !path || !is_below(absolute(dirfd, path, full))) {
    int fd = syscall(SYS_openat, dirfd, path, flags, mode);
    if (ready && fd >= 0 && fd < DESCRIPTORS) descriptors[fd].path = NULL;
    if (ready && ledger && !strcmp(full, ledger)) remember(fd, full, flags, true, &st);
    return fd;
  }
  ENTER(OPEN, full)
  bool existed = syscall(SYS_newfstatat, AT_FDCWD, full, &st, 0) == 0;
  int fd = syscall(SYS_openat, dirfd, path, flags, mode);
  if (fd < 0 || syscall(SYS_fstat, fd, &st) < 0) return unlock(fd);
  remember(fd, full, flags, false, &st);
  if (!existed && (flags & O_CREAT)) record_path('C', st.st_ino, full);
  else if (flags & O_TRUNC) record('T', st.st_ino, 0, NULL, 0, NULL, 0);
  return unlock(fd);
}

#define MODE                                \
  mode_t mode = 0;                          \
  if (flags & (O_CREAT | __O_TMPFILE)) {    \
    va_list list;                           \
    va_start(list, flags);                  \
    mode = va_arg(list, mode_t);            \
    va_end(list);                           \
  }
int open(const char *p, int flags, ...) { MODE return do_open(AT_FDCWD, p, flags, mode); }
int open64(const char *p, int flags, ...) { MODE return do_open(AT_FDCWD, p, flags, mode); }
int openat(int d, const char *p, int flags, ...) { MODE return do_open(d, p, flags, mode); }
int openat64(int d, const char *p, int flags, ...) { MODE return do_open(d, p, flags, mode); }
int __open_2(const char *p, int flags) { return do_open(AT_FDCWD, p, flags, 0); }
int __open64_2(const char *p, int flags) { return do_open(AT_FDCWD, p, flags, 0); }
int creat(const char *p, mode_t mode) {
  return do_open(AT_FDCWD, p, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int close(int fd) {
  if (!known(fd)) return syscall(SYS_close, fd);
  lock();
  descriptors[fd].path = NULL;
  return unlock(syscall(SYS_close, fd));
}

static int duplicated(int fd, int made) {
  if (ready && made >= 0 && made < DESCRIPTORS && fd >= 0 && fd < DESCRIPTORS)
    descriptors[made] = descriptors[fd];
  return made;
}
int dup(int fd) { return duplicated(fd, syscall(SYS_dup, fd)); }
static int do_fcntl(int fd, int command, long argument) {
  int result = syscall(SYS_fcntl, fd, command, argument);
  bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  return duplicates ? duplicated(fd, result) : result;
}
#define ARGUMENT                            \
  va_list list;                             \
  va_start(list, command);                  \
  long argument = va_arg(list, long);       \
  va_end(list);
int fcntl(int fd, int command, ...) { ARGUMENT return do_fcntl(fd, command, argument); }
int fcntl64(int fd, int command, ...) { ARGUMENT return do_fcntl(fd, command, argument); }

// ---- reading and writing -------------------------------------------------------------------

static ssize_t write_ledger(int fd, const struct iovec *parts, int n) {
  lock();
  ssize_t total = 0;
  for (int i = 0; i < n; i++) {
    record('A', 0, 0, parts[i].iov_base, parts[i].iov_len, NULL, 0);
    total += syscall(SYS_write, fd, parts[i].iov_base, parts[i].iov_len);
  }
  return unlock(total);
}

static ssize_t do_write(int fd, const struct iovec *parts, int n, off_t at, bool is_placed) {
  struct descriptor *file = known(fd);
  if (file && file->ledger) return write_ledger(fd, parts, n);
  if (!file) return is_placed ? syscall(SYS_pwritev, fd, parts, n, at, 0)
                              : syscall(SYS_writev, fd, parts, n);
  ENTER(WRITE, file->path)
  struct iovec half = {parts[0].iov_base, parts[0].iov_len / 2};
  if (outcome == SHORT && half.iov_len) parts = &half, n = 1;
  if (!is_placed) at = syscall(SYS_lseek, fd, 0, file->append ? SEEK_END : SEEK_CUR);
  ssize_t done = is_placed ? syscall(SYS_pwritev, fd, parts, n, at, 0)
                           : syscall(SYS_writev, fd, parts, n);
  ssize_t left = done;
  for (int i = 0; i < n && left > 0; i++) {
    size_t len = (size_t)left < parts[i].iov_len ? (size_t)left : parts[i].iov_len;
    record('W', file->inode, at, parts[i].iov_base, len, NULL, 0);
    at += len;
    left -= len;
  }
  return unlock(done);
}
#define ONE(data, len) &(struct iovec){(void *)(data), (len)}, 1
ssize_t write(int fd, const void *b, size_t n) { return do_write(fd, ONE(b, n), 0, false); }
ssize_t writev(int fd, const struct iovec *v, int n) { return do_write(fd, v, n, 0, false); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t at) {
  return do_write(fd, ONE(b, n), at, true);
}
ssize_t pwrite64(int fd, const void *b, size_t n, off_t at) {
  return do_write(fd, ONE(b, n), at, true);
}
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at) {
  return do_write(fd, v, n, at, true);
}
ssize_t pwritev64(int fd, const struct iovec *v, int n, off_t at) {
  return do_write(fd, v, n, at, true);
}

static ssize_t do_read(int fd, void *buffer, size_t n, off_t at, bool is_placed) {
  struct descriptor *file = watched(fd);
  if (file && !file->directory) {
    ENTER(READ, file->path)
    unlock(0);
    if (outcome == SHORT && n > 1) n /= 2;
  }
  return is_placed ? syscall(SYS_pread64, fd, buffer, n, at) : syscall(SYS_read, fd, buffer, n);
}
ssize_t read(int fd, void *b, size_t n) { return do_read(fd, b, n, 0, false); }
ssize_t pread(int fd, void *b, size_t n, off_t at) { return do_read(fd, b, n, at, true); }
ssize_t pread64(int fd, void *b, size_t n, off_t at) { return do_read(fd, b, n, at, true); }

// Copies inside the kernel would pass by unseen: their callers fall back to reading and writing.
ssize_t copy_file_range(int in, off64_t *a, int out, off64_t *b, size_t n, unsigned flags) {
  if (!watched(out)) return syscall(SYS_copy_file_range, in, a, out, b, n, flags);
  errno = ENOSYS;
  return -1;
}
ssize_t sendfile(int out, int in, off_t *at, size_t n) {
  if (!watched(out)) return syscall(SYS_sendfile, out, in, at, n);
  errno = EINVAL;
  return -1;
}
ssize_t sendfile64(int out, int in, off64_t *at, size_t n) { return sendfile(out, in, at, n); }

// ---- making durable ------------------------------------------------------------------------

static int do_sync(int fd, int number) {
  struct descriptor *file = watched(fd);
  if (!file) return syscall(number, fd);
  lock();
  int outcome = judge(FSYNC, file->path);
  record(outcome > 0 ? 'X' : 'S', file->inode, 0, NULL, 0, NULL, 0);
  errno = outcome;
  return unlock(outcome > 0 ? -1 : 0);
}
int fsync(int fd) { return do_sync(fd, SYS_fsync); }
int fdatasync(int fd) { return do_sync(fd, SYS_fdatasync); }
// It promises nothing about metadata, so nothing is durable by it.
int sync_file_range(int fd, off64_t at, off64_t n, unsigned flags) {
  return watched(fd) ? 0 : (int)syscall(SYS_sync_file_range, fd, at, n, flags);
}

// ---- lengths -------------------------------------------------------------------------------

int ftruncate(int fd, off_t len) {
  struct descriptor *file = watched(fd);
  if (!file) return syscall(SYS_ftruncate, fd, len);
  ENTER(TRUNC, file->path)
  int result = syscall(SYS_ftruncate, fd, len);
  if (result == 0) record('T', file->inode, len, NULL, 0, NULL, 0);
  return unlock(result);
}
int ftruncate64(int fd, off64_t len) { return ftruncate(fd, len); }
int truncate(const char *path, off_t len) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  int result = ftruncate(fd, len), saved = errno;
  close(fd);
  errno = saved;
  return result;
}
int truncate64(const char *path, off64_t len) { return truncate(path, len); }

int fallocate(int fd, int mode, off_t at, off_t len) {
  struct descriptor *file = watched(fd);
  if (!file) return syscall(SYS_fallocate, fd, mode, at, len);
  ENTER(TRUNC, file->path)
  if (mode & ~FALLOC_FL_KEEP_SIZE) {
    errno = EOPNOTSUPP;  // holes are not modelled
    return unlock(-1);
  }
  int result = syscall(SYS_fallocate, fd, mode, at, len);
  if (result == 0 && mode == 0) record('F', file->inode, at + len, NULL, 0, NULL, 0);
  return unlock(result);
}
int fallocate64(int fd, int mode, off64_t at, off64_t len) { return fallocate(fd, mode, at, len); }
int posix_fallocate(int fd, off_t at, off_t len) { return fallocate(fd, 0, at, len) ? errno : 0; }
int posix_fallocate64(int fd, off64_t at, off64_t len) { return posix_fallocate(fd, at, len); }

// ---- names ---------------------------------------------------------------------------------

static int two_names(char kind, int number, int d1, const char *a, int d2, const char *b, int f) {
  char from[PATH_MAX], to[PATH_MAX];
  bool is_other = !ready || (!is_below(absolute(d1, a, from)) && !is_below(absolute(d2, b, to)));
  if (is_other) return syscall(number, d1, a, d2, b, f);
  absolute(d2, b, to);
  ENTER(META, to)
  int result = syscall(number, d1, a, d2, b, f);
  if (result == 0) record(kind, 0, 0, from, strlen(from), to, strlen(to));
  return unlock(result);
}
int rename(const char *a, const char *b) {
  return two_names('R', SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 0);
}
int renameat(int d, const char *a, int e, const char *b) {
  return two_names('R', SYS_renameat2, d, a, e, b, 0);
}
int renameat2(int d, const char *a, int e, const char *b, unsigned flags) {
  return two_names('R', SYS_renameat2, d, a, e, b, flags);
}
int link(const char *a, const char *b) {
  return two_names('L', SYS_linkat, AT_FDCWD, a, AT_FDCWD, b, 0);
}
int linkat(int d, const char *a, int e, const char *b, int flags) {
  return two_names('L', SYS_linkat, d, a, e, b, flags);
}

int unlinkat(int d, const char *path, int flags) {
  char full[PATH_MAX];
  if (!ready || !is_below(absolute(d, path, full))) return syscall(SYS_unlinkat, d, path, flags);
  ENTER(META, full)
  int result = syscall(SYS_unlinkat, d, path, flags);
  if (result == 0) record_path('U', 0, full);
  return unlock(result);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
  struct stat st;
  if (syscall(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW)) return -1;
  return unlinkat(AT_FDCWD, path, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
}

int mkdirat(int d, const char *path, mode_t mode) {
  char full[PATH_MAX];
  if (!ready || !is_below(absolute(d, path, full))) return syscall(SYS_mkdirat, d, path, mode);
  ENTER(META, full)
  struct stat st;
  int result = syscall(SYS_mkdirat, d, path, mode);
  if (result == 0 && syscall(SYS_newfstatat, AT_FDCWD, full, &st, 0) == 0)
    record_path('M', st.st_ino, full);
  return unlock(result);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
