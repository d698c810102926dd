// Builds the result of an evaluation from the status of its job. It reads only the public verdict
// (tools/model/public_verdict.h), so it shows nothing about hidden cases that MCP does not show.
//
//   nlohmann::json result = result_of(services.catalog, services.limits, status);
//   add_rewards(result, policies);
//
// The functions have no state and are thread-safe.
#pragma once

#include "base/json.h"
#include "server/evaluate/policies.h"
#include "tools/model/services.h"

namespace assay::server {

/// Returns the members of result_schema() that follow from the job. If the job has ended, they
/// include the outcome and the figures.
nlohmann::json result_of(const operators::Catalog& catalog, const tools::AnswerLimits& limits,
                         const tools::JobStatus& status);

/// Adds `rewards` to the result of a job that has ended. Every reward is null if the result says
/// nothing about the submission.
void add_rewards(nlohmann::json& result, const RewardPolicies& policies);

}  // namespace assay::server
