// A Zygote is the jailed Python process that has imported torch and Triton and forks candidates.
// The zygote never sees a submission.
//
//   const Deadline deadline = Deadline::after_ms(60'000);
//   Result<std::unique_ptr<Zygote>> zygote = Zygote::start(config, spawner, deadline);
//   Result<UniqueFd> pidfd = (*zygote)->fork(request, job_socket, out, err, deadline);
//   std::optional<ExitStatus> status = (*zygote)->wait_exit(request.slot, deadline);
//
// Thread-safe. A reader thread receives the zygote's answers. Each answer contains a slot, which
// identifies the caller that waits for the answer. When the zygote ends, the kernel also kills all
// of its candidates, and all calls fail.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"
#include "sandbox/pool/fifo_semaphore.h"
#include "sandbox/pool/process.h"

namespace assay::sandbox {

class Zygote {
 public:
  /// Starts a zygote and waits until it is ready. An error's message contains the end of the
  /// zygote's log.
  static Result<std::unique_ptr<Zygote>> start(const SandboxConfig& config, Spawner& spawner,
                                               const Deadline& deadline);
  ~Zygote();

  const ZygoteReady& ready() const { return ready_; }
  pid_t pid() const { return process_.pid(); }
  bool alive() const { return !ended_.stop_requested(); }
  /// Returns a token. Its stop is requested when the zygote ends or misses a deadline.
  std::stop_token ended() const { return ended_.get_token(); }
  /// The device files that the zygote's children may use.
  const std::vector<std::string>& devices() const { return devices_; }

  /// Forks a child for a free slot and returns the child's pidfd. The caller still owns the three
  /// descriptors. A zygote that misses the deadline is treated as dead.
  Result<UniqueFd> fork(const ForkRequest& request, int job_socket, int out, int err,
                        const Deadline& deadline);
  /// Waits until the child has ended. Returns nothing if the deadline passes or the zygote ends
  /// first.
  std::optional<ExitStatus> wait_exit(int slot, const Deadline& deadline);

 private:
  Zygote() = default;
  void read();
  void set_ended() ASSAY_REQUIRES(mutex_);

  Process process_;
  UniqueFd socket_;
  ZygoteReady ready_;
  std::string log_;
  std::vector<std::string> devices_;
  FifoSemaphore sending_{1, "the zygote took no request in time"};  // one request at a time
  mutable Mutex mutex_;
  Condition changed_;
  // The pidfds of new children, by slot. An entry is removed when fork() returns the pidfd.
  std::map<int, UniqueFd> forked_ ASSAY_GUARDED_BY(mutex_);
  std::map<int, ExitStatus> exited_ ASSAY_GUARDED_BY(mutex_);
  std::stop_source ended_;
  std::thread reader_;
};

/// Returns the folder that contains `_native*.so`: "../harness", relative to the jail program's
/// folder.
std::string native_folder(const SandboxConfig& config);

}  // namespace assay::sandbox
