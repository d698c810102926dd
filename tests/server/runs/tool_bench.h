// ToolBench calls the tools like the protocol layer, with the real services and the fake device. It
// checks that each answer conforms to the tool's output schema and is not too large.
//
//   ToolBench bench;
//   const ToolResult answer = bench.call("fetch_spec", {{"operator", "vector_add"}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "operators/search/example_search.h"
#include "server/mcp/schema/schema.h"
#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"
#include "tools/registry.h"

namespace assay::testing {

using mcp::ToolResult;
using nlohmann::json;
using tools::Services;

inline constexpr std::size_t kConciseChars = 4'800;

class ToolBench {
 public:
  explicit ToolBench(const tools::AnswerLimits& limits = {}, const server::StoreLimits& store = {})
      : services({}, 2, store),
        tool_services_{.catalog = *services.catalog,
                       .runs = services->runs(),
                       .jobs = services->jobs(),
                       .artifacts = services->artifacts(),
                       .limits = limits,
                       .examples = examples_->get()} {
    for (mcp::Tool& tool : tools::make_tools(tool_services_))
      tools_.emplace(tool.name, std::move(tool));
  }

  ToolResult call(const std::string& name, const json& arguments) {
    const mcp::Tool& tool = tools_.at(name);
    const auto input = mcp::Schema::compile(tool.input_schema);
    REQUIRE(input);
    for (const std::string& problem : input->check(arguments))
      FAIL("arguments of " << name << ": " << problem);
    mcp::RequestContext context;
    context.stop = stop.get_token();
    context.caller = caller;
    ToolResult answer = tool.call(arguments, context);
    if (answer.work) answer = answer.work(context);
    const auto output = mcp::Schema::compile(tool.output_schema);
    REQUIRE(output);
    for (const std::string& problem : output->check(answer.structured))
      FAIL(name << ": " << problem << "\n" << answer.structured.dump(1));
    const auto listed = mcp::Schema::compile(tool.listed_output_schema);
    REQUIRE(listed);
    for (const std::string& problem : listed->check(answer.structured))
      FAIL(name << " (as listed): " << problem << "\n" << answer.structured.dump(1));
    CHECK(answer.is_error == (answer.structured["status"] == "error"));
    CHECK_FALSE(answer.text.empty());
    if (arguments.value("response_format", "concise") == "concise") {
      INFO(name);
      CHECK(answer.text.size() <= kConciseChars);
      if (name != "start_run") CHECK(answer.structured.dump().size() <= kConciseChars);
    }
    return answer;
  }
  ToolResult grade(const std::string& tool, const std::string& code, const std::string& run = "",
                   const std::string& op = "vector_add") {
    json arguments = {{"operator", op}, {"code", code}};
    if (!run.empty()) arguments["run"] = run;
    return call(tool, arguments);
  }
  const std::map<std::string, mcp::Tool>& tools() const { return tools_; }

  ServicesFixture services;
  std::stop_source stop;                      // stops the client's requests
  std::shared_ptr<const mcp::Caller> caller;  // the sender of the requests; null: no tokens

 private:
  const Result<std::unique_ptr<operators::ExampleSearch>> examples_ =
      operators::ExampleSearch::load(std::string(ASSAY_SOURCE_DIR) + "/operators/examples");
  const Services tool_services_;
  std::map<std::string, mcp::Tool> tools_;
};

}  // namespace assay::testing
