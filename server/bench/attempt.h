// One attempt of a bench, with a model or with the recorded replies of an earlier bench, and how
// its end is told. Several may be made at once.
//
//   Result<BenchAttempt> made = make_attempt(client, purse, plan, task, [](const std::string& step)
//   { ... });
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "reference_agents/core/attempt.h"
#include "reference_agents/llm/spending_budget.h"
#include "server/bench/plan.h"
#include "server/bench/tasks.h"
#include "server/mcp/client/client.h"
#include "server/report/model/label.h"

namespace assay::server {

struct BenchAttempt {
  agents::Attempt end;
  std::string replay;  // of a replayed one: how it differs from the recorded one; empty: not at all
};

/// Takes up what the task's transcript has of it. An Error is an attempt that did not come to its
/// end.
Result<BenchAttempt> make_attempt(mcp::Client& client, agents::SpendingBudget& purse,
                                  const BenchPlan& plan, const BenchTask& task,
                                  const std::function<void(const std::string& step)>& step);

/// As a report will label it.
Label label_of(const agents::Attempt& attempt);
/// What a line says beside the label.
std::string explanation_of(const BenchAttempt& made);

}  // namespace assay::server
