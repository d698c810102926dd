// StopOnSignal turns SIGINT and SIGTERM into a stop token. A signal handler may hardly do anything,
// so a thread waits for the signal and requests the stop.
//
//   const Result<std::unique_ptr<StopOnSignal>> stop = StopOnSignal::install();
//   if (!stop) return fail(stop.error());
//   mcp::serve_http(server, options, (*stop)->token());  // until the process gets a signal
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
  /// Restores the handlers from before, and requests the stop if no signal did.
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  explicit StopOnSignal(int event);

  const int event_;  // an eventfd; stays open for the life of the process
  std::stop_source stop_;
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  std::thread thread_;
};

}  // namespace assay::server
