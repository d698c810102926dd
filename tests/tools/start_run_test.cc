// Tests what start_run answers about the suite of a run, with a fake RunService.
#include "tests/catch.h"
#include "tests/tools/empty_services.h"
#include "tests/tools/fixture.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

class FakeRuns final : public NoRuns {
 public:
  explicit FakeRuns(std::size_t operators) : operators_(operators) {}
  Result<RunInfo> start(const Principal&, const RunRequest& request) override {
    RunInfo run;
    run.handle = "run_x";
    run.request = request;
    run.suite_id = {"mine", "2", "0123"};
    for (std::size_t i = 0; i < operators_; ++i)
      run.operators.push_back("operator_" + std::to_string(i));
    return run;
  }

 private:
  std::size_t operators_;
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

TEST_CASE("a run says which suite its operators are from, but not the suite's digest") {
  const mcp::ToolResult answer = started(3);
  CHECK(answer.text.find("\nsuite mine 2\n") != std::string::npos);
  CHECK(answer.structured["suite_id"] == nlohmann::json{{"name", "mine"}, {"version", "2"}});
}

}  // namespace assay::tools
