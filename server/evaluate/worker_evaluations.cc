#include "server/evaluate/worker_evaluations.h"

#include <memory>
#include <utility>

#include "server/evaluate/evaluation_result.h"
#include "server/runs/finished_job.h"
#include "server/runs/verdict_writer.h"

namespace assay::server {
namespace {

using nlohmann::json;

json refusal(const Problem& problem) {
  return {{"state", "refused"}, {"problem", json_of(problem)}};
}

/// Returns why a worker cannot do what the member asks for, or nothing.
std::optional<Problem> beyond_a_worker(const Wanted& wanted) {
  std::string members;
  if (!wanted.run.empty()) members += " run";
  if (!wanted.group.empty()) members += " group";
  if (wanted.key != wanted.digest) members += " idempotency_key";
  if (wanted.deadline_unix_ms) members += " deadline";
  if (wanted.job.priority != 0) members += " priority";
  if (members.empty()) return std::nullopt;
  return Problem{.type = ProblemType::invalid_request,
                 .detail = "only a server knows these members:" + members +
                           "; leave them out, or send the evaluation to a server"};
}

json result_of_verdict(const EvaluationContext& context, const RewardPolicies& policies,
                       const sandbox::Job& job, sandbox::Verdict verdict, std::int64_t elapsed_ms) {
  const auto checked =
      std::make_shared<const sandbox::Verdict>(checked_verdict(job, std::move(verdict)));
  tools::JobStatus status;
  status.job = job.id;
  status.state = end_state(*checked);
  status.elapsed_ms = elapsed_ms;
  status.stage = sandbox::to_string(checked->stage);
  status.verdict = checked;
  json result = result_of(context.catalog, tools::AnswerLimits(), status);
  add_rewards(result, policies);
  return result;
}

}  // namespace

WorkerLoop::Evaluate evaluate_for(const EvaluationContext& context) {
  return [&context](const JobTag& tag, const std::string& body,
                    const std::string& input_seed) -> tl::expected<WorkerLoop::Requested, json> {
    auto request = read_request(context, body);
    if (!request) return tl::unexpected<json>(refusal(request.error()));
    if (request->members.size() != 1)
      return tl::unexpected<json>(refusal(
          {.type = ProblemType::invalid_request, .detail = "a message has one evaluation"}));
    Wanted& wanted = request->members.front();
    if (!wanted.problem) wanted.problem = beyond_a_worker(wanted);
    if (wanted.problem) return tl::unexpected<json>(refusal(*wanted.problem));
    sandbox::Job job = std::move(wanted.job);
    job.id = tag.job;
    job.input_seed = input_seed;
    WorkerLoop::Requested requested{.job = job, .result = nullptr};
    requested.result = [&context, job = std::move(job), policies = std::move(request->policies)](
                           sandbox::Verdict verdict, std::int64_t elapsed_ms) {
      return result_of_verdict(context, policies, job, std::move(verdict), elapsed_ms);
    };
    return requested;
  };
}

}  // namespace assay::server
