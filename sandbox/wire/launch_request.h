// LaunchRequest is the message by which the supervisor makes a launcher perform a plan
// (docs/reference/frames.md, "Launcher"). Both sides use this definition: the supervisor writes the
// message with to_header(), and the launcher reads it with parse_launch_request().
//
//   LaunchRequest request{.case_id = "small", .output_fd = 1, .output_bytes = 4096};
//   Status sent = send_frame(socket, to_header(request), plan, fds, deadline);
//   Result<LaunchRequest> read = parse_launch_request(frame);  // in the launcher
//
// The payload of the frame is the plan. The frame's descriptors are memory files, or the handle of
// the device memory that judge and launcher share. Values and pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

// The maximum number of samples in a request. One frame carries all samples.
inline constexpr std::int64_t kMaxSamplesAllowed = 100'000;
// The maximum number of tunables of a plan in a message.
inline constexpr std::size_t kMaxTunables = 4'096;

/// How one block of samples is taken.
struct TimedBlock {
  std::int64_t min_samples = 10, max_samples = 40;
  std::int64_t max_time_ms = 120, warm_up_ms = 20;
  // samples with warm caches, and as many samples by the host's clock
  std::int64_t side_samples = 3;
};

struct LaunchInput {
  std::string name;
  std::size_t fd = 0;  // index into the descriptors of the frame
  std::uint64_t offset = 0, bytes = 0;
  bool inout = false;  // the plan may write to it
};

struct LaunchRequest {
  std::string case_id;
  std::vector<LaunchInput> inputs = {};
  std::size_t output_fd = 0;        // index into the descriptors of the frame
  std::uint64_t output_offset = 0;  // 0 in a memory file
  std::uint64_t output_bytes = 0;
  // 0 if the descriptors are memory files. Otherwise the only descriptor is a handle of device
  // memory with this many bytes.
  std::uint64_t device_bytes = 0;
  std::uint64_t gpu_memory_bytes = 0;  // limit for the plan's buffers
  bool ablated = false;                // run without the submission's kernels

  /// The alternative of each tunable, as an earlier launch chose it. If empty, a timed launch
  /// chooses the alternatives, and an untimed launch uses the first alternatives.
  std::vector<std::int64_t> chosen = {};

  // The fields below apply only to timed launches.
  std::optional<TimedBlock> time = {};
  bool inspect = false;  // also measures a timeline, and checks that the outputs are deterministic
  // If true, the launcher sends `primed` before the samples and waits for `sample`. In between, the
  // inputs can be changed.
  bool stage_next_inputs = false;
};

nlohmann::json to_header(const LaunchRequest& request);

/// Errors: `corrupt` if a field is missing, has the wrong type or is out of range, or if a
/// descriptor does not exist; the message names the field.
Result<LaunchRequest> parse_launch_request(const Frame& frame);

/// The supervisor's answer to `primed`: the inputs have been changed, and the samples may be taken.
struct SampleRequest {};
nlohmann::json to_header(const SampleRequest& request);
/// Errors: `corrupt` for any message except `sample`.
Status parse_sample_request(const Frame& frame);

}  // namespace assay::sandbox
