// RecordDevice is the half of a GPU's device that needs only processors: it imports, compiles and
// records submissions for a target, in candidates. Its only jobs are those of kind `compile`; for
// all other kinds, a device of another worker performs the plans.
//
//   RecordDevice device(config);
//   Recorder& recorder = device;
//   std::optional<CandidateResults> results = recorder.record(run, request);
//
// Thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/gpu/suite_judges.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"
#include "sandbox/record/recorder.h"

namespace assay::sandbox {

/// The name of the device.
inline constexpr const char* kRecordDevice = "record";

class RecordDevice final : public Device, public Recorder {
 public:
  /// Starts the processes and returns without waiting for them.
  explicit RecordDevice(const SandboxConfig& config);

  DeviceInfo info() const override;
  std::map<std::string, std::int64_t> processes() const override;
  Status wait_until_ready(const Deadline& deadline) override;
  Result<std::vector<LayerReport>> layers(const Deadline& deadline) override {
    return pool_.layers(deadline);
  }
  Verdict execute(const Job& job, JobMonitor& monitor) override;

  /// Also adds the versions and the missing isolation layers of the candidates to the verdict.
  std::optional<CandidateResults> record(JobExecution& run, const RecordRequest& request) override;
  Result<std::vector<Artifact>> disassemble(JobExecution& run, const std::string& target,
                                            const std::string& plan) override;

 private:
  const std::string target_;
  const int concurrency_;
  const Limits limits_;
  Spawner spawner_;
  CandidatePool pool_;
  SuiteJudges judges_;
  RecordingFolder recordings_;
  RecordingCache submissions_, oracles_;
  LocalRecorder local_{pool_, {submissions_, oracles_}};
};

}  // namespace assay::sandbox
