// StopOnSignal owns a std::stop_token and requests the stop when the process receives SIGINT or
// SIGTERM. A signal handler may call only a few functions. So the handler wakes a thread, which
// requests the stop.
//
//   const Result<std::unique_ptr<StopOnSignal>> stop = StopOnSignal::install();
//   if (!stop) return fail(stop.error());
//   mcp::serve_http(server, options, (*stop)->token());  // returns when the process gets a signal
//
// At most one object may exist at a time. token() is thread-safe. Child processes do not inherit
// the handlers, because exec() resets them.
#pragma once

#include <csignal>
#include <memory>
#include <stop_token>
#include <thread>

#include "base/result.h"

namespace assay::server {

class StopOnSignal {
 public:
  /// Installs the handlers and starts the thread.
  static Result<std::unique_ptr<StopOnSignal>> install();
  /// Restores the previous signal handlers. Also requests the stop, if no signal has done so.
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  explicit StopOnSignal(int event);

  const int event_;  // an eventfd; it stays open until the process exits
  std::stop_source stop_;
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  std::thread thread_;
};

}  // namespace assay::server
