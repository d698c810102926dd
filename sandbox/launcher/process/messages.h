// The headers of the frames that a launcher sends (docs/reference/frames.md, "Launcher"). It
// receives a LaunchRequest (sandbox/wire/launch_request.h). No other file of the launcher uses
// JSON.
//
//   Status sent = send_frame(socket, launched_message("small", result), {}, {}, deadline);
//
// Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/launcher/driver/launch_error.h"
#include "sandbox/launcher/replay/replay.h"
#include "sandbox/launcher/timing/timing.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

nlohmann::json ready_message(const DeviceFacts& facts, const std::vector<LayerReport>& layers);
/// Tells the supervisor that only the samples are left, so that it may change the inputs.
nlohmann::json primed_message(const std::string& case_id);
/// Checks that the inputs have been changed. Errors: corrupt for any message but `sample`.
Status check_sample(const Frame& frame);
/// Contains the median of the samples and its 95 % interval, or null if the launch was not timed.
nlohmann::json launched_message(const std::string& case_id, const ReplayResult& result);
nlohmann::json launch_error_message(const std::string& case_id, const LaunchError& error);
/// Returns the output of `--probe`: the devices, or the reason why there is none.
nlohmann::json probe_message(const Result<std::vector<DeviceFacts>>& devices);

}  // namespace assay::sandbox
