// JailedJudgeProcess is the process of a judge of an imported suite. The references of such a suite
// are code of others, so the process is forked from a zygote and enters a job jail, as a candidate
// does. It can read only the suite's folder, Python's installation and the system's libraries. Its
// /tmp, with the caches of compilers, belongs to this process alone. It has no network. If the
// judge works on a GPU, it has the device files of this GPU.
//
//   CandidatePool pool(judge_pool_config(config, 0, std::nullopt), spawner);  // of suite 0
//   Judge judge(std::make_unique<JailedJudgeProcess>(pool, "cpu"));
//
// A pool serves one suite, so no judge of the suite can reach the judge of another one. Not
// thread-safe: a Judge uses its process by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/candidate_pool.h"
#include "sandbox/pool/judge_process.h"

namespace assay::sandbox {

/// The limits of a jailed judge: its memory without that of a GPU, its processes and threads, and
/// the size of its folders for temporary files.
inline constexpr std::int64_t kJudgeMemoryBytes = 32LL << 30;
inline constexpr std::int64_t kJudgeProcesses = 1'024;
inline constexpr std::int64_t kJudgeTmpBytes = 4LL << 30;

/// The number of slots that a pool of jailed judges needs besides those of its judges: for the
/// judge that describes cases, a judge of one job alone, a parked process, and a process that is
/// ending.
inline constexpr int kSpareJudgeSlots = 4;
// Each suite has slots for a judge.
static_assert(kMostImportedSuites * (1 + kSpareJudgeSlots) <= CandidatePool::kJudgeSlots);

/// Returns the configuration of the pool that forks the judges of suite `number` of
/// `config.imported_suites`. Each of these pools has slots of its own, so that the judges of two
/// suites never run as the same user. `gpu` is the GPU on which they work.
SandboxConfig judge_pool_config(SandboxConfig config, std::size_t number,
                                std::optional<GpuAccess> gpu);

class JailedJudgeProcess final : public JudgeProcess {
 public:
  /// The pool must outlive this object. `device` is "cpu", or "cuda:0" for the only GPU of the
  /// jail.
  JailedJudgeProcess(CandidatePool& pool, std::string device)
      : pool_(pool), device_(std::move(device)) {}
  ~JailedJudgeProcess() override { stop(); }

  Result<JudgeReady> start(const Deadline& deadline) override;
  bool alive() override { return candidate_ && candidate_->alive(); }
  int socket() const override { return candidate_ ? candidate_->socket() : -1; }
  std::optional<std::string> how_it_ended() override;
  void stop() override { pool_.give_back(std::move(candidate_)); }
  const std::string& device() const override { return device_; }
  bool is_trusted() const override { return false; }

 private:
  CandidatePool& pool_;
  const std::string device_;
  std::unique_ptr<Candidate> candidate_;
};

}  // namespace assay::sandbox
