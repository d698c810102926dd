// Candidate: a forked, jailed Python process that serves one job and dies. Parked before the job
// comes, untrusted from then on.
//
//   candidate->send(job, source, fds, deadline);
//   CandidateEvent event = candidate->next(deadline);      // message, ended, malformed, flood,
//   timeout or cancelled ExitStatus status = candidate->end();                  // killed if it
//   still runs; after that nothing of it writes any more
//
// What it prints is drained all the while and bounded. How it ended is what the zygote's waitid
// said, never the end of a stream. One thread at a time; killed when destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/cgroup.h"
#include "sandbox/pool/messages.h"
#include "sandbox/pool/output_ring.h"
#include "sandbox/pool/zygote.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

struct CandidateEvent {
  enum class Kind {
    message,    // `message`
    ended,      // the process or its stream ended
    malformed,  // it broke the protocol; `text` says how
    flood,      // it printed more than it may
    timeout,
    cancelled,
  };
  Kind kind = Kind::ended;
  CandidateMessage message;
  std::string text;
};

class Candidate {
 public:
  /// Forks one from the zygote and waits until it is parked. The slot is the caller's to give and
  /// to take back.
  static Result<std::unique_ptr<Candidate>> park(std::shared_ptr<Zygote> zygote, int slot,
                                                 const Limits& limits, const SandboxConfig& config,
                                                 const Deadline& deadline);
  ~Candidate() { end(); }

  int slot() const { return slot_; }
  const Zygote& zygote() const { return *zygote_; }
  /// Of the job jail and of its cgroup.
  const std::vector<Layer>& layers() const { return layers_; }
  /// Whether it was parked with limits that suit this job.
  bool suits(const Limits& limits) const;
  bool alive() const;

  Status send(const CandidateJob& job, const std::string& source, const std::vector<int>& fds,
              const Deadline& deadline);
  CandidateEvent next(const Deadline& deadline);

  /// Kills it, unless it ends by itself within `grace_ms`, and waits for its end. Nothing when the
  /// zygote cannot say how it ended.
  std::optional<ExitStatus> end(std::int64_t grace_ms = 0);
  /// Whether end() had to kill it.
  bool was_killed() const { return was_killed_; }
  /// Whether its process is gone, and all of its pid namespace with it.
  bool exited() const;
  /// Whether it sent anything that next() has not returned. After end().
  bool has_unread();

  bool out_of_memory() const { return cgroup_.out_of_memory(); }
  bool out_of_processes() const { return cgroup_.out_of_processes(); }
  std::string stdout_text() const { return out_.text(); }
  std::string stderr_text() const { return err_.text(); }

 private:
  Candidate(std::shared_ptr<Zygote> zygote, int slot, const Limits& limits);
  Status fork(const SandboxConfig& config, const Deadline& deadline);
  CandidateEvent on_frame();
  bool drain();

  std::shared_ptr<Zygote> zygote_;
  int slot_;
  Limits limits_;
  std::vector<Layer> layers_;
  Cgroup cgroup_;
  UniqueFd socket_, out_pipe_, err_pipe_, pidfd_;
  pid_t group_ = -1;  // its process group, where no pid namespace takes its children along
  FrameReceiver receiver_{-1};
  OutputRing out_, err_;
  bool ended_ = false, was_killed_ = false;
  std::optional<ExitStatus> status_;
};

}  // namespace assay::sandbox
