// What the metrics need to know of one graded submission. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "metrics/summary.h"
#include "sandbox/job/job.h"

namespace assay::server {

/// TritonBench's call accuracy asks whether the code runs to its end, right or wrong.
bool ran_to_its_end(const sandbox::Verdict& verdict);

/// The ratios are there only where every case of a pass that is worth timing was timed.
metrics::Sample sample_of(const sandbox::Verdict& verdict);

/// How the label of a replayed bench begins: "replay of openai:gpt-5 (no model)".
inline constexpr std::string_view kReplayOf = "replay of ";

/// The label of a replay of what `model` answered. It ends like those without a model: recorded
/// replies are no fresh result of any.
std::string replay_label(const std::string& model);

/// "scripted (no model)", "sim:7 (no model)": shown as such and never ranked.
bool names_no_model(const std::string& model);

}  // namespace assay::server
