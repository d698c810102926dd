// one_shot: the lower bound among the agents. A specification in, one submission out; the model never hears how it went.
//
//   Result<Attempt> attempt = attempt_operator(client, model, transcript, {.run = run, .operator_name = "vector_add"});
//
// A pure MCP client: fetch_spec -> prompt -> model -> code -> compile -> run_tests -> submit, following `job` handles. Everything goes to
// the transcript. May run for several operators at once, each with its own transcript.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "reference_agents/llm/metered.h"
#include "reference_agents/one_shot/transcript.h"
#include "server/mcp/client.h"

namespace assay::agents {

struct RunHandle {
  std::string run;
  std::vector<std::string> operators;  // of the suite, in the server's order
};

/// Opens a run of the one_shot track. An Error holds the server's refusal (code not_found) or a broken conversation.
Result<RunHandle> start_one_shot_run(mcp::Client& client, const std::string& model_label, const std::string& suite);

struct AttemptRequest {
  std::string run;
  std::string operator_name;
  std::int64_t max_tokens = 16'384;
  std::int64_t follow_ms = 1'800'000;                 // how long one job is waited for in all
  std::function<void(const std::string& step)> step;  // called before each step; may be empty
};

struct Attempt {
  std::string outcome;      // "pass", "fail", "error" as graded; "no_code" or "refused" when nothing was graded
  std::string error_kind;   // "none", "wrong_result", ...
  std::string stage;        // where the job ended
  std::string explanation;  // one line
  std::vector<std::string> hints;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  double cost_usd = 0;
  std::int64_t tool_calls = 0;
  bool reply_reused = false;  // an earlier, unfinished attempt had paid for it
};

/// An Error is an attempt that did not come to its end (the model or the server failed) and may be taken up again.
Result<Attempt> attempt_operator(mcp::Client& client, MeteredClient& model, Transcript& transcript, const AttemptRequest& request);

}  // namespace assay::agents
