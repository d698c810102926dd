// Drain ends the work of a server in an orderly way. When it is asked to begin, the jobs accept
// nothing new, and the jobs in progress get a limited time to end. After that, the server must
// stop.
//
//   const Drain drain(jobs, std::chrono::seconds(30), {.begin = orderly, .at_once = at_once});
//   http.draining = [&drain] { return drain.begun(); };
//   mcp::serve_http(server, http, drain.over());
//
// Thread-safe. The jobs and the clock must outlive the object.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "server/runs/job_service.h"

namespace assay::server {

class Drain {
 public:
  struct Requests {
    std::stop_token begin;    // a stop of this token begins the drain
    std::stop_token at_once;  // a stop of this token ends the drain
  };

  /// `limit` is the time that the jobs in progress have to end. With 0 they have no time.
  Drain(StoredJobs& jobs, std::chrono::milliseconds limit, const Requests& requests,
        const Clock& clock = system_clock());
  /// Ends the drain. Waits for the thread of this object.
  ~Drain();
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  /// Returns true only after the jobs refuse new jobs, so that a client that sees the answer
  /// "draining" can rely on it.
  bool begun() const { return begun_.stop_requested(); }
  /// Its stop is requested when no job is left, when the time is over, or at once.
  std::stop_token over() const { return over_.get_token(); }

 private:
  using Callback = std::stop_callback<std::function<void()>>;

  /// Runs in the thread that requests the stop.
  void begin(StoredJobs& jobs);

  std::stop_source begun_, ended_, over_;
  const Callback on_begin_, on_at_once_;
  std::thread thread_;  // the last member, because the thread uses the members above
};

}  // namespace assay::server
