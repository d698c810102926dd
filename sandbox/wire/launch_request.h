// LaunchRequest: the message by which the supervisor makes a launcher perform a plan
// (docs/reference/frames.md, "Launcher"). Both sides use this definition: the supervisor writes it
// with to_header(), and the launcher reads it with parse_launch_request().
//
//   LaunchRequest request{.case_id = "small", .output_fd = 1, .output_bytes = 4096};
//   Status sent = send_frame(socket, to_header(request), plan, fds, deadline);
//   Result<LaunchRequest> read = parse_launch_request(frame);  // in the launcher
//
// The payload of the frame is the plan. Its descriptors are memory files, or the handle of the
// device memory that judge and launcher share. Values and pure functions, thread-safe.
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

// Upper bound of the samples in a request, because one frame carries all samples.
inline constexpr std::int64_t kMaxSamplesAllowed = 100'000;
// Upper bound of the tunables of a plan in a message.
inline constexpr std::size_t kMaxTunables = 4'096;

/// How one block of samples is taken.
struct TimedBlock {
  std::int64_t min_samples = 10, max_samples = 40;
  std::int64_t max_time_ms = 120, warm_up_ms = 20;
  std::int64_t side_samples = 3;  // samples with warm caches, and as many by the host's clock
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
  // 0: the descriptors are memory files. Otherwise the only one is a handle of this much device
  // memory.
  std::uint64_t device_bytes = 0;
  std::uint64_t gpu_memory_bytes = 0;  // limit for the plan's buffers
  bool ablated = false;                // run without the submission's kernels

  /// The alternative of each tunable, as an earlier launch chose it. Empty: a timed launch chooses,
  /// and any other launch takes the first alternatives.
  std::vector<std::int64_t> chosen = {};

  // The rest is for timed launches only.
  std::optional<TimedBlock> time = {};
  bool inspect = false;  // also take a timeline, and check that the outputs are deterministic
  // The launcher sends `primed` before the samples and waits for `sample`, so that the inputs can
  // be changed in between.
  bool stage_next_inputs = false;
};

nlohmann::json to_header(const LaunchRequest& request);

/// Errors: `corrupt`, which names the field, if a field is missing, has the wrong type or is out of
/// range, or if a descriptor does not exist.
Result<LaunchRequest> parse_launch_request(const Frame& frame);

/// The supervisor's answer to `primed`: the inputs have been changed, and the samples may be taken.
struct SampleRequest {};
nlohmann::json to_header(const SampleRequest& request);
/// Errors: `corrupt` for any message but `sample`.
Status parse_sample_request(const Frame& frame);

}  // namespace assay::sandbox
