#include "server/bench/journal_lines.h"

#include <vector>

namespace assay::server {
namespace {

using nlohmann::json;

constexpr int kJournalFormat = 1;

BenchIdentity identity_of(const json& line) {
  return {line.at("agent").get<std::string>(),    line.at("model").get<std::string>(),
          line.at("suite").get<std::string>(),    line.at("device").get<std::string>(),
          line.value("server", std::string()),    line.value("store", std::string()),
          line.at("samples").get<std::int64_t>(), line.value("track", std::string())};
}

}  // namespace

json identity_line(const BenchIdentity& identity) {
  json line = {
      {"kind", "bench"},           {"format", kJournalFormat}, {"agent", identity.agent},
      {"model", identity.model},   {"suite", identity.suite},  {"device", identity.device},
      {"server", identity.server}, {"store", identity.store},  {"samples", identity.samples}};
  if (!identity.track.empty()) line["track"] = identity.track;
  return line;
}

json run_line(std::int64_t sample, const agents::RunHandle& run) {
  return {{"kind", "run"}, {"sample", sample}, {"run", run.run}, {"operators", run.operators}};
}

json finished_line(std::int64_t sample, const std::string& operator_name,
                   const agents::Attempt& attempt, double wall_ms, const std::string& replay) {
  json line = {{"kind", "finished"},
               {"sample", sample},
               {"operator", operator_name},
               {"outcome", attempt.outcome},
               {"error_kind", attempt.error_kind},
               {"explanation", attempt.explanation},
               {"input_tokens", attempt.input_tokens},
               {"output_tokens", attempt.output_tokens},
               {"cost_usd", attempt.cost_known ? json(attempt.cost_usd) : json()},
               {"charged_usd", attempt.charged_usd},
               {"replies", attempt.replies},
               {"tool_calls", attempt.tool_calls},
               {"wall_ms", wall_ms}};
  if (!replay.empty()) line["replay"] = replay;
  return line;
}

std::string identity_difference(const json& there, const json& here) {
  for (const auto& [key, value] : here.items()) {
    if (!there.contains(key) || there[key] != value)
      return key + " is " + (there.contains(key) ? there[key].dump() : "missing") + " there and " +
             value.dump() + " here";
  }
  if (there.contains("track") && !here.contains("track"))
    return "track is " + there["track"].dump() + " there and missing here";
  return "";
}

void read_journal_line(const json& line, JournalContent& content) {
  const std::string kind = line.at("kind").get<std::string>();
  if (kind == "bench") content.identity = identity_of(line);
  if (kind == "run")
    content.runs[line.at("sample").get<std::int64_t>()] = {
        line.at("run").get<std::string>(), line.at("operators").get<std::vector<std::string>>()};
  if (kind != "finished") return;
  JournalledEnd& end = content.finished[{line.at("sample").get<std::int64_t>(),
                                         line.at("operator").get<std::string>()}];
  end = {line.at("outcome").get<std::string>(), line.value("error_kind", std::string()),
         line.value("explanation", std::string()), line.value("replay", std::string())};
  if (const json& cost = line.at("cost_usd"); !cost.is_null()) end.cost_usd = cost.get<double>();
  end.charged_usd = line.value("charged_usd", end.cost_usd.value_or(0));
  end.wall_ms = line.value("wall_ms", 0.0);
}

}  // namespace assay::server
