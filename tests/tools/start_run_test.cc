// What start_run answers about its suite, over a fake RunService.
#include "tests/catch.h"
#include "tests/tools/fixture.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

class FakeRuns final : public RunService {
 public:
  explicit FakeRuns(std::size_t operators) : operators_(operators) {}
  Result<RunInfo> start(const RunRequest& request) override {
    RunInfo run;
    run.handle = "run_x";
    run.request = request;
    for (std::size_t i = 0; i < operators_; ++i)
      run.operators.push_back("operator_" + std::to_string(i));
    return run;
  }
  Result<RunInfo> find(const std::string&) override { return none(); }
  Result<CallsLeft> calls_left(const std::string&, const std::string&, sandbox::JobKind) override {
    return none();
  }
  Status report_usage(const std::string&, const Usage&) override { return none(); }
  Result<Scorecard> scorecard(const std::string&) override { return none(); }

 private:
  static tl::unexpected<Error> none() { return fail(ErrorCode::not_found, "no run"); }
  std::size_t operators_;
};

class NoJobs final : public JobService {
 public:
  Result<std::string> submit(sandbox::Job, const std::string&, const std::string&) override {
    return fail(ErrorCode::unavailable, "no device");
  }
  Result<JobStatus> wait(const std::string&, std::int64_t,
                         const std::function<bool(const JobStatus&)>&, std::stop_token) override {
    return fail(ErrorCode::not_found, "no job");
  }
  Status cancel(const std::string&) override { return {}; }
  std::vector<std::string> devices() const override { return {}; }
};

class NoArtifacts final : public ArtifactService {
 public:
  Result<ArtifactSlice> read(const std::string&, std::int64_t, std::int64_t) override {
    return fail(ErrorCode::not_found, "no artifact");
  }
  std::vector<std::pair<std::string, std::string>> list(const std::string&) override { return {}; }
};

mcp::ToolResult started(std::size_t operators) {
  const testing::TemporaryCatalog catalog;
  FakeRuns runs(operators);
  NoJobs jobs;
  NoArtifacts artifacts;
  const Services services = {
      .catalog = *catalog, .runs = runs, .jobs = jobs, .artifacts = artifacts};
  mcp::RequestContext context;
  return start_run_tool(services).call({{"agent", "a"}, {"model", "m"}}, context);
}

}  // namespace

TEST_CASE(
    "the text names the operators of a short suite and counts those of a long one; `structured` "
    "always names them") {
  const mcp::ToolResult few = started(3);
  CHECK(few.text.find("operators: operator_0 operator_1 operator_2\n") != std::string::npos);
  const mcp::ToolResult many = started(164);
  CHECK(many.text.find("164 operators") != std::string::npos);
  CHECK(many.text.find("operator_7") == std::string::npos);
  CHECK(many.structured["operators"].size() == 164);
}

}  // namespace assay::tools
