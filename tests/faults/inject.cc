// A library for LD_PRELOAD that makes system calls of a server, of its judges and of its launchers
// fail on command.
// The environment variable ASSAY_FAULTS names the file with the control block (inject.h).
//
// Calls on the files that a process gets as descriptors 0, 1 and 2 never fail. These files are the
// client's connection and the log. The calls of the C library to itself, for example those of
// malloc, never come here.
#include "tests/faults/inject.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace assay::faults {
namespace {

/// The functions in the order of tests/faults/injection.py.
enum Call : std::uint32_t {
  kOpen,
  kRead,
  kWrite,
  kPread,
  kPwrite,
  kFsync,
  kFtruncate,
  kFstat,
  kUnlink,
  kMkdir,
  kRmdir,
  kOpendir,
  kPipe2,
  kSocketpair,
  kSendmsg,
  kRecvmsg,
  kPoll,
  kEventfd,
  kFcntl,
  kMmap,
  kMemfdCreate,
  kFork,
  kWaitid,
  kSyscall,
  kPthreadCreate,
  kFallocate,
  kDup,
  kExecve,
  kCalls,
};
static_assert(kCalls <= kMaxCalls);

struct File {
  dev_t device = 0;
  ino_t number = 0;
  bool operator==(const File&) const = default;
};

Control* control = nullptr;
Role role = Role::none;
std::array<File, 3> standard_files;

Role own_role() {
  std::array<char, 4096> words{};
  std::FILE* file = std::fopen("/proc/self/cmdline", "re");
  if (file == nullptr) return Role::none;
  const std::size_t size = std::fread(words.data(), 1, words.size() - 1, file);
  std::fclose(file);
  constexpr std::string_view kLauncher = "assay-launcher";
  bool is_server = false, is_judge = false;
  if (std::string_view(words.data()).ends_with(kLauncher)) return Role::launcher;
  for (std::size_t at = 0; at < size;) {
    const std::string_view word(words.data() + at);
    is_server |= word == "serve";
    is_judge |= word == "judge";
    at += word.size() + 1;
  }
  if (is_judge) return Role::judge;
  return is_server ? Role::server : Role::none;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Returns true, with errno set, if this call has to fail.
bool fails(Call call) {
  if (control == nullptr || role == Role::none) return false;
  const auto mine = static_cast<std::uint32_t>(role);
  control->counts[mine][call].fetch_add(1, std::memory_order_relaxed);
  if (control->role.load() != mine || control->call.load() != call) return false;
  const std::uint32_t before = control->seen.fetch_add(1);
  const std::uint32_t skip = control->skip.load();
  if (before < skip || before - skip >= control->times.load()) return false;
  control->fired.fetch_add(1);
  errno = static_cast<int>(control->error.load());
  return true;
}

File file_behind(int fd) {
  static auto* const next = real<int(int, struct stat*)>("fstat");
  struct stat facts {};
  return next(fd, &facts) == 0 ? File{facts.st_dev, facts.st_ino} : File{};
}

bool fails_on(Call call, int fd) {
  if (control == nullptr) return false;
  const File file = file_behind(fd);
  for (const File& standard : standard_files)
    if (file == standard) return false;
  return fails(call);
}

__attribute__((constructor)) void attach() {
  const char* path = std::getenv("ASSAY_FAULTS");
  if (path == nullptr) return;
  role = own_role();
  if (role == Role::none) return;
  for (int fd = 0; fd <= 2; ++fd) standard_files[static_cast<std::size_t>(fd)] = file_behind(fd);
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* shared = ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (shared != MAP_FAILED) control = static_cast<Control*>(shared);
}

}  // namespace
}  // namespace assay::faults

// A wrapper fails, or calls the function that it replaces.
#define ASSAY_WRAP(call, name, failure, parameters, arguments, condition)    \
  int name parameters {                                                      \
    static auto* const next = assay::faults::real<int parameters>(#name);    \
    if (condition assay::faults::fails(assay::faults::call)) return failure; \
    return next arguments;                                                   \
  }
#define ASSAY_WRAP_SIZE(call, name, parameters, arguments, fd)                \
  ssize_t name parameters {                                                   \
    static auto* const next = assay::faults::real<ssize_t parameters>(#name); \
    if (assay::faults::fails_on(assay::faults::call, fd)) return -1;          \
    return next arguments;                                                    \
  }

extern "C" {

ASSAY_WRAP_SIZE(kRead, read, (int fd, void* to, size_t size), (fd, to, size), fd)
ASSAY_WRAP_SIZE(kWrite, write, (int fd, const void* from, size_t size), (fd, from, size), fd)
ASSAY_WRAP_SIZE(kPread, pread, (int fd, void* to, size_t size, off_t at), (fd, to, size, at), fd)
ASSAY_WRAP_SIZE(kPread, pread64, (int fd, void* to, size_t size, off64_t at), (fd, to, size, at),
                fd)
ASSAY_WRAP_SIZE(kPwrite, pwrite, (int fd, const void* from, size_t size, off_t at),
                (fd, from, size, at), fd)
ASSAY_WRAP_SIZE(kPwrite, pwrite64, (int fd, const void* from, size_t size, off64_t at),
                (fd, from, size, at), fd)
ASSAY_WRAP_SIZE(kSendmsg, sendmsg, (int fd, const msghdr* message, int flags), (fd, message, flags),
                fd)
ASSAY_WRAP_SIZE(kRecvmsg, recvmsg, (int fd, msghdr* message, int flags), (fd, message, flags), fd)

ASSAY_WRAP(kFsync, fsync, -1, (int fd), (fd), )
ASSAY_WRAP(kFsync, fdatasync, -1, (int fd), (fd), )
ASSAY_WRAP(kFtruncate, ftruncate, -1, (int fd, off_t size), (fd, size), )
ASSAY_WRAP(kFtruncate, ftruncate64, -1, (int fd, off64_t size), (fd, size), )
ASSAY_WRAP(kFallocate, fallocate, -1, (int fd, int mode, off_t at, off_t size),
           (fd, mode, at, size), )
ASSAY_WRAP(kFallocate, posix_fallocate, errno, (int fd, off_t at, off_t size), (fd, at, size), )
ASSAY_WRAP(kFstat, fstat, -1, (int fd, struct stat* facts), (fd, facts), )
ASSAY_WRAP(kUnlink, unlink, -1, (const char* path), (path), )
ASSAY_WRAP(kMkdir, mkdir, -1, (const char* path, mode_t mode), (path, mode), )
ASSAY_WRAP(kRmdir, rmdir, -1, (const char* path), (path), )
ASSAY_WRAP(kPipe2, pipe2, -1, (int ends[2], int flags), (ends, flags), )
ASSAY_WRAP(kSocketpair, socketpair, -1, (int domain, int type, int protocol, int ends[2]),
           (domain, type, protocol, ends), )
ASSAY_WRAP(kPoll, poll, -1, (pollfd * entries, nfds_t count, int ms), (entries, count, ms), )
ASSAY_WRAP(kEventfd, eventfd, -1, (unsigned value, int flags), (value, flags), )
ASSAY_WRAP(kMemfdCreate, memfd_create, -1, (const char* name, unsigned flags), (name, flags), )
ASSAY_WRAP(kWaitid, waitid, -1, (idtype_t type, id_t id, siginfo_t* found, int options),
           (type, id, found, options), )
ASSAY_WRAP(kExecve, execve, -1, (const char* path, char* const words[], char* const variables[]),
           (path, words, variables), )
ASSAY_WRAP(kDup, dup, -1, (int fd), (fd), )
ASSAY_WRAP(kPthreadCreate, pthread_create, errno,
           (pthread_t * thread, const pthread_attr_t* how, void* (*start)(void*), void* with),
           (thread, how, start, with), )

DIR* opendir(const char* path) {
  static auto* const next = assay::faults::real<DIR*(const char*)>("opendir");
  return assay::faults::fails(assay::faults::kOpendir) ? nullptr : next(path);
}

pid_t fork() {
  static auto* const next = assay::faults::real<pid_t()>("fork");
  return assay::faults::fails(assay::faults::kFork) ? -1 : next();
}

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  static auto* const next = assay::faults::real<void*(void*, size_t, int, int, int, off_t)>("mmap");
  if (assay::faults::fails(assay::faults::kMmap)) return MAP_FAILED;
  return next(at, size, protection, flags, fd, offset);
}

void* mmap64(void* at, size_t size, int protection, int flags, int fd, off64_t offset) {
  return mmap(at, size, protection, flags, fd, offset);
}

#define ASSAY_OPEN(name, first, first_name)                                                 \
  int name(first const char* path, int flags, ...) {                                        \
    va_list more;                                                                           \
    va_start(more, flags);                                                                  \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;    \
    va_end(more);                                                                           \
    static auto* const next = assay::faults::real<int(first const char*, int, ...)>(#name); \
    if (assay::faults::fails(assay::faults::kOpen)) return -1;                              \
    return next(first_name path, flags, mode);                                              \
  }
#define ASSAY_COMMA ,
ASSAY_OPEN(open, , )
ASSAY_OPEN(open64, , )
ASSAY_OPEN(openat, int folder ASSAY_COMMA, folder ASSAY_COMMA)
ASSAY_OPEN(openat64, int folder ASSAY_COMMA, folder ASSAY_COMMA)

int fcntl64(int fd, int command, ...) {
  va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  static auto* const next = assay::faults::real<int(int, int, ...)>("fcntl64");
  if (assay::faults::fails_on(assay::faults::kFcntl, fd)) return -1;
  return next(fd, command, argument);
}

int fcntl(int fd, int command, ...) {
  va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  return fcntl64(fd, command, argument);
}

long syscall(long number, ...) {
  va_list more;
  va_start(more, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(more, long);
  va_end(more);
  static auto* const next = assay::faults::real<long(long, ...)>("syscall");
  if (assay::faults::fails(assay::faults::kSyscall)) return -1;
  return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
              arguments[5]);
}

}  // extern "C"
