// The connection behind an HTTP request. The HTTP library hides the socket from its handlers, but two things need it: noticing that the client
// hung up while a call runs, and waking idle connections at shutdown. So it is looked up among the process's own descriptors.
//
//   HangUp hung_up(request.remote_addr, request.remote_port, request.local_port);     // costs nothing yet
//   while (!hung_up()) ...                                                             // looks up once, then peeks
//
// HangUp belongs to one request, whose connection stays open as long as it is handled; several threads may ask at once.
#pragma once

#include <mutex>
#include <string>

namespace assay::mcp {

class HangUp {
 public:
  HangUp(std::string remote_address, int remote_port, int local_port)
      : remote_address_(std::move(remote_address)), remote_port_(remote_port), local_port_(local_port) {}
  /// The client closed the connection, or its sending half.
  bool operator()();

 private:
  const std::string remote_address_;
  const int remote_port_, local_port_;
  std::mutex mutex_;
  bool looked_ = false;
  int fd_ = -1;  // not ours
};

/// Ends reading on every connection that was accepted on `local_port`: idle ones close, answers in progress are still written.
void stop_reading(int local_port);

}  // namespace assay::mcp
