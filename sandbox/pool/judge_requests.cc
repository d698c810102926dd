// Implements the functions of Judge that send one request and parse its answer.
#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/pool/judge.h"

namespace assay::sandbox {

Result<Compared> Judge::compare(const CaseName& of, const RunOutputs& outputs,
                                const Deadline& deadline, bool keep) {
  const bool on_device = outputs.fd < 0;
  const std::vector<int> fds = on_device ? std::vector<int>{} : std::vector<int>{outputs.fd};
  return ask_for(parse_compared,
                 {compare_header(of.job, of.case_id, outputs.tensors, on_device, keep), fds, of.job,
                  of.case_id},
                 deadline);
}

Result<HostJudged> Judge::host_case(const CaseName& of, const HostRounds& rounds,
                                    const Limits& limits, const Deadline& deadline) {
  const std::int64_t wall_ms = limits.import_wall_ms + limits.run_wall_ms;
  const nlohmann::json header = host_case_header(of.job, of.case_id, rounds, wall_ms);
  return ask_for(parse_host_judged, {header, {rounds.line}, of.job, of.case_id}, deadline);
}

Result<Attributed> Judge::attribute(const CaseName& of, const AttributionRuns& runs,
                                    const Deadline& deadline) {
  const auto& [full, without] = runs;
  const bool on_device = full.fd < 0;
  if (on_device != (without.fd < 0))
    return fail(ErrorCode::invalid_argument,
                "the outputs of one run are in a memory file, those of the other are not");
  Request request{{}, {}, of.job, of.case_id};
  if (on_device) {
    request.header = attribute_kept_header(of.job, of.case_id, without.tensors);
  } else {
    request.header = attribute_header(of.job, of.case_id, full.tensors, without.tensors);
    request.fds = {full.fd, without.fd};
  }
  return ask_for(parse_attributed, request, deadline);
}

Result<std::string> Judge::refresh(const std::string& job, const std::string& case_id,
                                   const Deadline& deadline) {
  return ask_for(parse_refreshed, {refresh_header(job, case_id), {}, job, case_id}, deadline);
}

Result<bool> Judge::set_aside(const CaseName& of, const std::vector<Argument>& outputs,
                              const Deadline& deadline) {
  return ask_for(parse_was_set_aside,
                 {set_aside_header(of.job, of.case_id, outputs), {}, of.job, of.case_id}, deadline);
}

Result<Compared> Judge::compare_aside(const CaseName& of, const Deadline& deadline) {
  return ask_for(parse_compared, {compare_aside_header(of.job, of.case_id), {}, of.job, of.case_id},
                 deadline);
}

Status Judge::compute_references(const CaseName& of, bool timed, const Deadline& deadline) {
  return ask({references_header(of.job, of.case_id, timed, 0), {}, of.job, of.case_id},
             parse_referenced, deadline);
}

Status Judge::draw_ahead(const CaseName& of, int rounds, const Deadline& deadline) {
  return ask({references_header(of.job, of.case_id, false, rounds), {}, of.job, of.case_id},
             parse_referenced, deadline);
}

Result<DeviceRoom> Judge::free_memory(const Deadline& deadline, const std::string& job) {
  if (!has_worked_) return DeviceRoom{};
  return ask_for(parse_freed, {free_memory_header(job), {}, job, {}, kNoSetting}, deadline);
}

Result<std::vector<double>> Judge::time_reference(const std::string& job,
                                                  const std::string& case_id,
                                                  std::chrono::milliseconds longest,
                                                  const Deadline& deadline) {
  return ask_for(parse_timed_reference,
                 {time_reference_header(job, case_id, longest), {}, job, case_id}, deadline);
}

Result<CompiledTime> Judge::time_compiled(const std::string& operator_dir, const CaseRequest& one,
                                          const Deadline& deadline, bool eager) {
  return ask_for(parse_timed_compiled,
                 {time_compiled_header(operator_dir, one, eager), {}, {}, one.id, kNoSetting},
                 deadline);
}

Result<std::vector<LintCheck>> Judge::lint(const std::string& operator_dir,
                                           const std::vector<CaseRequest>& cases,
                                           std::uint32_t seed, const Deadline& deadline) {
  return ask_for(
      parse_linted,
      {lint_header(operator_dir, process_->device(), cases, seed), {}, {}, {}, kNoSetting},
      deadline);
}

}  // namespace assay::sandbox
