// Zygote: the jailed Python process that has torch and Triton loaded and forks candidates. It never
// sees a submission.
//
//   const Deadline deadline = Deadline::after_ms(60'000);
//   Result<std::unique_ptr<Zygote>> zygote = Zygote::start(config, spawner, deadline);
//   Result<UniqueFd> pidfd = (*zygote)->fork(request, job_socket, out, err, deadline);
//   std::optional<ExitStatus> status = (*zygote)->wait_exit(request.slot, deadline);
//
// Thread-safe: a reader thread sorts the zygote's answers by slot. When the zygote ends, every
// candidate ends with it and all calls fail.
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
  /// Starts a zygote and waits until it is ready. The error's message has the end of its log.
  static Result<std::unique_ptr<Zygote>> start(const SandboxConfig& config, Spawner& spawner,
                                               const Deadline& deadline);
  ~Zygote();

  const ZygoteReady& ready() const { return ready_; }
  bool alive() const { return !ended_.stop_requested(); }
  /// A token that is stopped when the zygote ends or misses a deadline.
  std::stop_token ended() const { return ended_.get_token(); }
  /// The device files that its children may use.
  const std::vector<std::string>& devices() const { return devices_; }

  /// Forks a child into a free slot and returns its pidfd. The caller keeps the three descriptors.
  /// A zygote that misses the deadline counts as dead.
  Result<UniqueFd> fork(const ForkRequest& request, int job_socket, int out, int err,
                        const Deadline& deadline);
  /// Waits for the child's end. Returns nothing if the deadline passes or the zygote ends first.
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
  std::map<int, UniqueFd> forked_ ASSAY_GUARDED_BY(mutex_);  // by slot, until fork() takes it
  std::map<int, ExitStatus> exited_ ASSAY_GUARDED_BY(mutex_);
  std::stop_source ended_;
  std::thread reader_;
};

/// The folder of `_native*.so`: "../harness", relative to the folder of the jail program.
std::string native_folder(const SandboxConfig& config);

}  // namespace assay::sandbox
