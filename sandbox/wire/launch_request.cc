#include "sandbox/wire/launch_request.h"

#include <limits>

#include "sandbox/wire/argument.h"
#include "sandbox/wire/header_reader.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxMilliseconds = std::numeric_limits<std::int32_t>::max();

TimedBlock read_block(HeaderReader& in) {
  TimedBlock block;
  block.min_samples = in.integer("min_samples", 1, kMaxSamplesAllowed);
  block.max_samples = in.integer("max_samples", 1, kMaxSamplesAllowed);
  block.max_time_ms = in.integer("max_time_ms", 1, kMaxMilliseconds);
  if (in.has("warm_up_ms")) block.warm_up_ms = in.integer("warm_up_ms", 0, kMaxMilliseconds);
  if (in.has("side_samples"))
    block.side_samples = in.integer("side_samples", 1, kMaxSamplesAllowed);
  block.all_fresh = in.optional_flag("all_fresh").value_or(false);
  return block;
}

/// Reads the index of a descriptor that was sent with the frame.
std::size_t read_fd(HeaderReader& in, const char* name, const Frame& frame) {
  return static_cast<std::size_t>(
      in.integer(name, 0, static_cast<std::int64_t>(frame.fds.size()) - 1));
}

}  // namespace

json to_header(const LaunchRequest& request) {
  json inputs = json::array();
  for (const LaunchInput& input : request.inputs) {
    inputs.push_back({{"name", input.name},
                      {"fd", input.fd},
                      {"offset", input.offset},
                      {"nbytes", input.bytes},
                      {"inout", input.inout}});
  }
  const TimedBlock block = request.time.value_or(TimedBlock{});
  return {{"type", "launch"},
          {"case", request.case_id},
          {"inputs", inputs},
          {"output_fd", request.output_fd},
          {"output_offset", request.output_offset},
          {"output_bytes", request.output_bytes},
          {"device_bytes", request.device_bytes},
          {"memory_id", request.memory_id},
          {"ablated", request.ablated},
          {"inspect", request.inspect},
          {"stage_next_inputs", request.stage_next_inputs},
          {"returns_outputs", request.returns_outputs},
          {"time", request.time.has_value()},
          {"min_samples", block.min_samples},
          {"max_samples", block.max_samples},
          {"max_time_ms", block.max_time_ms},
          {"warm_up_ms", block.warm_up_ms},
          {"side_samples", block.side_samples},
          {"all_fresh", block.all_fresh},
          {"chosen", request.chosen},
          {"gpu_memory_bytes", request.gpu_memory_bytes}};
}

Result<LaunchRequest> parse_launch_request(const Frame& frame) {
  if (Status type = expect_type(frame, "launch"); !type) return fail(type.error());
  LaunchRequest request;
  HeaderReader in(frame.header, "launch");
  if (frame.fds.empty()) in.reject("no descriptors came with it");
  request.case_id = in.text("case");
  request.output_fd = read_fd(in, "output_fd", frame);
  request.output_offset = in.bytes("output_offset");
  request.output_bytes = in.bytes("output_bytes");
  request.device_bytes = in.bytes("device_bytes");
  if (in.has("memory_id")) request.memory_id = in.bytes("memory_id");
  request.gpu_memory_bytes = in.bytes("gpu_memory_bytes");
  request.ablated = in.flag("ablated");
  if (in.has("chosen")) request.chosen = in.integers("chosen", kMaxTunables, 0);
  if (in.flag("time")) {
    request.inspect = in.flag("inspect");
    request.time = read_block(in);
    request.stage_next_inputs = in.optional_flag("stage_next_inputs").value_or(false);
    request.returns_outputs = in.optional_flag("returns_outputs").value_or(true);
  }
  for (const json& input : in.list("inputs", kMaxArguments)) {
    HeaderReader one(input, "launch: an input");
    request.inputs.push_back({one.text("name"), read_fd(one, "fd", frame), one.bytes("offset"),
                              one.bytes("nbytes"), one.flag("inout")});
    in.merge(one);
  }
  if (Status read = in.status(); !read) return fail(read.error());
  return request;
}

json to_header(const ReleaseRequest&) { return {{"type", "release"}}; }
bool is_release_request(const Frame& frame) { return frame.type() == "release"; }
json to_header(const CheckRequest&) { return {{"type", "check"}}; }
json to_header(const Checked&) { return {{"type", "checked"}}; }
bool is_check_request(const Frame& frame) { return frame.type() == "check"; }
Status parse_checked(const Frame& frame) { return expect_type(frame, "checked"); }

json to_header(const SampleRequest&) { return {{"type", "sample"}}; }

Status parse_sample_request(const Frame& frame) { return expect_type(frame, "sample"); }

}  // namespace assay::sandbox
