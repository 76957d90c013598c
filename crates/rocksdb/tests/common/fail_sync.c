// Lets chosen syncs of files fail, as a disk does. Preloaded into a test that runs itself as a child process.
//
//   FAIL_PATH   part of the path of the files that are meant
//   FAIL_NTH    the how manieth sync of them fails, from 1; all later ones with FAIL_ALL set
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long syncs;

static int fails(int fd) {
  const char *part = getenv("FAIL_PATH"), *nth = getenv("FAIL_NTH");
  if (!part || !nth) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t len = readlink(link, path, sizeof path - 1);
  if (len < 0) return 0;
  path[len] = 0;
  if (!strstr(path, part)) return 0;
  long count = atomic_fetch_add(&syncs, 1) + 1;
  return count == atol(nth) || (count > atol(nth) && getenv("FAIL_ALL"));
}

static int sync_file(int fd, long call) {
  if (fails(fd)) {
    errno = EIO;
    return -1;
  }
  return syscall(call, fd);
}

int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }
