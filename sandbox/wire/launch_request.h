// The supervisor sends a LaunchRequest to make a launcher perform a plan (docs/reference/frames.md,
// "Launcher"). Both sides use this definition: the supervisor writes the message with to_header(),
// and the launcher reads it with parse_launch_request().
//
//   LaunchRequest request{.case_id = "small", .output_fd = 1, .output_bytes = 4096};
//   Status sent = send_frame(socket, to_header(request), plan, fds, deadline);
//   Result<LaunchRequest> read = parse_launch_request(frame);  // the launcher reads it
//
// The payload of the frame is the plan. The frame's descriptors are memory files, or the handle of
// the device memory that the judge and the launcher share. Plain structs and pure functions.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

// The maximum number of samples in a request. The number is limited because one frame carries all
// samples.
inline constexpr std::int64_t kMaxSamplesAllowed = 100'000;
// The maximum number of tunables of a plan in a message.
inline constexpr std::size_t kMaxTunables = 4'096;

/// The rules by which one block of samples is taken.
struct TimedBlock {
  std::int64_t min_samples = 10, max_samples = 40;
  std::int64_t max_time_ms = 120, warm_up_ms = 20;
  // The number of samples with warm caches. The number of samples by the host's clock is the same.
  std::int64_t side_samples = 3;
  // Whether all samples are fresh: the launcher loads its own kernels again before each of them.
  bool all_fresh = false;
};

struct LaunchInput {
  std::string name;
  std::size_t fd = 0;  // index into the descriptors of the frame
  std::uint64_t offset = 0, bytes = 0;
  bool inout = false;  // whether the plan may write to this input
};

struct LaunchRequest {
  std::string case_id;
  std::vector<LaunchInput> inputs = {};
  std::size_t output_fd = 0;        // index into the descriptors of the frame
  std::uint64_t output_offset = 0;  // 0 if the outputs are in a memory file
  std::uint64_t output_bytes = 0;
  // The size of the device memory in bytes, if the only descriptor is a handle of device memory. It
  // is 0 if the descriptors are memory files.
  std::uint64_t device_bytes = 0;
  // If it is not 0, the launcher keeps its access to the device memory for the next request with
  // the same number, until a ReleaseRequest or a request with another number arrives.
  std::uint64_t memory_id = 0;
  std::uint64_t gpu_memory_bytes = 0;  // limit for the plan's device memory
  bool ablated = false;                // whether to run without the submission's kernels

  /// For each tunable, the alternative (autotuner configuration) that an earlier launch chose. If
  /// the list is empty, a timed launch chooses the alternatives, and an untimed launch uses the
  /// first alternatives.
  std::vector<std::int64_t> chosen = {};

  // The fields below apply only to timed launches.
  std::optional<TimedBlock> time = {};
  // If true, a timeline is measured, and the outputs are checked to be deterministic.
  bool inspect = false;
  // If true, the launcher sends `primed` before the samples and then waits for `sample`. The
  // supervisor can change the inputs before it sends `sample`.
  bool stage_next_inputs = false;
  // If false, no outputs are returned, and no inputs are compared, because nobody needs them.
  bool returns_outputs = true;
};

nlohmann::json to_header(const LaunchRequest& request);

/// Parses a request. Errors: `corrupt` if a field is missing, has the wrong type or is out of
/// range, or if a descriptor does not exist; the message names the field.
Result<LaunchRequest> parse_launch_request(const Frame& frame);

/// The supervisor's request that the launcher checks its context and the device, and the answer. A
/// launcher that finds a defect ends without an answer.
struct CheckRequest {};
struct Checked {};
nlohmann::json to_header(const CheckRequest& request);
nlohmann::json to_header(const Checked& checked);
/// Returns true if the frame is a CheckRequest.
bool is_check_request(const Frame& frame);
/// Parses a `checked` message. Errors: `corrupt` for any other message.
Status parse_checked(const Frame& frame);

/// The supervisor's message that the launcher keeps no access to device memory of others. The
/// launcher does not answer.
struct ReleaseRequest {};
nlohmann::json to_header(const ReleaseRequest& request);
bool is_release_request(const Frame& frame);

/// The supervisor's answer to `primed`: the inputs have been changed, and the samples may be taken.
struct SampleRequest {};
nlohmann::json to_header(const SampleRequest& request);
/// Parses a `sample` message. Errors: `corrupt` for any other message.
Status parse_sample_request(const Frame& frame);

}  // namespace assay::sandbox
