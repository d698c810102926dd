// The library that the stand-in loads into the program by LD_PRELOAD. Before main(), it sends its
// process id through a named pipe, and one byte through each other channel. If a channel fails, the
// library ends the program with status 71.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/sandbox/launcher/stand_in/channels.h"

namespace {

using namespace stand_in;  // NOLINT: this is a main file

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "==ERROR== injection: %s: %s\n", what, std::strerror(errno));
  ::_exit(71);
}

char byte_of_memory(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  char byte = 0;
  if (file < 0 || ::read(file, &byte, 1) != 1) give_up("shared memory");
  ::close(file);
  return byte;
}

void send_by_tcp(int port, char byte) {
  const int channel = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (channel < 0 ||
      ::connect(channel, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    give_up("TCP over the loopback");
  if (::write(channel, &byte, 1) != 1) give_up("write by TCP");
  ::close(channel);
}

int listen_to_profiler() {
  sockaddr_un address;
  const socklen_t size = name_of(::getpid(), address);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || ::bind(listener, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(listener, 1) != 0)
    give_up("abstract socket");
  return listener;
}

void send_process_id(const char* pipe) {
  const int end = ::open(pipe, O_WRONLY | O_CLOEXEC);
  const std::string pid = std::to_string(::getpid());
  if (end < 0 || ::write(end, pid.data(), pid.size()) != static_cast<ssize_t>(pid.size()))
    give_up("named pipe");
  ::close(end);
}

__attribute__((constructor)) void begin() {
  const char *pipe = std::getenv(kPipe), *port = std::getenv(kPort), *memory = std::getenv(kMemory);
  if (pipe == nullptr || port == nullptr || memory == nullptr) return;
  const int listener = listen_to_profiler();
  send_process_id(pipe);
  const char byte = byte_of_memory(memory);
  send_by_tcp(std::atoi(port), byte);
  const int channel = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (channel < 0 || ::write(channel, &byte, 1) != 1) give_up("accept");
  ::close(channel);
  ::close(listener);
}

}  // namespace
