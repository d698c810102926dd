// Reads the messages of the launcher.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/median.h"
#include "sandbox/pool/header_reader.h"
#include "sandbox/pool/messages.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

constexpr std::size_t kMaxTunables = 4'096;
constexpr std::size_t kMaxOperations = 4'096;

double read_median(HeaderReader& in, const char* name) {
  std::vector<double> samples;
  for (const json& sample : in.list(name, kMaxSamples)) {
    if (!sample.is_number())
      return in.reject(std::string("`") + name + "` has an entry that is no number"), 0;
    samples.push_back(sample.get<double>());
  }
  return median_interval(samples).median;
}

std::vector<OperationTime> read_timeline(HeaderReader& in) {
  std::vector<OperationTime> timeline;
  for (const json& entry : in.list("timeline", kMaxOperations)) {
    HeaderReader one(entry, "timeline");
    timeline.push_back({one.text("name"), one.flag("submitted"), one.number("ns")});
    in.merge(one);
  }
  return timeline;
}

}  // namespace

Result<LauncherDevice> parse_launcher_ready(const Frame& frame) {
  if (Status type = expect_type(frame, "ready"); !type) return fail(type.error());
  HeaderReader outer(frame.header, "ready");
  const json* object = outer.optional_object("device");
  if (object == nullptr) return fail(ErrorCode::corrupt, "ready: `device` is missing");
  HeaderReader in(*object, "device");
  LauncherDevice device;
  device.name = in.text("name");
  device.cc = in.text("cc");
  device.target = in.text("target");
  device.driver = in.text("driver");
  device.sms = in.integer("sms", 1, kHighest);
  device.l2_bytes = in.integer("l2_bytes", 0, kHighest);
  device.memory_bytes = in.integer("memory_bytes", 0, kHighest);
  device.clock_khz = in.integer("clock_khz", 0, kHighest);
  device.bandwidth_bytes_per_s = in.number("bandwidth_bytes_per_s");
  device.layers = read_layers(outer);
  outer.merge(in);
  if (Status read = outer.status(); !read) return fail(read.error());
  return device;
}

Result<Launched> parse_launched(const Frame& frame) {
  if (Status type = expect_type(frame, "launched"); !type) return fail(type.error());
  HeaderReader in(frame.header, "launched");
  Launched launched;
  launched.outputs = read_arguments(in, "outputs");
  launched.kernels = read_kernels(in, true);
  if (!in.flag("canary_ok")) in.reject("`canary_ok` is not true");
  launched.chosen = in.integers("chosen", kMaxTunables);
  launched.modified = in.texts("modified", kMaxArguments);
  launched.moves = in.integer("moves", 0, kHighest);
  launched.timing = read_timing(in);
  if (launched.timing) {
    launched.timing->warm_ns = read_median(in, "warm_ns");
    launched.timing->wall_ns = read_median(in, "wall_ns");
    launched.timing->overhead_ns = in.number("overhead_ns");
    launched.timing->clock_mhz = in.number("clock_mhz");
    launched.timing->discarded = in.integer("discarded", 0, kHighest);
    launched.timing->first_run_ns = in.optional_number("first_run_ns").value_or(0);
  }
  if (frame.header.contains("timeline")) {
    launched.timeline = read_timeline(in);
    launched.deterministic = in.optional_flag("deterministic");
  }
  if (Status read = in.status(); !read) return fail(read.error());
  return launched;
}

Result<LaunchFailure> parse_launch_failure(const Frame& frame) {
  if (Status type = expect_type(frame, "launch_error"); !type) return fail(type.error());
  HeaderReader in(frame.header, "launch_error");
  LaunchFailure error;
  const std::optional<ErrorKind> kind = error_kind_from(in.text("kind"));
  if (!kind || *kind == ErrorKind::none) in.reject("`kind` is unknown");
  error.kind = kind.value_or(ErrorKind::internal_error);
  error.message = in.text("message");
  if (Status read = in.status(); !read) return fail(read.error());
  return error;
}

}  // namespace assay::sandbox
