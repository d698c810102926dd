// Defines the channels between the stand-in for Nsight Compute (ncu.cc) and the library that it
// loads into the program (injection.cc). The real ncu uses the same kinds of channels. So if a jail
// blocks one of them, these tests fail, even on a machine without a GPU.
#pragma once

#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace stand_in {

// Environment variables that the stand-in sets for the program.
inline constexpr const char* kPipe = "STAND_IN_PIPE";  // a named pipe to which the library writes
inline constexpr const char* kPort = "STAND_IN_PORT";  // a TCP port to which the library connects
// The name of a file below /dev/shm that the library reads.
inline constexpr const char* kMemory = "STAND_IN_MEMORY";
inline constexpr char kByte = 'n';  // sent through every channel

/// Writes the address of the program's abstract socket into `address`, and returns the address's
/// size.
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
