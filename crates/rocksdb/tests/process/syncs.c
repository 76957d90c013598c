// Tells what is synced, and lets chosen syncs fail, as a disk does. Preloaded into a test that runs itself as a child process.
//
//   SYNC_LOG    a file that gets the path of everything that is synced, one a line
//   FAIL_PATH   part of the path of the files that are meant
//   FAIL_NTH    the how manieth sync of them fails, from 1; all later ones with FAIL_ALL set
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long syncs;

static int path_of(int fd, char *path, size_t room) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t len = readlink(link, path, room - 2);
  if (len < 0) return 0;
  path[len] = 0;
  return 1;
}

static int fails(const char *path) {
  const char *part = getenv("FAIL_PATH"), *nth = getenv("FAIL_NTH");
  if (!part || !nth || !strstr(path, part)) return 0;
  long count = atomic_fetch_add(&syncs, 1) + 1;
  return count == atol(nth) || (count > atol(nth) && getenv("FAIL_ALL"));
}

static void tell(char *path) {
  const char *name = getenv("SYNC_LOG");
  if (!name) return;
  int log = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
  strcat(path, "\n");
  if (log < 0 || write(log, path, strlen(path)) < 0) abort();
  close(log);
}

static int sync_file(int fd, long call) {
  char path[4096];
  int known = path_of(fd, path, sizeof path);
  if (known && fails(path)) {
    errno = EIO;
    return -1;
  }
  int done = syscall(call, fd);
  if (known && done == 0) tell(path);
  return done;
}

int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }
