// What the stand-in for Nsight Compute and the library that it puts into the program agree on:
// every way on which the two parts of the real one speak, so that a jail that closes one of them is
// found here and not on a machine with a GPU.
#pragma once

#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace stand_in {

// Environment of the program.
inline constexpr const char* kPipe = "STAND_IN_PIPE";  // named pipe, which it opens to write
inline constexpr const char* kPort = "STAND_IN_PORT";  // of TCP on the loopback, which it reaches
inline constexpr const char* kMemory = "STAND_IN_MEMORY";  // file below /dev/shm, which it reads
inline constexpr char kByte = 'n';                         // goes through all of them

/// The program's own socket, an abstract one.
inline socklen_t name_of(int pid, sockaddr_un& address) {
  const std::string name = "assay_stand_in_" + std::to_string(pid);
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

inline sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<in_port_t>(port));
  return address;
}

}  // namespace stand_in
