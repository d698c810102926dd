// Defines services that refuse every call. A test derives a class from such a service and overrides
// the functions that the test needs.
//
//   assay::tools::NoArtifacts artifacts;
//   const bool found = artifacts.read({}, "art_x", 0, 1).has_value();  // false
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/model/services.h"

namespace assay::tools {

inline tl::unexpected<Error> refused() { return fail(ErrorCode::not_found, "nothing is here"); }

class NoRuns : public RunService {
 public:
  Result<RunInfo> start(const Principal&, const RunRequest&) override { return refused(); }
  Result<RunInfo> find(const Principal&, const std::string&) override { return refused(); }
  Result<CallsLeft> calls_left(const Principal&, const std::string&, const std::string&,
                               sandbox::JobKind) override {
    return refused();
  }
  Status report_usage(const Principal&, const std::string&, const Usage&) override {
    return refused();
  }
  Result<Scorecard> scorecard(const Principal&, const std::string&) override { return refused(); }
};

class NoJobs : public JobService {
 public:
  Result<std::string> submit(const Principal&, sandbox::Job, const std::string&,
                             const std::string&) override {
    return refused();
  }
  Result<JobStatus> wait(const Principal&, const std::string&, std::int64_t,
                         const std::function<bool(const JobStatus&)>&, std::stop_token) override {
    return refused();
  }
  Status cancel(const Principal&, const std::string&) override { return refused(); }
  Result<bool> cancel_queued(const Principal&, const std::string&) override { return refused(); }
  Result<JobSource> source(const Principal&, const std::string&) override { return refused(); }
  std::vector<std::string> devices() const override { return {}; }
};

class NoArtifacts : public ArtifactService {
 public:
  Result<ArtifactSlice> read(const Principal&, const std::string&, std::int64_t,
                             std::int64_t) override {
    return refused();
  }
  std::vector<std::pair<std::string, std::string>> list(const std::string&) override { return {}; }
};

}  // namespace assay::tools
