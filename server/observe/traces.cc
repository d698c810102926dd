#include "server/observe/traces.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "sandbox/job/job.h"
#include "tools/model/public_verdict.h"
#include "tools/model/services.h"

namespace assay::server {
namespace {

using sandbox::Stage;

constexpr std::array kStages = {Stage::queue,   Stage::import, Stage::compile, Stage::record,
                                Stage::launch,  Stage::run,    Stage::judge,   Stage::baseline,
                                Stage::recheck, Stage::done};

Span child_of(const Span& job, std::string_view stage, std::int64_t start_ns, double ms) {
  Span span;
  span.place = TraceParent::below(job.place);
  span.parent_id = job.place.span_id;
  span.name = "stage " + std::string(stage);
  span.start_ns = start_ns;
  span.end_ns = start_ns + static_cast<std::int64_t>(ms * static_cast<double>(kNsPerMs));
  span.add("assay.stage", stage);
  return span;
}

/// Returns the times of the stages in their order. Names that are no stage come last.
std::vector<std::pair<std::string, double>> ordered(std::map<std::string, double> stages) {
  std::vector<std::pair<std::string, double>> out;
  for (const Stage stage : kStages) {
    const auto found = stages.find(std::string(sandbox::to_string(stage)));
    if (found == stages.end()) continue;
    out.emplace_back(*found);
    stages.erase(found);
  }
  out.insert(out.end(), stages.begin(), stages.end());
  return out;
}

}  // namespace

Span span_of(const mcp::ObservedCall& observed, const CallFacts& facts) {
  Span span;
  span.place = observed.span;
  if (observed.parent) span.parent_id = observed.parent->span_id;
  span.name = std::string(facts.method) + (facts.tool.empty() ? "" : " ") + std::string(facts.tool);
  span.kind = Span::Kind::server;
  span.start_ns = observed.start_unix_ms * kNsPerMs;
  span.end_ns = span.start_ns + observed.duration_ns;
  span.failed = !facts.error.empty();
  span.add("mcp.method.name", facts.method);
  span.add("gen_ai.tool.name", facts.tool);
  span.add("error.type", facts.error);
  span.add("client.address", observed.transport.address);
  span.add("assay.principal", observed.transport.principal());
  span.add("assay.outcome", mcp::MessageCounts::name_of(observed.ending));
  span.add("assay.run", facts.run);
  span.add("assay.job", facts.job);
  return span;
}

std::vector<Span> spans_of(const EndedJob& ended) {
  const std::optional<TraceParent> parent = TraceParent::parse(ended.job.traceparent);
  if (parent && !parent->sampled) return {};
  const tools::PublicVerdict shown = tools::public_verdict(ended.verdict, nullptr);
  const sandbox::Verdict& verdict = shown.verdict();
  Span job;
  job.place = TraceParent::below(parent);
  if (parent) job.parent_id = parent->span_id;
  job.name = "job " + std::string(tools::tool_of(ended.job.kind));
  job.start_ns = (ended.end_unix_ms - ended.elapsed_ms) * kNsPerMs;
  job.end_ns = job.start_ns + tools::shown_elapsed_ms(ended.job.kind, ended.elapsed_ms) * kNsPerMs;
  job.failed = verdict.error_kind != sandbox::ErrorKind::none;
  if (job.failed) job.add("error.type", sandbox::to_string(verdict.error_kind));
  job.add("assay.job", ended.job.id);
  job.add("assay.run", ended.job.run);
  job.add("assay.principal", ended.job.caller);
  job.add("assay.operator", ended.job.operator_name);
  job.add("assay.device", ended.device);
  job.add("assay.outcome", sandbox::to_string(verdict.outcome));

  std::map<std::string, double> stages = verdict.stage_ms;
  stages[std::string(sandbox::to_string(Stage::queue))] = ended.queue_ms;
  std::vector<Span> spans = {job};
  std::int64_t at_ns = job.start_ns;
  for (const auto& [stage, ms] : ordered(std::move(stages))) {
    spans.push_back(child_of(job, stage, at_ns, ms));
    at_ns = spans.back().end_ns;
  }
  return spans;
}

}  // namespace assay::server
