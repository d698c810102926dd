#include <cstdint>

#include "tools/answer/answers.h"
#include "tools/call/schema_parts.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxTokens = 1LL << 50;
constexpr double kMaxCostUsd = 1e9;
constexpr const char* kNext = "`submit` what is left, then `scorecard`.";

}  // namespace

Tool report_usage_tool(Services& services) {
  Tool tool;
  tool.name = "report_usage";
  tool.title = "Add tokens and cost to a run";
  tool.description =
      "Adds the tokens and dollars that the model has used since the last report to the run's "
      "totals; `scorecard` shows the sums.";
  const json cost = {{"type", "number"},
                     {"description", "US dollars; leave it out where it is not known"},
                     {"minimum", 0},
                     {"maximum", kMaxCostUsd}};
  tool.input_schema = input_object(
      {{"run", run_property("Required")},
       {"input_tokens", integer_property("Tokens read since the last report", 0, kMaxTokens)},
       {"output_tokens", integer_property("Tokens written since the last report", 0, kMaxTokens)},
       {"cost_usd", cost}},
      {"run", "input_tokens", "output_tokens"});
  const json number = {{"type", "number"}};
  const json integer = {{"type", "integer"}};
  tool.output_schema = output_object({{"run", {{"type", "string"}}},
                                      {"input_tokens", integer},
                                      {"output_tokens", integer},
                                      {"cost_usd", number},
                                      {"next", {{"type", "string"}}}});
  tool.run = [&services](const json& arguments, const CallContext&) {
    const std::string run = text_argument(arguments, "run");
    const Usage usage{.input_tokens = arguments.value("input_tokens", std::int64_t{0}),
                      .output_tokens = arguments.value("output_tokens", std::int64_t{0}),
                      .cost_usd = arguments.value("cost_usd", 0.0),
                      .cost_known = arguments.contains("cost_usd")};
    if (const Status added = services.runs.report_usage(run, usage); !added)
      return error_answer(added.error());
    const auto card = services.runs.scorecard(run);
    if (!card) return error_answer(card.error());
    Answer answer;
    answer.text = "ok: the run now stands at " + std::to_string(card->usage.input_tokens) +
                  " input tokens, " + std::to_string(card->usage.output_tokens) +
                  " output tokens, " + cost_text(card->usage) + "\nnext: " + kNext;
    answer.structured = {{"status", "ok"},
                         {"run", run},
                         {"input_tokens", card->usage.input_tokens},
                         {"output_tokens", card->usage.output_tokens},
                         {"next", kNext}};
    if (card->usage.cost_known) answer.structured["cost_usd"] = card->usage.cost_usd;
    return answer;
  };
  return tool;
}

}  // namespace assay::tools
