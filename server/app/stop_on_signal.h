// StopOnSignal owns two std::stop_tokens and requests their stops when the process receives SIGINT
// or SIGTERM. The first signal asks for an orderly end, the second one for an end at once. A signal
// handler may call only a few functions. So the handler wakes a thread, which requests the stops.
// If the object has a function for SIGHUP, the thread also calls this function.
//
//   const Result<std::unique_ptr<StopOnSignal>> stop =
//       StopOnSignal::install([] { log::info("SIGHUP"); });
//   if (!stop) return fail(stop.error());
//   const std::stop_callback finish((*stop)->orderly(), [] { log::info("finish the work"); });
//   mcp::serve_http(server, options, (*stop)->at_once());  // returns after the second signal
//
// At most one object may exist at a time. orderly() and at_once() are thread-safe. Child processes
// do not inherit the handlers, because exec() resets them.
#pragma once

#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"

namespace assay::server {

class StopOnSignal {
 public:
  /// Installs the handlers and starts the thread. If `on_hangup` is null, SIGHUP keeps its previous
  /// handler. Otherwise the thread calls `on_hangup` after each SIGHUP. Several signals that come
  /// while `on_hangup` runs may lead to only one further call. An exception of `on_hangup` is
  /// logged.
  static Result<std::unique_ptr<StopOnSignal>> install(std::function<void()> on_hangup = nullptr);
  /// Restores the previous signal handlers. Also requests both stops, if no signal has done so.
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  /// Its stop is requested by the first SIGINT or SIGTERM.
  std::stop_token orderly() const { return orderly_.get_token(); }
  /// Its stop is requested by the second SIGINT or SIGTERM.
  std::stop_token at_once() const { return at_once_.get_token(); }

 private:
  StopOnSignal(UniqueFd read_end, int write_end, std::function<void()> on_hangup);
  void run();

  struct Handled {
    int signal;
    struct sigaction old {};
  };

  const UniqueFd read_end_;  // the end of the pipe from which the thread reads
  const int write_end_;      // it stays open until the process exits
  const std::function<void()> on_hangup_;
  std::stop_source orderly_, at_once_;
  std::array<Handled, 3> handled_{{{SIGINT}, {SIGTERM}, {SIGHUP}}};
  std::thread thread_;
};

}  // namespace assay::server
