// ReferenceProcess is the judge process of one check. It executes the reference that a caller sent,
// so it is untrusted: it is a candidate of the pool, in a job jail of its own, with the limits of a
// job. It judges no operator, and it ends with the check.
//
//   Judge judge(std::make_unique<ReferenceProcess>(pool, job.limits, *job.reference));
//   Result<PreparedJob> prepared = judge.prepare(job, deadline);
//
// Not thread-safe: a Judge uses its process by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "sandbox/pool/candidate_pool.h"
#include "sandbox/pool/judge_process.h"

namespace assay::sandbox {

class ReferenceProcess final : public JudgeProcess {
 public:
  /// The pool must outlive this object. `device` is "cpu", or "cuda:0" for a pool whose candidates
  /// may use the GPU.
  ReferenceProcess(CandidatePool& pool, const Limits& limits, const CheckReference& reference,
                   std::string device = "cpu")
      : pool_(pool), limits_(limits), reference_(reference), device_(std::move(device)) {}
  ~ReferenceProcess() override { stop(); }

  Result<JudgeReady> start(const Deadline& deadline) override;
  bool alive() override { return candidate_ && candidate_->alive(); }
  int socket() const override { return candidate_ ? candidate_->socket() : -1; }
  std::optional<std::string> how_it_ended() override;
  void stop() override;
  const std::string& device() const override { return device_; }
  bool is_trusted() const override { return false; }
  bool has_own_reference() const override { return true; }

 private:
  CandidatePool& pool_;
  const Limits limits_;
  const CheckReference reference_;
  const std::string device_;
  std::unique_ptr<Candidate> candidate_;
};

}  // namespace assay::sandbox
