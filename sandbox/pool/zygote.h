// Zygote: the jailed Python process that has torch and Triton loaded and forks candidates. It never
// sees a submission.
//
//   Result<std::unique_ptr<Zygote>> zygote = Zygote::start(config, spawner,
//   Deadline::after_ms(60'000)); Result<Forked..> child = (*zygote)->fork(request, job_socket, out,
//   err, deadline);
//   (*zygote)->wait_exit(slot, deadline);           // what waitid said of the child
//
// Thread-safe: a reader thread sorts its answers by slot. When the zygote dies every candidate dies
// with it, and all calls fail.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"
#include "sandbox/pool/process.h"

namespace assay::sandbox {

class Zygote {
 public:
  /// Starts it and waits until it is ready. The error's message has the end of its log.
  static Result<std::unique_ptr<Zygote>> start(const SandboxConfig& config, Spawner& spawner,
                                               const Deadline& deadline);
  ~Zygote();

  const ZygoteReady& ready() const { return ready_; }
  bool alive() const;
  /// Device files that its children may use.
  const std::vector<std::string>& devices() const { return devices_; }

  /// Forks a child into a slot that is free; its pidfd. The three descriptors stay the caller's. A
  /// zygote that misses the deadline is not alive any more.
  Result<UniqueFd> fork(const ForkRequest& request, int job_socket, int out, int err,
                        const Deadline& deadline);
  /// The child's end, once; nothing when the deadline passed or the zygote died first.
  std::optional<ExitStatus> wait_exit(int slot, const Deadline& deadline);

 private:
  Zygote() = default;
  void read();

  Process process_;
  UniqueFd socket_;
  ZygoteReady ready_;
  std::string log_;
  std::vector<std::string> devices_;
  std::mutex sending_;        // one fork request at a time
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<int, UniqueFd> forked_;  // answers not yet taken
  std::map<int, ExitStatus> exited_;
  bool closed_ = false;
  std::thread reader_;
};

/// Folder of `_native*.so`: beside the folder of the jail program, "../harness".
std::string native_folder(const SandboxConfig& config);

}  // namespace assay::sandbox
