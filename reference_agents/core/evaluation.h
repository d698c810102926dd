// Defines Evaluation, the server's judgement on one version of the code. The functions read
// evaluations from the answers of the tools `compile`, `run_tests` and `profile`, and compare
// versions. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "reference_agents/core/attempt.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

/// The last stage that a version passed, from worst to best.
enum class Level { broken, compiles, correct };

struct Evaluation {
  Level level = Level::broken;
  std::string outcome, error_kind;  // of the last answer
  std::string feedback;  // the last answer's text for the model; starts with pass, fail or error
  std::optional<double> perf;        // baseline latency / own latency; absent without times
  std::optional<double> latency_us;  // the latency of the profiled case
  std::optional<double> efficiency;  // floor / latency, the share of the hardware's limit
  bool refused = false;              // true if a budget is used up or the run is over
};

/// The least ratio of speeds that counts as a gain. A smaller ratio is noise.
inline constexpr double kLeastGain = 1.01;

/// Returns true if `candidate` has a higher level, or the same level and is faster.
bool is_better(const Evaluation& candidate, const Evaluation& best);

/// Describes an evaluation for a prompt, such as "correct, 12.30 us, 1.20 x the speed of the
/// reference kernel, 61 % of the roofline" or "does not compile (compilation_error)".
std::string metrics_text(const Evaluation& evaluation);

/// Returns true if further work can find a better version. Returns false if a budget is used up, or
/// if the code is correct and the device measures no times.
inline bool is_worth_more_work(const Evaluation& best) {
  return !best.refused && (best.level != Level::correct || best.perf.has_value());
}

/// Returns the reason why an agent stops. Call it only if is_worth_more_work() is false.
inline std::string why_no_more_work(const Evaluation& best) {
  if (best.refused)
    return "stopped by the server: " + best.feedback.substr(0, best.feedback.find('\n'));
  return "stopped at the first correct version: nothing is timed on this machine";
}

/// Reads the verdict of one tool into `evaluation`. A pass sets the level to `reached`.
void read_answer(const mcp::ToolResult& answer, Level reached, Evaluation& evaluation);
/// Reads the numbers in the answer of `profile` into `evaluation`. A profile that did not pass
/// changes nothing.
void read_profile(const mcp::ToolResult& answer, Evaluation& evaluation);
/// Reads the verdict of a submission into `attempt`. Sets the outcome "refused" if the answer
/// contains no verdict.
void read_verdict(const mcp::ToolResult& answer, Attempt& attempt);

/// Returns the verdict in an answer. It is the answer itself, or, in the answer of the tool `job`,
/// a member of the answer.
const nlohmann::json& verdict_in(const nlohmann::json& structured);

}  // namespace assay::agents
