// Writes the requests to the judge.
#include <utility>

#include "sandbox/pool/messages.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

json cases_json(const std::vector<CaseRequest>& cases) {
  json list = json::array();
  for (const CaseRequest& one : cases)
    list.push_back({{"id", one.id},
                    {"axes", one.axes},
                    {"dtype", one.dtype},
                    {"distribution", one.distribution}});
  return list;
}

}  // namespace

json describe_header(const Job& job, bool without_inputs) {
  return {{"type", "describe"},
          {"job", job.id},
          {"operator_dir", job.operator_dir},
          {"without_inputs", without_inputs},
          {"cases", cases_json(job.cases)}};
}

json prepare_header(const Job& job, const std::string& device, const HostCases& host) {
  json header = {{"type", "prepare"},
                 {"job", job.id},
                 {"operator_dir", job.operator_dir},
                 {"device", device},
                 {"cases", cases_json(job.cases)},
                 {"host_case_bytes", host.bytes},
                 {"device_cases", host.except}};
  if (!job.input_seed.empty()) header["seed"] = job.input_seed;
  return header;
}

json reference_header(const CheckReference& reference, std::int64_t wall_ms,
                      const std::string& device) {
  json arguments = json::array();
  for (const CheckArgument& one : reference.arguments)
    arguments.push_back({{"name", one.name},
                         {"type", one.type},
                         {"dtype", one.dtype},
                         {"shape", one.shape},
                         {"distribution", one.distribution},
                         {"low", one.low},
                         {"high", one.high},
                         {"value", one.value}});
  json header = {
      {"type", "reference"},  {"entry", reference.entry}, {"arguments", std::move(arguments)},
      {"tolerance", nullptr}, {"wall_ms", wall_ms},       {"device", device}};
  if (reference.tolerance) header["tolerance"] = *reference.tolerance;
  return header;
}

json lint_header(const std::string& operator_dir, const std::string& device,
                 const std::vector<CaseRequest>& cases, std::uint32_t seed) {
  return {{"type", "lint"},
          {"operator_dir", operator_dir},
          {"device", device},
          {"cases", cases_json(cases)},
          {"seed", seed}};
}

json compare_header(const std::string& job, const std::string& case_id,
                    const std::vector<Argument>& outputs, bool on_device, bool keep) {
  return {{"type", "compare"},      {"job", job},  {"case", case_id}, {"outputs", to_json(outputs)},
          {"on_device", on_device}, {"keep", keep}};
}

json attribute_header(const std::string& job, const std::string& case_id,
                      const std::vector<Argument>& outputs, const std::vector<Argument>& without) {
  return {{"type", "attribute"},
          {"job", job},
          {"case", case_id},
          {"outputs", to_json(outputs)},
          {"without", to_json(without)}};
}

json attribute_kept_header(const std::string& job, const std::string& case_id,
                           const std::vector<Argument>& without) {
  return {{"type", "attribute"},
          {"job", job},
          {"case", case_id},
          {"without", to_json(without)},
          {"on_device", true}};
}

json refresh_header(const std::string& job, const std::string& case_id) {
  return {{"type", "refresh"}, {"job", job}, {"case", case_id}};
}

json set_aside_header(const std::string& job, const std::string& case_id,
                      const std::vector<Argument>& outputs) {
  return {{"type", "set_aside"}, {"job", job}, {"case", case_id}, {"outputs", to_json(outputs)}};
}

json compare_aside_header(const std::string& job, const std::string& case_id) {
  return {{"type", "compare_aside"}, {"job", job}, {"case", case_id}};
}

json references_header(const std::string& job, const std::string& case_id, bool timed, int rounds) {
  return {{"type", "references"},
          {"job", job},
          {"case", case_id},
          {"timed", timed},
          {"rounds", rounds}};
}

json settle_header(const std::string& job) { return {{"type", "settle"}, {"job", job}}; }

json free_memory_header(const std::string& job) { return {{"type", "free_memory"}, {"job", job}}; }

json time_compiled_header(const std::string& operator_dir, const CaseRequest& one, bool eager) {
  return {{"type", "time_compiled"},
          {"operator_dir", operator_dir},
          {"case", cases_json({one}).front()},
          {"eager", eager}};
}

json time_reference_header(const std::string& job, const std::string& case_id,
                           std::chrono::milliseconds longest) {
  return {{"type", "time_reference"}, {"job", job}, {"case", case_id}, {"max_ms", longest.count()}};
}

json host_case_header(const std::string& job, const std::string& case_id, const HostRounds& rounds,
                      std::int64_t round_ms) {
  return {{"type", "host_case"},
          {"job", job},
          {"case", case_id},
          {"time", rounds.time},
          {"round_ms", round_ms},
          {"gpu_memory_bytes", rounds.gpu_memory_bytes},
          {"attribute", rounds.attribute},
          {"free_buffers", rounds.free_buffers}};
}

json release_header(const std::string& job) { return {{"type", "release"}, {"job", job}}; }

}  // namespace assay::sandbox
