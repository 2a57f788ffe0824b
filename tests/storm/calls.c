// Stands between heed and the C library (LD_PRELOAD): counts the calls that reach into one folder,
// logs what each did, kills the process at one of them, or makes some fail.
//
//   STORM_ROOT   the folder; calls outside it are ignored
//   STORM_LOG    a line per call that succeeded: NUMBER CALL INODE SIZE PATH [OTHER PATH]
//   STORM_GRAVE  a folder for hard links to what is removed or replaced: NUMBER
//   STORM_KILL   the number of a call; STORM_HOW: 0 before, 1 in the middle (half a write), 2 after
//                it
//   STORM_FAULT  the probability that a call fails, STORM_SEED its draws
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
static long number, kill_at = -1;
static int how;
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

struct Call {
  const char* name;  // that of its line in the log, if it has one
  long number;
  int error;  // that it fails with, 0, or -1: it does only half
};

// Before a call.
static struct Call enter(const char* name, const int* errors, int count) {
  pthread_mutex_lock(&lock);
  struct Call call = {name, ++number, 0};
  if (fault > 0 && erand48(draws) < fault) call.error = errors[nrand48(draws) % count];
  if (call.number == kill_at && how == 0) die();
  return call;
}

// After a call, whose result this returns. Calls that succeed are logged.
static long leave(struct Call call, long result, ino_t inode, long size, const char* one,
                  const char* other) {
  const int error = call.error > 0 ? call.error : errno;
  if (result >= 0 && call.name != NULL && log_fd >= 0) {
    char line[3 * PATH_MAX];
    const int n = snprintf(line, sizeof line, "%ld\t%s\t%lu\t%ld\t%s\t%s\n", call.number, call.name,
                           (unsigned long)inode, size, one, other);
    REAL(write);
    if (real_write(log_fd, line, (size_t)n) != n) abort();
  }
  if (call.number == kill_at) die();
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
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
  struct Call call = enter("open", flags & O_CREAT ? writing : reading, 3);
  if (inode_of(name) == 0)
    call.name = "create";
  else if (flags & O_TRUNC)
    call.name = "truncate";
  else if ((flags & O_ACCMODE) == O_RDONLY)
    call.name = "look";
  const int fd = call.error ? -1 : real_open(path, flags, mode);
  return (int)leave(call, fd, inode_of(name), fd >= 0 ? size_of(fd) : 0, name, "");
}
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return opened(path, flags, mode);
}
int open64(const char* path, int flags, ...) __attribute__((alias("open")));

ssize_t write(int fd, const void* bytes, size_t size) {
  REAL(write);
  char name[PATH_MAX];
  if (!inside_file(fd, name)) return real_write(fd, bytes, size);
  static const int errors[] = {ENOSPC, EIO, EDQUOT, EINTR, -1, -1};
  const struct Call call = enter("write", errors, 6);
  const int half = call.error == -1 || (call.number == kill_at && how == 1);
  const ssize_t n = call.error > 0 ? -1 : real_write(fd, bytes, half ? (size + 1) / 2 : size);
  return leave(call, n, inode_of(name), size_of(fd), name, "");
}

ssize_t read(int fd, void* bytes, size_t size) {
  REAL(read);
  char name[PATH_MAX];
  if (fault == 0 || !inside_file(fd, name)) return real_read(fd, bytes, size);
  static const int errors[] = {EIO, EINTR, -1, -1};
  const struct Call call = enter(NULL, errors, 4);
  const size_t most = call.error == -1 ? (size + 1) / 2 : size;
  return leave(call, call.error > 0 ? -1 : real_read(fd, bytes, most), 0, 0, name, "");
}

int fsync(int fd) {
  REAL(fsync);
  char name[PATH_MAX];
  if (!inside_file(fd, name)) return real_fsync(fd);
  static const int errors[] = {EIO, ENOSPC};
  const struct Call call = enter("sync", errors, 2);
  // The disk is not involved: power_cut.py works out what it would hold.
  return (int)leave(call, call.error ? -1 : 0, inode_of(name), size_of(fd), name, "");
}

int close(int fd) {
  REAL(close);
  char name[PATH_MAX];
  if (fault == 0 || !inside_file(fd, name)) return real_close(fd);
  static const int errors[] = {EIO};
  const struct Call call = enter(NULL, errors, 1);
  real_close(fd);
  return (int)leave(call, call.error ? -1 : 0, 0, 0, name, "");
}

int ftruncate(int fd, off_t size) {
  REAL(ftruncate);
  char name[PATH_MAX];
  if (!inside_file(fd, name)) return real_ftruncate(fd, size);
  static const int errors[] = {EIO};
  const struct Call call = enter("cut", errors, 1);
  const int done = call.error ? -1 : real_ftruncate(fd, size);
  return (int)leave(call, done, inode_of(name), (long)size, name, "");
}

int mkdir(const char* path, mode_t mode) {
  REAL(mkdir);
  char name[PATH_MAX];
  if (!inside(AT_FDCWD, path, name)) return real_mkdir(path, mode);
  static const int errors[] = {ENOSPC, EIO, EACCES};
  const struct Call call = enter("mkdir", errors, 3);
  return (int)leave(call, call.error ? -1 : real_mkdir(path, mode), 0, 0, name, "");
}

int symlink(const char* target, const char* path) {
  REAL(symlink);
  char name[PATH_MAX];
  if (!inside(AT_FDCWD, path, name)) return real_symlink(target, path);
  static const int errors[] = {ENOSPC, EIO};
  const struct Call call = enter("symlink", errors, 2);
  return (int)leave(call, call.error ? -1 : real_symlink(target, path), 0, 0, name, target);
}

int link(const char* file, const char* path) {
  REAL(link);
  char name[PATH_MAX];
  if (!inside(AT_FDCWD, path, name)) return real_link(file, path);
  static const int errors[] = {EXDEV, EIO, ENOSPC};
  const struct Call call = enter("link", errors, 3);
  return (int)leave(call, call.error ? -1 : real_link(file, path), 0, 0, name, file);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  (void)from_folder, (void)to_folder;  // heed gives AT_FDCWD
  REAL(renameat2);
  char one[PATH_MAX], other[PATH_MAX];
  if (!inside(AT_FDCWD, from, one) || !inside(AT_FDCWD, to, other))
    return real_renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
  static const int errors[] = {ENOSPC, EIO};
  const struct Call call = enter("rename", errors, 2);
  if (!call.error) bury(call.number, other);
  const int done = call.error ? -1 : real_renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
  return (int)leave(call, done, 0, 0, one, other);
}
int rename(const char* from, const char* to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int folder, const char* path, int flags) {
  REAL(unlinkat);
  char name[PATH_MAX];
  if (!inside(folder, path, name)) return real_unlinkat(folder, path, flags);
  static const int errors[] = {EIO, EACCES};
  const struct Call call = enter(flags & AT_REMOVEDIR ? "rmdir" : "unlink", errors, 2);
  struct stat s = {0};
  lstat(name, &s);
  if (!call.error && !S_ISDIR(s.st_mode)) bury(call.number, name);
  return (int)leave(call, call.error ? -1 : real_unlinkat(folder, path, flags), 0, 0, name, "");
}
int unlink(const char* path) {
  return unlinkat(AT_FDCWD, path, 0);
}
int rmdir(const char* path) {
  return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
int remove(const char* path) {
  struct stat s;
  const int folder = lstat(path, &s) == 0 && S_ISDIR(s.st_mode);
  return unlinkat(AT_FDCWD, path, folder ? AT_REMOVEDIR : 0);
}
