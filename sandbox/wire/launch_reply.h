// Defines the messages that a launcher sends (docs/reference/frames.md, "Launcher"). Both sides use
// these definitions: the launcher writes the messages with to_header(), and the supervisor reads
// them with the parsers. The launcher itself receives a LaunchRequest
// (sandbox/wire/launch_request.h).
//
//   Status sent = send_frame(socket, to_header(launched), {}, {}, deadline);
//   Result<Launched> read = parse_launched(frame);  // the supervisor reads it
//
// Each parser returns `corrupt` if the message has another type, or if a field is missing, has the
// wrong type or is out of range. The error names the field. Plain structs and pure functions.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/wire/device_facts.h"
#include "sandbox/wire/frame.h"
#include "sandbox/wire/launch_error.h"
#include "sandbox/wire/launched.h"

namespace assay::sandbox {

/// The message that a launcher sends once, when its GPU context exists.
struct LauncherReady {
  DeviceFacts device = {};
  std::vector<LayerReport> layers = {};  // isolation layers of the launcher's jail
};
nlohmann::json to_header(const LauncherReady& ready);
Result<LauncherReady> parse_launcher_ready(const Frame& frame);

/// The launcher sends this message after the preparation, before it takes the samples. The
/// supervisor may now change the inputs. Then the supervisor sends a SampleRequest.
struct Primed {
  std::string case_id = {};
};
nlohmann::json to_header(const Primed& primed);
Result<Primed> parse_primed(const Frame& frame);

/// Returns the header of the message. For a timed launch it also contains the median of the samples
/// and its 95 % interval.
nlohmann::json to_header(const Launched& launched);
Result<Launched> parse_launched(const Frame& frame);

struct LaunchFailure {
  std::string case_id = {};
  LaunchError error = {};
};
nlohmann::json to_header(const LaunchFailure& failure);
Result<LaunchFailure> parse_launch_failure(const Frame& frame);

/// The output of `assay-launcher --probe`.
struct LauncherProbe {
  std::vector<DeviceFacts> devices = {};
  std::string reason = {};  // why no device was found
};
/// Returns one line of JSON, without a line feed.
std::string to_line(const LauncherProbe& probe);
Result<LauncherProbe> parse_launcher_probe(std::string_view line);

}  // namespace assay::sandbox
