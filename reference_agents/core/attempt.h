// One agent's work on one operator: what it is asked for and how it ended. Values.
//
// What an agent knows of an operator: `fetch_spec`'s answer, word for word. No test, oracle or
// hidden case can leak, because the agent never has them. Value.
//
// Opening a run for an agent.
//
//   Result<RunHandle> run = start_run(client, {.agent = "leader", .model = model.label(), .track =
//   "iterative", .suite = "standard"});
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

struct AttemptRequest {
  std::string run;
  std::string operator_name;
  std::int64_t sample = 1;  // from 1: which of the independent attempts at this operator
  std::int64_t max_tokens = 16'384;
  std::int64_t follow_ms = 1'800'000;   // how long one job is waited for in all
  std::filesystem::path data_dir = {};  // reference_agents/ of the source tree, for the prompts
  std::function<void(const std::string& step)> step;  // called before each step; may be empty
};

/// The error kind of an attempt whose prompt the endpoint would not take, and that had no version
/// to submit.
inline constexpr const char* kPromptRefused = "prompt_refused";

/// A hint of the verdict: its kind (docs/reference/verdict.md) and its sentence.
struct AttemptHint {
  std::string kind, text;

  bool operator==(const AttemptHint&) const = default;
};

struct Attempt {
  std::string outcome;      // "pass", "fail", "error" as graded; "no_code", "refused" or "error"
                            // (prompt_refused) when nothing was graded
  std::string error_kind;   // "none", "wrong_result", ...; kPromptRefused
  std::string stage;        // where the job ended
  std::string explanation;  // one line
  std::vector<AttemptHint> hints;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  double cost_usd = 0;         // of the replies whose cost is known
  bool cost_known = true;      // whether that is all of them
  double paid_before_usd = 0;  // the part of it that an earlier, unfinished attempt had paid
  double charged_usd =
      0;  // what the spending limit counts: also the worst case of replies without usage
  std::int64_t replies = 0;  // of the model
  std::int64_t tool_calls = 0;
};

struct Spec {
  std::string operator_name;
  std::string entry;        // the function to define; empty when the server did not say so in its
                            // structured answer
  std::string dialect;      // "triton", "gluon", "tlx"; empty likewise
  std::string text;         // fetch_spec's answer
  std::string family = {};  // "gemm", "scan", ...; empty likewise
};

struct RunHandle {
  std::string run;
  std::vector<std::string> operators;  // of the suite, in the server's order
};

struct RunWish {
  std::string agent, model, track, suite;
};

/// An Error holds the server's refusal (code not_found) or a broken conversation.
Result<RunHandle> start_run(mcp::Client& client, const RunWish& wish);

}  // namespace assay::agents
