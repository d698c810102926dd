#include "tools/answer/verdict_answer.h"

#include <optional>

#include "base/text.h"
#include "tools/json/verdict_json.h"
#include "tools/model/outcome_names.h"
#include "tools/model/public_verdict.h"

namespace assay::tools {
namespace {

using nlohmann::json;
using sandbox::Verdict;

constexpr std::size_t kEngineBytes = 1'000;  // of what an engine says

/// Returns whether a value is an empty string, list or object.
bool is_bare(const json& value) {
  return value.is_string() ? value.get_ref<const std::string&>().empty()
                           : value.is_structured() && value.empty();
}

void drop_keys(json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) object.erase(key);
}

void drop_empty(json& object) {
  for (auto it = object.begin(); it != object.end();)
    it = is_bare(*it) || *it == 0 ? object.erase(it) : std::next(it);
}

// The number of failed cases that a concise answer describes; only the first one is described in
// all fields. One mistake usually makes all cases wrong, and each description repeats it.
constexpr std::size_t kDescribedCases = 2;

void make_concise(json& document) {
  drop_keys(document, {"provenance"});
  if (document["outcome"] == "pass") drop_keys(document, {"stderr"});
  if (document.contains("diagnostic")) {
    drop_keys(document["diagnostic"], {"traceback"});
    for (const char* key : {"subject", "advice"})
      if (is_bare(document["diagnostic"][key])) drop_keys(document["diagnostic"], {key});
  }
  std::size_t failed = 0;
  for (json& record : document["cases"]) {
    drop_keys(record, {"cost_bytes", "cost_flops", "float64_error"});
    if (record["outcome"] != "pass" && ++failed > 1) drop_keys(record, {"first_mismatch", "wrong"});
    if (const auto first = record.find("first_mismatch");
        first != record.end() && first->value("unstored", false) == false)
      first->erase("unstored");
    if (failed > kDescribedCases) drop_keys(record, {"reason"});
    if (is_bare(record["torch_compile_unsupported"]))
      drop_keys(record, {"torch_compile_unsupported"});
    if (is_bare(record["modified"])) drop_keys(record, {"modified"});
    if (record.contains("wrong") && is_bare(record["wrong"])) drop_keys(record, {"wrong"});
    if (record["outcome"] == "pass") drop_keys(record, {"reason", "mismatches", "elements"});
    if (record["timeline"].size() < 2) drop_keys(record, {"timeline", "own_share"});
    for (const char* key : {"latency", "baseline_latency"}) {
      if (record.contains(key)) drop_keys(record[key], {"samples_ns"});
    }
  }
  if (!document.contains("profile")) {
    for (json& kernel : document["kernels"])
      drop_keys(kernel, {"binary_bytes", "grid", "launches", "gpu_time_share"});
    return;
  }
  for (json& kernel : document["kernels"]) drop_keys(kernel, {"binary_bytes"});
  for (json& digest : document["profile"]["code"]) drop_empty(digest);
  drop_empty(document["profile"]);
}

json verdict_fields(const Verdict& verdict, Format format) {
  json document = verdict_to_json(verdict);
  drop_keys(document, {"format", "artifacts", "tells_hidden"});
  if (format == Format::concise) make_concise(document);
  for (auto it = document.begin(); it != document.end();)
    it = is_bare(*it) && it.key() != "cases" ? document.erase(it) : std::next(it);
  if (const auto type = error_type(verdict.error_kind)) {
    document["error_type"] = type->type;
    document["error_group"] = type->group;
  }
  return document;
}

}  // namespace

std::string queue_text(const JobStatus& status) {
  std::string text = "queued at position " + std::to_string(status.queue_position);
  if (status.expected_wait_ms)
    text += ", about " + std::to_string((*status.expected_wait_ms + 999) / 1'000) + " s";
  return text;
}

namespace {

void add_chart(mcp::ToolResult& answer, const sandbox::Profile& profile) {
  Result<std::string> png = roofline_png(profile);
  if (png) {
    answer.content.push_back(mcp::image_content(*png, "image/png"));
    return;
  }
  answer.text += "\nno roofline chart: " + png.error().message;
  answer.structured["profile"]["missing"]["roofline"] = png.error().message;
}

/// Returns a line about the artifacts that the store did not keep: how many for each reason.
/// Returns "" if the store kept all. The names of artifacts are untrusted, so only `structured` has
/// them.
std::string dropped_text(const Verdict& verdict) {
  std::map<std::string, std::int64_t> counts;
  for (const sandbox::DroppedArtifact& dropped : verdict.artifacts_dropped)
    ++counts[std::string(sandbox::to_string(dropped.reason))];
  if (counts.empty()) return "";
  return "\nartifacts not kept: " + join(counts, ", ", [](const auto& entry) {
           return std::to_string(entry.second) + " (" + entry.first + ")";
         });
}

mcp::ToolResult running_answer(const JobStatus& status) {
  const bool queued = status.state == JobState::queued;
  const std::string next =
      status.server_stops
          ? "The server stops before the job is over. The next server runs the job again and "
            "charges only a submission for it. When it runs, call `job` with job=" +
                status.job + " and wait_s=20 for the verdict."
          : "Call `job` with job=" + status.job +
                " and wait_s=20 for the verdict, or with cancel=true to stop it.";
  mcp::ToolResult answer;
  answer.text = queued ? "running: " + queue_text(status) : "running: in stage " + status.stage;
  answer.text += " after " + std::to_string(status.elapsed_ms / 1000) + " s";
  if (status.engine.state != sandbox::EngineState::none)
    answer.text += "\nworker " + std::string(sandbox::to_string(status.engine.state)) + ": " +
                   line_of(status.engine.said, kEngineBytes);
  answer.text += "\njob: " + status.job + "\nnext: " + next;
  answer.structured = {{"status", "running"},
                       {"job", status.job},
                       {"state", to_string(status.state)},
                       {"queue_position", status.queue_position},
                       {"expected_wait_ms", status.expected_wait_ms.value_or(0)},
                       {"elapsed_ms", status.elapsed_ms},
                       {"stage", status.stage},
                       {"next", next}};
  if (status.server_stops) answer.structured["server_stops"] = true;
  if (status.engine.state != sandbox::EngineState::none)
    answer.structured["engine"] = {{"state", sandbox::to_string(status.engine.state)},
                                   {"said", cut_end(status.engine.said, kEngineBytes)}};
  return answer;
}

/// Returns the number of calls that the run's budget still allows. Returns nothing if the job
/// belongs to no run, if it is a grade, or if the budget is unlimited.
std::optional<CallsLeft> calls_left(const Services& services, const Principal& principal,
                                    const JobStatus& status, const Verdict& verdict) {
  if (status.run.empty() || verdict.kind == sandbox::JobKind::grade) return {};
  const auto found =
      services.runs.calls_left(principal, status.run, verdict.operator_name, verdict.kind);
  if (!found || found->limit < 0) return {};  // the answer is complete without the budget
  return *found;
}

}  // namespace

mcp::ToolResult status_answer(const Services& services, const Principal& principal,
                              const JobStatus& status, Format format) {
  const std::size_t most = max_chars(services.limits, format);
  if (!status.verdict) return fit_answer(running_answer(status), most);
  const operators::Operator* op = services.catalog.find(status.verdict->operator_name);
  const PublicVerdict shown = public_verdict(*status.verdict, op);
  const Verdict& verdict = shown.verdict();
  JobStatus known = status;
  known.elapsed_ms = shown_elapsed_ms(verdict.kind, status.elapsed_ms);
  const auto left = calls_left(services, principal, status, verdict);
  std::string next = next_step(verdict, op);
  if (left && left->submissions == 0 && verdict.outcome == sandbox::Outcome::pass)
    next =
        "This operator is already submitted, and that submission counts. Go on with another "
        "operator; "
        "`scorecard` shows the run.";
  mcp::ToolResult answer;
  answer.text = verdict_text(verdict, known, format, op);
  answer.structured = verdict_fields(verdict, format);
  answer.structured["status"] = "finished";
  answer.structured["state"] = to_string(status.state);
  answer.structured["elapsed_ms"] = known.elapsed_ms;
  answer.structured["next"] = next;
  if (left) {
    answer.text += "; " + std::string(tool_of(verdict.kind)) + " " + std::to_string(left->left) +
                   " of " + std::to_string(left->limit) + " left";
    answer.structured["calls_left"] = left->left;
  }
  // The artifacts of a graded submission show launch plans and code for the hidden cases. So an
  // agent does not get them; only the maintainer of the server does.
  if (verdict.kind != sandbox::JobKind::grade) {
    json list = json::array();
    for (const auto& [handle, name] : services.artifacts.list(status.job)) {
      list.push_back({{"artifact", handle}, {"name", name}});
      answer.text.append("\nartifact ").append(handle).append(": ").append(line_of(name));
    }
    if (!list.empty()) answer.structured["artifacts"] = std::move(list);
    answer.text += dropped_text(verdict);
  }
  if (verdict.profile && verdict.profile->detail == sandbox::ProfileDetail::roofline)
    add_chart(answer, *verdict.profile);
  answer.text += "\nnext: " + escape_line(next);
  return fit_answer(std::move(answer), most);
}

}  // namespace assay::tools
