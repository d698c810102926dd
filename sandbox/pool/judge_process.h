// JudgeProcess is the process behind a Judge (sandbox/pool/judge.h). TrustedJudgeProcess is the
// judge of operators that the maintainer trusts, and runs without a jail. The judge of an imported
// suite is a JailedJudgeProcess (sandbox/pool/jailed_judge.h). The judge of a check is a
// ReferenceProcess (sandbox/pool/reference_process.h).
//
//   TrustedJudgeProcess process(config, spawner, "cpu", 0);
//   Result<JudgeReady> ready = process.start(deadline);
//   if (ready) send_frame(process.socket(), request, {}, {}, deadline);
//
// Not thread-safe: a Judge uses its process by one thread at a time.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "sandbox/jail/gpu_nodes.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/messages.h"
#include "sandbox/pool/process.h"

namespace assay::sandbox {

class JudgeProcess {
 public:
  JudgeProcess() = default;
  virtual ~JudgeProcess() = default;
  JudgeProcess(const JudgeProcess&) = delete;
  JudgeProcess& operator=(const JudgeProcess&) = delete;

  /// Ends the old process if there is one, starts a new process and waits until it is ready.
  virtual Result<JudgeReady> start(const Deadline& deadline) = 0;
  virtual bool alive() = 0;
  /// The socket to the process, or -1.
  virtual int socket() const = 0;
  /// Returns how the process ended, or nothing if it did not end by itself.
  virtual std::optional<std::string> how_it_ended() = 0;
  virtual void stop() = 0;
  /// The name by which the process knows its device: "cpu" or "cuda:0".
  virtual const std::string& device() const = 0;
  /// Returns false if the process executes code of others. Then the files that it sends are
  /// checked, and a malformed answer is no defect of Assay.
  virtual bool is_trusted() const { return true; }
  /// Returns true if the process executes code that only the caller of one check trusts.
  virtual bool has_own_reference() const { return false; }
};

class TrustedJudgeProcess final : public JudgeProcess {
 public:
  TrustedJudgeProcess(const SandboxConfig& config, Spawner& spawner, const std::string& device,
                      int number);

  Result<JudgeReady> start(const Deadline& deadline) override;
  bool alive() override { return socket_.valid() && process_.alive(); }
  int socket() const override { return socket_.get(); }
  std::optional<std::string> how_it_ended() override;
  void stop() override;
  const std::string& device() const override { return device_; }

 private:
  const SandboxConfig config_;
  Spawner& spawner_;
  const std::optional<VisibleGpus> gpu_;
  const std::string device_;
  const std::string log_;
  Process process_;
  UniqueFd socket_;
};

}  // namespace assay::sandbox
