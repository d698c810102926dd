// Candidate: a forked, jailed Python process that serves one job and ends. It is parked before the
// job comes, and it is untrusted as soon as it has the job.
//
//   Status sent = candidate->send(job, source, fds, deadline);
//   CandidateEvent event = candidate->next(deadline);  // `parsed`, then `imported`
//   Status more = candidate->send(batch, fds, deadline);
//   std::optional<ExitStatus> status = candidate->end();  // kills it if it still runs
//
// After end() no process of the candidate writes anything. next() also drains what the candidate
// prints, up to a bound. Only the zygote's waitid tells how it ended, never the end of a stream.
// The destructor kills it. The classes are not thread-safe; a candidate may move between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/cgroup.h"
#include "sandbox/pool/messages.h"
#include "sandbox/pool/zygote.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

/// Keeps the head and the tail of a process's output within a budget, and counts all of it.
///
///   OutputRing ring(64 << 10);
///   ring.append(bytes);
///   ring.text();  // "first lines\n[... 9876 bytes cut ...]\nlast lines"
class OutputRing {
 public:
  explicit OutputRing(std::int64_t keep_bytes) : half_(static_cast<std::size_t>(keep_bytes / 2)) {}

  void append(std::string_view bytes);
  /// Returns all of the output if it fits. Otherwise returns head and tail, with a line between
  /// them that tells how many bytes are cut.
  std::string text() const;
  std::int64_t total() const { return total_; }

 private:
  std::size_t half_;
  std::string head_, tail_;  // the tail holds up to twice its half, so that trimming is rare
  std::int64_t total_ = 0;
};

struct CandidateEvent {
  enum class Kind {
    message,    // `message`
    ended,      // the process or its stream ended
    malformed,  // it broke the protocol; `text` tells how
    flood,      // it printed more than Limits::output_flood_bytes
    timeout,
    cancelled,
  };
  Kind kind = Kind::ended;
  CandidateMessage message;
  std::string text;
};

class Candidate {
 public:
  /// Forks a candidate from the zygote and waits until it is parked. The caller chooses a free slot
  /// and frees it after the candidate's end.
  static Result<std::unique_ptr<Candidate>> park(std::shared_ptr<Zygote> zygote, int slot,
                                                 const Limits& limits, const SandboxConfig& config,
                                                 const Deadline& deadline);
  ~Candidate() { end(); }

  int slot() const { return slot_; }
  const Zygote& zygote() const { return *zygote_; }
  /// The layers of its jail and of its cgroup.
  const std::vector<LayerReport>& layers() const { return layers_; }
  /// Tells whether it was parked with the limits of this job.
  bool suits(const Limits& limits) const;
  bool alive() const;

  Status send(const CandidateJob& job, const std::string& source, const std::vector<int>& fds,
              const Deadline& deadline);
  /// Sends cases; the candidate has said `imported`.
  Status send(const CandidateBatch& batch, const std::vector<int>& fds, const Deadline& deadline);
  CandidateEvent next(const Deadline& deadline);

  /// Kills it, unless it ends by itself within `grace_ms`, and waits for its end. Returns nothing
  /// if the zygote cannot tell how it ended.
  std::optional<ExitStatus> end(std::int64_t grace_ms = 0);
  /// Tells whether end() had to kill it.
  bool was_killed() const { return was_killed_; }
  /// Tells whether its process has ended, and with it all of its pid namespace.
  bool exited() const;
  /// Tells whether it sent anything that next() has not returned. Call it after end().
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
  std::vector<LayerReport> layers_;
  Cgroup cgroup_;
  UniqueFd socket_, out_pipe_, err_pipe_, pidfd_;
  // Its process group, or -1 if a pid namespace ends its children with it.
  pid_t group_ = -1;
  FrameReceiver receiver_{-1};
  OutputRing out_, err_;
  bool ended_ = false, was_killed_ = false;
  std::optional<ExitStatus> status_;
};

}  // namespace assay::sandbox
