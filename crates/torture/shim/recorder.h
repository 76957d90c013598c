// What the shim knows of open files, the trace that it writes, and the fault that it inflicts.
// Included once, by shim.c.
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// ---- what is known -------------------------------------------------------------------------

#define DESCRIPTORS 65536

// An open file below the base. The path is never freed: another thread may be reading it.
struct descriptor {
  uint64_t inode;
  const char *path;
  bool append, directory, ledger;
};

enum class { WRITE, FSYNC, READ, OPEN, META, TRUNC, CLASSES };
static const char *class_names[] = {"write", "fsync", "read", "open", "meta", "trunc"};

enum { PASS = 0, SHORT = -1, KILL = -2 };

static struct descriptor descriptors[DESCRIPTORS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool ready;
static const char *base, *ledger, *counts_path;
static size_t base_len;
static int trace = -1;
static long counts[CLASSES], hits;

static struct {
  int class, outcome;
  long first, count;
  const char *part;
} fault = {.class = -1};

static bool is_below(const char *path) {
  return strncmp(path, base, base_len) == 0 && (path[base_len] == '/' || !path[base_len]);
}

static struct descriptor *known(int fd) {
  bool is_known = ready && fd >= 0 && fd < DESCRIPTORS && descriptors[fd].path;
  return is_known ? &descriptors[fd] : NULL;
}

// An open file below the base that is not the ledger.
static struct descriptor *watched(int fd) {
  struct descriptor *found = known(fd);
  return found && !found->ledger ? found : NULL;
}

static void lock(void) { pthread_mutex_lock(&mutex); }

// Leaves with a result, keeping the errno that came with it.
static long unlock(long result) {
  int saved = errno;
  pthread_mutex_unlock(&mutex);
  errno = saved;
  return result;
}

// ---- the trace -----------------------------------------------------------------------------

struct __attribute__((packed)) header {
  uint32_t magic;
  uint8_t kind;
  uint64_t inode, offset, first_len, second_len;
};

static void put(const void *data, size_t len) {
  for (const char *at = data; len;) {
    long done = syscall(SYS_write, trace, at, len);
    if (done <= 0) syscall(SYS_exit_group, 99);  // a trace with a hole would prove nothing
    at += done;
    len -= done;
  }
}

static void record(char kind, uint64_t inode, uint64_t offset, const void *first,
                   size_t first_len, const void *second, size_t second_len) {
  if (trace < 0) return;
  struct header header = {0x544f5254, kind, inode, offset, first_len, second_len};
  put(&header, sizeof header);
  if (first_len) put(first, first_len);
  if (second_len) put(second, second_len);
}

static void record_path(char kind, uint64_t inode, const char *path) {
  record(kind, inode, 0, path, strlen(path), NULL, 0);
}

// What is there when the trace begins.
static int record_present(const char *path, const struct stat *st, int flag, struct FTW *walk) {
  (void)walk;
  if (flag == FTW_D) record_path('M', st->st_ino, path);
  if (flag != FTW_F) return 0;
  record_path('C', st->st_ino, path);
  int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
  char *content = malloc(st->st_size + 1);
  size_t got = 0, size = st->st_size;
  for (long n; got < size && (n = syscall(SYS_read, fd, content + got, size - got)) > 0;) got += n;
  record('W', st->st_ino, 0, content, got, NULL, 0);
  free(content);
  syscall(SYS_close, fd);
  return 0;
}

// ---- faults --------------------------------------------------------------------------------

static int outcome_named(const char *name) {
  static const struct { const char *name; int outcome; } outcomes[] = {
      {"EIO", EIO},     {"ENOSPC", ENOSPC}, {"EINTR", EINTR},
      {"EMFILE", EMFILE}, {"SHORT", SHORT},   {"KILL", KILL}};
  for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
    if (!strcmp(name, outcomes[i].name)) return outcomes[i].outcome;
  return EIO;
}

static void parse_fault(char *text) {
  char *rest, *class = strtok_r(text, ":", &rest), *first = strtok_r(NULL, ":", &rest);
  char *error = strtok_r(NULL, ":", &rest), *count = strtok_r(NULL, ":", &rest);
  if (!class || !first || !error || !count) return;
  for (int i = 0; i < CLASSES; i++)
    if (!strcmp(class, class_names[i])) fault.class = i;
  fault.outcome = outcome_named(error);
  fault.first = atol(first);
  fault.count = atol(count);
  fault.part = strtok_r(NULL, ":", &rest);
}

// Counts a call, and says whether it is to fail: PASS, SHORT or an errno. The lock is held.
static int judge(enum class class, const char *path) {
  if (fault.part && !strstr(path, fault.part)) return PASS;
  long n = ++counts[class];
  if ((int)class != fault.class || n < fault.first) return PASS;
  if (fault.count >= 0 && n >= fault.first + fault.count) return PASS;
  hits++;
  if (fault.outcome == KILL) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  return fault.outcome;
}

// Takes the lock; leaves the function with the error if the call is to fail.
#define ENTER(class, path)                    \
  lock();                                     \
  int outcome = judge(class, path);           \
  if (outcome > 0) {                          \
    errno = outcome;                          \
    return unlock(-1);                        \
  }
