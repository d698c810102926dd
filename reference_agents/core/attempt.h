// Defines the inputs and the results of an attempt. An attempt is one agent's work on one operator
// within a run.
//
//   AttemptRequest request{.run = run.run, .operator_name = run.operators.front()};
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/suite_id.h"

namespace assay::agents {

struct RunHandle {
  std::string run;
  std::vector<std::string> operators;  // the suite's operators, in the server's order
  SuiteId suite_id = {};               // unknown if the server is older and does not say it
};

/// The arguments of the tool `start_run`.
struct RunWish {
  std::string agent, model, track, suite;
  std::string call_id = {};  // names the call, so that it can be repeated; empty: no name
};

/// The server's answer to `fetch_spec`, unchanged. An agent knows nothing else about an operator,
/// so it cannot leak a test, an oracle or a hidden case to the model. A field other than the name
/// and the text is empty if the server does not report it.
struct Spec {
  std::string operator_name;
  std::string entry;        // the function that a submission must define
  std::string dialect;      // "triton", "gluon" or "tlx"
  std::string text;         // the specification as the server writes it
  std::string family = {};  // "gemm", "scan", ...
};

struct AttemptRequest {
  std::string run;
  std::string operator_name;
  std::int64_t sample = 1;  // the number of this attempt among those at the operator, from 1
  std::int64_t max_tokens = 16'384;
  std::int64_t follow_ms = 1'800'000;   // the longest time to wait for one job
  std::filesystem::path data_dir = {};  // the folder reference_agents/, which has the prompts
  std::function<void(const std::string& step)> step;  // called before each step; can be empty
  /// Gets a text while the model's endpoint is asked again; can be empty.
  std::function<void(const std::string& text)> notice = {};
};

/// The error kind of an attempt that ended without a submission, because the endpoint refused a
/// prompt before any version was evaluated.
inline constexpr const char* kPromptRefused = "prompt_refused";

/// The outcomes of an attempt that ended without a submission, because no reply held code, or
/// because the last reply was cut off before its code was complete.
inline constexpr const char* kNoCode = "no_code";
inline constexpr const char* kTruncated = "truncated";

/// A hint in the verdict: its kind (docs/reference/verdict.md) and its sentence.
struct AttemptHint {
  std::string kind, text;

  bool operator==(const AttemptHint&) const = default;
};

/// The result of an attempt.
struct Attempt {
  /// "pass", "fail" or "error" if the server graded a submission. Otherwise kNoCode, kTruncated,
  /// "refused", or "error" with the kind kPromptRefused.
  std::string outcome;
  std::string error_kind;   // "none", "wrong_result", ...
  std::string stage;        // the stage in which the job ended
  std::string explanation;  // one line
  std::vector<AttemptHint> hints;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  double cost_usd = 0;     // the sum over the replies whose cost is known
  bool cost_known = true;  // true if the cost of every reply is known
  /// The part of `cost_usd` that an earlier, interrupted part of this attempt paid.
  double paid_before_usd = 0;
  /// The amount that counts against the spending limit. If the endpoint reported no token counts
  /// for a reply, the amount includes the reply's worst case.
  double charged_usd = 0;
  std::int64_t replies = 0;  // replies of the model
  std::int64_t tool_calls = 0;
};

}  // namespace assay::agents
