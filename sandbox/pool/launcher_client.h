// LauncherClient: one assay-launcher process, which performs the launch plans of one submission on one GPU; and a nursery that has the next one
// parked, with its device context made, before it is needed.
//
//   LauncherNursery launchers(config, spawner, 0);
//   Result<std::unique_ptr<LauncherClient>> launcher = launchers.take(deadline);
//   Result<LaunchOutcome> outcome = (*launcher)->launch(request, plan, fds, deadline);
//
// A LauncherClient belongs to one thread. LauncherNursery is thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sandbox/device/device.h"
#include "sandbox/pool/messages.h"
#include "sandbox/pool/process.h"

namespace assay::sandbox {

using LaunchOutcome = std::variant<Launched, LaunchFailure>;

class LauncherClient {
 public:
  /// Starts one and waits until its device is ready. `driver`: "cuda", or "fake" for tests.
  static Result<std::unique_ptr<LauncherClient>> start(const SandboxConfig& config, Spawner& spawner, int device, const std::string& driver,
                                                       const Deadline& deadline);

  const LauncherDevice& device() const { return device_; }
  bool alive() { return process_.alive(); }
  /// Errors: resource_exhausted (the deadline passed: it is killed), cancelled (killed), unavailable (it died; the message says how), corrupt.
  Result<LaunchOutcome> launch(const LaunchRequest& request, const std::string& plan, const std::vector<int>& fds, const Deadline& deadline);

 private:
  Process process_;
  UniqueFd socket_;
  LauncherDevice device_;
  std::string log_;
};

class LauncherNursery {
 public:
  /// `first`: one that is started already, to be taken first.
  LauncherNursery(const SandboxConfig& config, Spawner& spawner, int device, std::string driver = "cuda", std::unique_ptr<LauncherClient> first = nullptr);
  ~LauncherNursery();
  LauncherNursery(const LauncherNursery&) = delete;
  LauncherNursery& operator=(const LauncherNursery&) = delete;

  /// The parked one; the next is started behind the caller.
  Result<std::unique_ptr<LauncherClient>> take(const Deadline& deadline);
  /// Facts of the device, once known.
  std::optional<LauncherDevice> device() const;

 private:
  void run();

  const SandboxConfig config_;
  Spawner& spawner_;
  const int device_index_;
  const std::string driver_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<LauncherClient> parked_;
  std::optional<LauncherDevice> device_;
  std::optional<Error> failure_;
  bool stop_ = false;
  std::atomic<bool> cancel_{false};
  std::thread thread_;
};

}  // namespace assay::sandbox
