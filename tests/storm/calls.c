// Stands between heed and the C library (LD_PRELOAD): counts the calls that reach into one folder,
// logs what each did, kills the process at one of them, or makes some fail.
//
//   STORM_ROOT   the folder; calls outside it are ignored
//   STORM_LOG    a line per call that succeeded: NUMBER CALL INODE SIZE PATH [OTHER PATH]
//   STORM_GRAVE  a folder for hard links to what is removed or replaced: NUMBER
//   STORM_KILL   the number of a call; STORM_HOW: 0 before, 1 in the middle (half a write), 2 after it
//   STORM_FAULT  the probability that a call fails, STORM_SEED its draws
//   STORM_FAIL   the number of the one call that fails (0: none), STORM_ERROR which of its errors
//
// Calls that read or close have a number only where calls may fail.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX], grave[PATH_MAX];
static int log_fd = -1;
static long number, kill_at = -1, fail_at = -1;
static int how, which;
static double fault;
static unsigned short draws[3];

#define REAL(name) const __typeof__(&name) real_##name = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
  const char* text = getenv("STORM_ROOT");
  if (text == NULL || realpath(text, root) == NULL) return;
  if ((text = getenv("STORM_GRAVE")) != NULL && realpath(text, grave) == NULL) grave[0] = 0;
  if ((text = getenv("STORM_KILL")) != NULL) kill_at = atol(text);
  if ((text = getenv("STORM_HOW")) != NULL) how = atoi(text);
  if ((text = getenv("STORM_FAULT")) != NULL) fault = atof(text);
  if ((text = getenv("STORM_SEED")) != NULL) draws[0] = (unsigned short)atoi(text);
  if ((text = getenv("STORM_FAIL")) != NULL) fail_at = atol(text);
  if ((text = getenv("STORM_ERROR")) != NULL) which = atoi(text);
  REAL(open);
  if ((text = getenv("STORM_LOG")) != NULL)
    log_fd = real_open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

// The real path of a name whose parent exists; 0 if it is not under the root.
static int inside(int folder, const char* path, char* out) {
  char whole[2 * PATH_MAX], parent[PATH_MAX];
  if (root[0] == 0 || path == NULL) return 0;
  if (path[0] != '/' && folder != AT_FDCWD) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const ssize_t n = readlink(link, parent, sizeof parent - 1);
    if (n < 0) return 0;
    parent[n] = 0;
    snprintf(whole, sizeof whole, "%s/%s", parent, path);
  } else {
    snprintf(whole, sizeof whole, "%s", path);
  }
  char* name = strrchr(whole, '/');
  if (name != NULL) *name++ = 0;
  const char* above = name == NULL ? "." : whole[0] == 0 ? "/" : whole;
  if (realpath(above, parent) == NULL) return 0;
  const int n = snprintf(out, PATH_MAX, "%s/%s", parent, name == NULL ? whole : name);
  return n < PATH_MAX && strncmp(out, root, strlen(root)) == 0;
}

static int inside_file(int fd, char* out) {
  char link[64];
  if (root[0] == 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, out, PATH_MAX - 1);
  if (n < 0) return 0;
  out[n] = 0;
  return strncmp(out, root, strlen(root)) == 0;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static int may_fail(void) { return fault > 0 || fail_at >= 0; }

// Before a call: its number, and 0 or the error that it fails with.
static long enter(const int* errors, int count, int* error) {
  pthread_mutex_lock(&lock);
  const long me = ++number;
  *error = fault > 0 && erand48(draws) < fault ? errors[nrand48(draws) % count] : 0;
  if (me == fail_at) *error = errors[which % count];
  if (me == kill_at && how == 0) die();
  return me;
}

static void leave(long me, int done, const char* call, ino_t inode, long size, const char* one,
                  const char* other) {
  const int error = errno;
  if (done && log_fd >= 0) {
    char line[3 * PATH_MAX];
    const int n = snprintf(line, sizeof line, "%ld\t%s\t%lu\t%ld\t%s\t%s\n", me, call,
                           (unsigned long)inode, size, one, other);
    REAL(write);
    if (real_write(log_fd, line, (size_t)n) != n) abort();
  }
  if (me == kill_at) die();
  pthread_mutex_unlock(&lock);
  errno = error;
}

// Keeps the file at `path` as a hard link.
static void bury(long me, const char* path) {
  char to[PATH_MAX + 32];
  if (grave[0] == 0) return;
  snprintf(to, sizeof to, "%s/%ld", grave, me);
  (void)!linkat(AT_FDCWD, path, AT_FDCWD, to, 0);
}

static ino_t inode_of(const char* path) {
  struct stat s;
  return lstat(path, &s) == 0 ? s.st_ino : 0;
}
static long size_of(int fd) {
  struct stat s;
  return fstat(fd, &s) == 0 ? (long)s.st_size : -1;
}

static int opened(const char* path, int flags, mode_t mode) {
  REAL(open);
  char name[PATH_MAX];
  if (!inside(AT_FDCWD, path, name)) return real_open(path, flags, mode);
  static const int writing[] = {ENOSPC, EIO, EMFILE}, reading[] = {EIO, EMFILE, EACCES};
  int error;
  const long me = enter(flags & O_CREAT ? writing : reading, 3, &error);
  const ino_t before = inode_of(name);
  const int fd = error ? -1 : real_open(path, flags, mode);
  if (error) errno = error;
  const char* call = before == 0                       ? "create"
                     : flags & O_TRUNC                 ? "truncate"
                     : (flags & O_ACCMODE) == O_RDONLY ? "look"
                                                       : "open";
  leave(me, fd >= 0, call, inode_of(name), fd >= 0 ? size_of(fd) : 0, name, "");
  return fd;
}
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return opened(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return opened(path, flags, mode);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  REAL(write);
  char name[PATH_MAX];
  if (!inside_file(fd, name)) return real_write(fd, bytes, size);
  static const int errors[] = {ENOSPC, EIO, EDQUOT, EINTR, -1, -1};  // -1: a short write
  int error;
  const long me = enter(errors, 6, &error);
  const int half = error == -1 || (me == kill_at && how == 1);
  const ssize_t n = error > 0 ? -1 : real_write(fd, bytes, half ? (size + 1) / 2 : size);
  if (error > 0) errno = error;
  leave(me, n >= 0, "write", inode_of(name), size_of(fd), name, "");
  return n;
}

ssize_t read(int fd, void* bytes, size_t size) {
  REAL(read);
  char name[PATH_MAX];
  if (!may_fail() || !inside_file(fd, name)) return real_read(fd, bytes, size);
  static const int errors[] = {EIO, EINTR, -1, -1};
  int error;
  const long me = enter(errors, 4, &error);
  const ssize_t n = error > 0 ? -1 : real_read(fd, bytes, error == -1 ? (size + 1) / 2 : size);
  if (error > 0) errno = error;
  leave(me, 0, "read", 0, 0, name, "");
  return n;
}

int fsync(int fd) {
  REAL(fsync);
  char name[PATH_MAX];
  if (!inside_file(fd, name)) return real_fsync(fd);
  static const int errors[] = {EIO, ENOSPC};
  int error;
  const long me = enter(errors, 2, &error);
  if (error) errno = error;
  leave(me, !error, "sync", inode_of(name), size_of(fd), name, "");
  return error ? -1 : 0;  // the disk is not involved: power_cut.py works out what it would hold
}

int close(int fd) {
  REAL(close);
  char name[PATH_MAX];
  if (!may_fail() || !inside_file(fd, name)) return real_close(fd);
  static const int errors[] = {EIO};
  int error;
  const long me = enter(errors, 1, &error);
  real_close(fd);
  leave(me, 0, "close", 0, 0, name, "");
  if (error) errno = error;
  return error ? -1 : 0;
}

int ftruncate(int fd, off_t size) {
  REAL(ftruncate);
  char name[PATH_MAX];
  if (!inside_file(fd, name)) return real_ftruncate(fd, size);
  static const int errors[] = {EIO};
  int error;
  const long me = enter(errors, 1, &error);
  const int done = error ? -1 : real_ftruncate(fd, size);
  if (error) errno = error;
  leave(me, done == 0, "cut", inode_of(name), (long)size, name, "");
  return done;
}

int mkdir(const char* path, mode_t mode) {
  REAL(mkdir);
  char name[PATH_MAX];
  if (!inside(AT_FDCWD, path, name)) return real_mkdir(path, mode);
  static const int errors[] = {ENOSPC, EIO, EACCES};
  int error;
  const long me = enter(errors, 3, &error);
  const int done = error ? -1 : real_mkdir(path, mode);
  if (error) errno = error;
  leave(me, done == 0, "mkdir", 0, 0, name, "");
  return done;
}

int symlink(const char* target, const char* path) {
  REAL(symlink);
  char name[PATH_MAX];
  if (!inside(AT_FDCWD, path, name)) return real_symlink(target, path);
  static const int errors[] = {ENOSPC, EIO};
  int error;
  const long me = enter(errors, 2, &error);
  const int done = error ? -1 : real_symlink(target, path);
  if (error) errno = error;
  leave(me, done == 0, "symlink", 0, 0, name, target);
  return done;
}

int link(const char* file, const char* path) {
  REAL(link);
  char name[PATH_MAX];
  if (!inside(AT_FDCWD, path, name)) return real_link(file, path);
  static const int errors[] = {EXDEV, EIO, ENOSPC};
  int error;
  const long me = enter(errors, 3, &error);
  const int done = error ? -1 : real_link(file, path);
  if (error) errno = error;
  leave(me, done == 0, "link", 0, 0, name, file);
  return done;
}

static int renamed(const char* from, const char* to, unsigned flags) {
  REAL(renameat2);
  char one[PATH_MAX], other[PATH_MAX];
  if (!inside(AT_FDCWD, from, one) || !inside(AT_FDCWD, to, other))
    return real_renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
  static const int errors[] = {ENOSPC, EIO};
  int error;
  const long me = enter(errors, 2, &error);
  if (!error) bury(me, other);
  const int done = error ? -1 : real_renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
  if (error) errno = error;
  leave(me, done == 0, "rename", 0, 0, one, other);
  return done;
}
int rename(const char* from, const char* to) {
  return renamed(from, to, 0);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  (void)from_folder, (void)to_folder;  // heed gives AT_FDCWD
  return renamed(from, to, flags);
}

static int removed(int folder, const char* path, int flags) {
  REAL(unlinkat);
  char name[PATH_MAX];
  if (!inside(folder, path, name)) return real_unlinkat(folder, path, flags);
  static const int errors[] = {EIO, EACCES};
  int error;
  const long me = enter(errors, 2, &error);
  struct stat s = {0};
  lstat(name, &s);
  if (!error && !S_ISDIR(s.st_mode)) bury(me, name);
  const int done = error ? -1 : real_unlinkat(folder, path, flags);
  if (error) errno = error;
  leave(me, done == 0, flags & AT_REMOVEDIR ? "rmdir" : "unlink", 0, 0, name, "");
  return done;
}
int unlinkat(int folder, const char* path, int flags) {
  return removed(folder, path, flags);
}
int unlink(const char* path) {
  return removed(AT_FDCWD, path, 0);
}
int rmdir(const char* path) {
  return removed(AT_FDCWD, path, AT_REMOVEDIR);
}
int remove(const char* path) {
  struct stat s;
  const int folder = lstat(path, &s) == 0 && S_ISDIR(s.st_mode);
  return removed(AT_FDCWD, path, folder ? AT_REMOVEDIR : 0);
}
