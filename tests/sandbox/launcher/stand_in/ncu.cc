// A stand-in for Nsight Compute. It starts a program in the same way as the real ncu (observed with
// the versions 2022.3 and 2024.1), but reads no counters.
//
//   INSTALLATION/target/PLATFORM/ncu ... --metrics NAMES PROGRAM [ARGUMENT...]
//
// The stand-in reads INSTALLATION/sections, writes below HOME and TMPDIR, creates named pipes, and
// starts a middle process. The middle process adopts orphans, and starts the program with
// libinjection.so from the stand-in's folder. Then the stand-in uses every channel to that library.
// The exit status is that of the program. If a step was refused, the exit status is 70, and
// standard output names the step.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "tests/sandbox/launcher/stand_in/channels.h"

namespace {

using namespace stand_in;  // NOLINT: this is a main file

constexpr int kRefused = 70;
// The time limit of the stand-in. Without it, a program that writes nothing to the pipe would block
// the stand-in for ever.
constexpr unsigned kMaxSeconds = 15;

[[noreturn]] void give_up(const std::string& what) {
  std::printf("==ERROR== %s: %s\n", what.c_str(), std::strerror(errno));
  std::fflush(stdout);
  ::_exit(kRefused);
}

void make_file(const std::string& path, char byte) {
  const int file = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0 || ::write(file, &byte, 1) != 1) give_up("create " + path);
  ::close(file);
}

std::string own_folder() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) give_up("/proc/self/exe");
  return self.parent_path();
}

/// Listens on a TCP port of the loopback interface, and writes the port into the environment.
/// Returns the socket.
int listen_on_loopback() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (listener < 0 || ::bind(listener, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(listener, 1) != 0)
    give_up("listen on the loopback");
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    give_up("getsockname");
  ::setenv(kPort, std::to_string(ntohs(address.sin_port)).c_str(), 1);
  return listener;
}

/// Starts the middle process, and returns its process id. Its exit status is the program's.
pid_t launch(char** program) {
  const pid_t middle = ::fork();
  if (middle < 0) give_up("fork");
  if (middle > 0) return middle;
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) give_up("prctl(PR_SET_CHILD_SUBREAPER)");
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("LD_PRELOAD", (own_folder() + "/libinjection.so").c_str(), 1);
    // These options switch off two checks of the address sanitizer. By default, the sanitizer must
    // be the first library, and it looks for leaks by ptrace, which the jail denies.
    ::setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
    ::execv(program[0], program);
    give_up(std::string("execv ") + program[0]);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) give_up("waitpid");
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

void expect_byte(int channel, const char* what) {
  char byte = 0;
  if (channel < 0 || ::read(channel, &byte, 1) != 1 || byte != kByte) give_up(what);
  ::close(channel);
}

int connect_to(int pid) {
  sockaddr_un address;
  const socklen_t size = name_of(pid, address);
  const int channel = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (channel < 0 || ::connect(channel, reinterpret_cast<const sockaddr*>(&address), size) != 0)
    give_up("connect to the program's socket");
  return channel;
}

int process_in(const std::string& pipe) {
  char text[32] = {};
  const int end = ::open(pipe.c_str(), O_RDONLY | O_CLOEXEC);
  if (end < 0 || ::read(end, text, sizeof text - 1) <= 0) give_up("read " + pipe);
  ::close(end);
  return std::atoi(text);
}

}  // namespace

int main(int argc, char** argv) {
  ::alarm(kMaxSeconds);
  char** program = std::find(argv, argv + argc, std::string_view("--metrics"));
  const char *home = std::getenv("HOME"), *temporary = std::getenv("TMPDIR");
  if (argv + argc - program < 3 || home == nullptr || temporary == nullptr)
    give_up("no program, HOME or TMPDIR");
  if (::access((own_folder() + "/../../sections").c_str(), R_OK) != 0) give_up("sections");
  make_file(std::string(home) + "/sections", kByte);
  std::string folder = std::string(temporary) + "/stand-in-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) give_up("mkdtemp");
  const std::string pipe = folder + "/pipe",
                    memory = "/dev/shm/stand-in-" + std::to_string(::getpid());
  if (::mkfifo(pipe.c_str(), 0666) != 0) give_up("Launching the target application failed. mkfifo");
  make_file(memory, kByte);
  ::setenv(kPipe, pipe.c_str(), 1);
  ::setenv(kMemory, memory.c_str(), 1);
  const int port = listen_on_loopback();
  const pid_t middle = launch(program + 2);
  const int pid = process_in(pipe);
  expect_byte(::accept4(port, nullptr, nullptr, SOCK_CLOEXEC), "the byte by TCP");
  expect_byte(connect_to(pid), "the byte by the program's socket");
  std::printf("==PROF== Connected to process %d\n", pid);
  int status = 0;
  if (::waitpid(middle, &status, 0) != middle || !WIFEXITED(status)) give_up("the middle process");
  std::printf("==WARNING== No kernels were profiled.\n");
  return WEXITSTATUS(status);
}
