// A Candidate is a forked, jailed Python process that runs the host code of one submission and then
// exits. It is forked before the job exists, and waits ("is parked") until it receives the job.
// After that the supervisor treats the candidate as untrusted.
//
//   Status sent = candidate->send(job, source, fds, deadline);
//   CandidateEvent event = candidate->next(deadline);  // `parsed`, then `imported`
//   Status more = candidate->send(batch, fds, deadline);
//   std::optional<ExitStatus> status = candidate->end();  // kills the process if it still runs
//
// After end() returns, no process of the candidate can write anything. next() also reads the
// candidate's output, up to a bound. Only the zygote, which calls waitid, knows how the candidate
// ended. The end of a stream does not prove that the process ended. The destructor kills the
// candidate. The classes are not thread-safe, but a candidate may be passed from one thread to
// another.
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
#include "sandbox/pool/process_facts.h"
#include "sandbox/pool/zygote.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

/// Keeps the beginning and the end of a process's output within a budget, and counts all bytes.
///
///   OutputRing ring(64 << 10);
///   ring.append(bytes);
///   ring.text();  // "first lines\n[... 9876 bytes cut ...]\nlast lines"
class OutputRing {
 public:
  explicit OutputRing(std::int64_t keep_bytes) : half_(static_cast<std::size_t>(keep_bytes / 2)) {}

  void append(std::string_view bytes);
  /// Returns all of the output if it fits the budget. Otherwise returns the beginning, a line with
  /// the number of bytes that are left out, and the end.
  std::string text() const;
  std::int64_t total() const { return total_; }

 private:
  std::size_t half_;
  std::string head_, tail_;  // tail_ grows to twice the kept size, so that trimming is rare
  std::int64_t total_ = 0;
};

struct CandidateEvent {
  enum class Kind {
    message,    // the field `message` is set
    ended,      // the process or its stream ended
    malformed,  // the candidate broke the protocol; `text` tells how
    broken,     // a system call of this process failed; `text` has the error
    flood,      // the candidate printed more than Limits::output_flood_bytes
    timeout,
    cancelled,
  };
  Kind kind = Kind::ended;
  CandidateMessage message = {};
  std::string text = {};
};

class Candidate {
 public:
  /// Forks a candidate from the zygote and waits until the candidate is ready to receive a job. The
  /// caller chooses a free slot, and frees the slot after the candidate has ended.
  static Result<std::unique_ptr<Candidate>> park(std::shared_ptr<Zygote> zygote, int slot,
                                                 const Limits& limits, const SandboxConfig& config,
                                                 const Deadline& deadline);
  ~Candidate() { end(); }

  int slot() const { return slot_; }
  /// The id of the candidate's process, in the pid namespace of this process.
  pid_t pid() const { return pid_; }
  const Zygote& zygote() const { return *zygote_; }
  /// The isolation layers of the candidate's jail and cgroup.
  const std::vector<LayerReport>& layers() const { return layers_; }
  /// Returns true if the candidate was forked with the limits `limits`.
  bool suits(const Limits& limits) const;
  bool alive() const;

  Status send(const CandidateJob& job, const std::string& source, const std::vector<int>& fds,
              const Deadline& deadline);
  /// Sends cases. Call this after the candidate has sent the message `imported`.
  Status send(const CandidateBatch& batch, const std::vector<int>& fds, const Deadline& deadline);
  CandidateEvent next(const Deadline& deadline);
  /// The socket to the process. Only ReferenceProcess, which gives the candidate no job, uses it
  /// for messages of its own.
  int socket() const { return socket_.get(); }

  /// Kills the candidate unless it exits by itself within `grace_ms`, and waits until it has ended.
  /// Returns nothing if the zygote cannot tell how the candidate ended.
  std::optional<ExitStatus> end(std::int64_t grace_ms = 0);
  /// Returns true if end() had to kill the candidate.
  bool was_killed() const { return was_killed_; }
  /// Returns true if the candidate's process has ended. Then every other process of its pid
  /// namespace has ended too.
  bool exited() const;
  /// Returns true if the candidate sent anything that next() has not returned. Call this after
  /// end().
  bool has_unread();

  bool out_of_memory() const { return cgroup_.out_of_memory(); }
  bool machine_out_of_memory() const { return cgroup_.machine_out_of_memory(); }
  /// Returns the processor time that the candidate's processes used, and for which its main thread
  /// waited. The cgroup counts it if there is one. Call this before end().
  std::optional<CpuTimes> cpu_times() const;
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
  pid_t pid_ = -1;  // in the pid namespace of this process
  // The candidate's process group. It is -1 if the candidate has a pid namespace, because the
  // kernel then kills the candidate's children together with the candidate.
  pid_t group_ = -1;
  FrameReceiver receiver_{-1};
  OutputRing out_, err_;
  bool grouped_ = false;  // the process is in cgroup_
  bool ended_ = false, was_killed_ = false;
  std::optional<ExitStatus> status_;
};

}  // namespace assay::sandbox
