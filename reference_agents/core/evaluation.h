// Evaluation: what the server says of one version of the code, read from the answers of `compile`,
// `run_tests` and `profile`, and which of two versions is better. Values and pure functions.
//
// When an agent that improves its code should stop, and how it says so. Pure functions.
//
// The verdict in a tool's answer. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reference_agents/core/attempt.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

/// How far a version came. The order is the order of worth.
enum class Level { broken, compiles, correct };

struct Evaluation {
  Level level = Level::broken;
  std::string outcome, error_kind;  // of the last answer
  std::string feedback;  // that answer's text, for the model: it begins with pass, fail or error
  std::optional<double> perf;        // oracle latency / this one's; absent where nothing is timed
  std::optional<double> latency_us;  // of the profiled case
  std::optional<double> efficiency;  // floor / latency: share of what the hardware allows
  bool refused = false;  // a budget or the run is at its end: there is nothing more to hear
};

/// Below this ratio a shorter time is taken for noise.
inline constexpr double kLeastGain = 1.01;

/// Further in the cascade, or as far and faster.
bool is_better(const Evaluation& candidate, const Evaluation& best);

/// "correct, 12.3 us, 1.20 x the oracle, 61 % of the roofline", "compiles, wrong result", "does not
/// compile"
std::string metrics_text(const Evaluation& evaluation);

/// Reads a verdict into `evaluation`; `reached` is its level if this answer is a pass.
void read_answer(const mcp::ToolResult& answer, Level reached, Evaluation& evaluation);
/// Reads the figures of a `profile`.
void read_profile(const mcp::ToolResult& answer, Evaluation& evaluation);

/// False once nothing better can be told from what there is: a budget is used up, or the code is
/// correct where nothing is timed.
inline bool is_worth_more_work(const Evaluation& best) {
  return !best.refused && (best.level != Level::correct || best.perf.has_value());
}

inline std::string why_no_more_work(const Evaluation& best) {
  if (best.refused)
    return "stopped by the server: " + best.feedback.substr(0, best.feedback.find('\n'));
  return "only correctness was worked for: nothing is timed on this machine";
}

/// The verdict's fields stand at the top of an answer, or one level down in the answer of `job`.
const nlohmann::json& verdict_in(const nlohmann::json& structured);

/// A graded verdict into the attempt; outcome "refused" when the answer holds none.
void read_verdict(const mcp::ToolResult& answer, Attempt& attempt);

}  // namespace assay::agents
