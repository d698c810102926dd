// Fleet::Seat is one worker of a fleet, and Fleet::Call is one job on a worker. Only the sources of
// Fleet include this header. The fleet's mutex guards all members, except that a stream is
// thread-safe, and that `number`, `stream` and `reader` do not change after the start.
//
//   call.verdict = std::move(*verdict);
//   call.changed.notify_all();
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "server/workers/fleet.h"
#include "server/workers/frame_inbox.h"

namespace assay::server {

struct Fleet::Call {
  Condition changed;
  std::deque<sandbox::Stage> stages;  // not yet reported to the job's monitor
  std::optional<CasesDone> cases;     // the newest, not yet reported
  std::vector<sandbox::Artifact> artifacts;
  FrameInbox* recordings = nullptr;        // takes the frames about recordings, if there are any
  std::optional<Error> recording_failure;  // the job cannot be recorded by this execution
  std::optional<sandbox::Verdict> verdict;
  bool answered = false;            // a verdict has come; further messages do not count
  std::optional<std::string> lost;  // why the worker was lost
};

struct Fleet::Seat {
  enum class State {
    starting,  // the command runs, and the worker has not said hello
    ready,
    draining,  // gets no more jobs
    ended,     // the reader has nothing more to do
  };

  std::int64_t number = 0;
  std::string name;
  std::string host;
  sandbox::DeviceInfo device;
  std::string missing_layers;  // of its sandbox, separated by commas
  State state = State::starting;
  std::int64_t capacity = 0;  // jobs at a time
  std::int64_t taken = 0;     // slots that leases hold
  std::int64_t idle_since_ns = 0;
  std::int64_t health_due_ns = 0;     // from then on the worker gets no job before its health check
  std::int64_t doubted_until_ns = 0;  // its device failed a job, and nobody checks its health
  std::int64_t end_by_ns = 0;         // of a draining worker without jobs: it is ended then
  bool asked_to_drain = false;        // by this server
  bool preempted = false;             // it drains, and this server did not ask for it
  bool proven = false;                // a health check was right
  std::string lost;                   // why the worker was lost; empty: it was not
  std::map<JobTag, Call*> calls;
  std::unique_ptr<WorkerStream> stream;
  std::jthread reader;
};

}  // namespace assay::server
