#include <cstdint>
#include <optional>

#include "tools/call/arguments.h"
#include "tools/call/principal_of.h"
#include "tools/call/schema_parts.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

constexpr const char* kNextAfterReport = "`submit` the operators that are left, then `scorecard`.";

struct ReportUsageArguments {
  std::string run;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::optional<double> cost_usd;
  std::string call_id;

  static json schema() {
    const json cost = {
        {"type", "number"}, {"description", "US dollars; omit if unknown"}, {"minimum", 0}};
    return input_object(
        {{"run", run_property(true)},
         {"input_tokens", integer_property("Tokens read since the last report", 0)},
         {"output_tokens", integer_property("Tokens written since the last report", 0)},
         {"cost_usd", cost},
         {"call_id", call_id_property()}},
        {"run", "input_tokens", "output_tokens"});
  }
  static Result<ReportUsageArguments> parse(const json& arguments) {
    ReportUsageArguments parsed;
    ArgumentReader reader(arguments);
    reader.read("run", parsed.run);
    reader.read("input_tokens", parsed.input_tokens);
    reader.read("output_tokens", parsed.output_tokens);
    reader.read("cost_usd", parsed.cost_usd);
    reader.read("call_id", parsed.call_id);
    return reader.result(std::move(parsed));
  }
};

mcp::ToolResult report_usage(const Services& services, const ReportUsageArguments& arguments,
                             const mcp::RequestContext& context) {
  const Principal principal = principal_of(context);
  const Usage usage{.input_tokens = arguments.input_tokens,
                    .output_tokens = arguments.output_tokens,
                    .cost_usd = arguments.cost_usd.value_or(0),
                    .cost_known = arguments.cost_usd.has_value(),
                    .call_id = arguments.call_id};
  if (const Status added = services.runs.report_usage(principal, arguments.run, usage); !added)
    return error_answer(added.error());
  const auto card = services.runs.scorecard(principal, arguments.run);
  if (!card) return error_answer(card.error());
  mcp::ToolResult answer;
  answer.text = "ok: the run's total is " + std::to_string(card->usage.input_tokens) +
                " input tokens, " + std::to_string(card->usage.output_tokens) + " output tokens, " +
                cost_text(card->usage) + "\nnext: " + kNextAfterReport;
  answer.structured = {{"status", "ok"},
                       {"run", arguments.run},
                       {"input_tokens", card->usage.input_tokens},
                       {"output_tokens", card->usage.output_tokens},
                       {"next", kNextAfterReport}};
  if (card->usage.cost_known) answer.structured["cost_usd"] = card->usage.cost_usd;
  return answer;
}

}  // namespace

mcp::Tool report_usage_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "report_usage";
  tool.title = "Report usage";
  tool.description =
      "Adds the tokens and dollars that the model used since the last report; `scorecard` shows "
      "the sums.";
  tool.input_schema = ReportUsageArguments::schema();
  const json number = {{"type", "number"}};
  const json integer = {{"type", "integer"}};
  tool.output_schema = output_object({{"run", {{"type", "string"}}},
                                      {"input_tokens", integer},
                                      {"output_tokens", integer},
                                      {"cost_usd", number},
                                      {"next", {{"type", "string"}}}});
  tool.listed_output_schema = outline_of(tool.output_schema, {});
  tool.annotations = annotations_of({});
  set_quick_handler<ReportUsageArguments>(
      tool, [&services](const ReportUsageArguments& arguments, const mcp::RequestContext& context) {
        return report_usage(services, arguments, context);
      });
  return tool;
}

}  // namespace assay::tools
