// The launcher's messages as typed structs (docs/reference/frames.md, "Launcher"). The only file of
// the launcher that knows JSON.
//
//   Result<LaunchMessage> message = parse_launch(std::move(*frame));
//   send_frame(socket, launched_message("small", result), {}, {}, deadline);
//
// Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/jail/layer.h"
#include "sandbox/launcher/driver/launch_error.h"
#include "sandbox/launcher/replay/replay.h"
#include "sandbox/launcher/timing/timing.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

struct LaunchInput {
  std::string name;
  std::size_t fd = 0;  // index into LaunchMessage::fds
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool inout = false;  // the plan may write to it
};

struct LaunchMessage {
  std::string case_id;
  std::vector<LaunchInput> inputs;
  std::size_t output_fd = 0;        // index into fds
  std::uint64_t output_offset = 0;  // 0 in a memory file
  std::uint64_t output_bytes = 0;
  // 0: the descriptors are memory files; else the only one is a handle of this much device memory
  std::uint64_t device_bytes = 0;
  bool ablated = false, inspect = false;
  bool time = false;
  // when timed: answered with `primed` before the samples, which wait for `sample`
  bool stage_next_inputs = false;
  TimingRules timing;
  std::vector<std::size_t> chosen;  // by tunable; empty: to be chosen
  std::uint64_t gpu_memory_bytes = 0;
  std::string plan;  // the payload, untrusted
  std::vector<UniqueFd> fds;
};

/// Errors: `corrupt`, which names the field, if a field is missing, has the wrong type or is out of
/// range, or if a descriptor does not exist.
Result<LaunchMessage> parse_launch(Frame frame);

nlohmann::json ready_message(const DeviceFacts& facts, const std::vector<LayerReport>& layers);
/// Says that everything but the samples is done, so that the inputs may be changed now.
nlohmann::json primed_message(const std::string& case_id);
/// Errors: corrupt for anything but `sample`.
Status check_sample(const Frame& frame);
/// Contains the median of the samples and its 95 % interval, or null if nothing was timed.
nlohmann::json launched_message(const std::string& case_id, const ReplayResult& result);
nlohmann::json launch_error_message(const std::string& case_id, const LaunchError& error);
/// Returns the output of `--probe`: the devices, or why there is none.
nlohmann::json probe_message(const Result<std::vector<DeviceFacts>>& devices);

}  // namespace assay::sandbox
