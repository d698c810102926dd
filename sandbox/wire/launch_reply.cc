#include "sandbox/wire/launch_reply.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/median.h"
#include "sandbox/wire/header_reader.h"
#include "sandbox/wire/launch_request.h"
#include "sandbox/wire/layer_reports.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxOperations = 4'096;
constexpr std::size_t kMaxDevices = 256;

template <class Message>
Result<Message> finish(const HeaderReader& in, Message message) {
  if (Status read = in.status(); !read) return fail(read.error());
  return message;
}

json facts_json(const DeviceFacts& facts) {
  return {{"name", facts.name},
          {"cc", facts.cc},
          {"target", facts.target},
          {"sms", facts.sms},
          {"l2_bytes", facts.l2_bytes},
          {"memory_bytes", facts.memory_bytes},
          {"driver", facts.driver},
          {"clock_khz", facts.clock_khz},
          {"bandwidth_bytes_per_s", facts.bandwidth_bytes_per_s}};
}

DeviceFacts read_facts(HeaderReader& in) {
  DeviceFacts facts;
  facts.name = in.text("name");
  facts.cc = in.text("cc");
  facts.target = in.text("target");
  facts.driver = in.text("driver");
  facts.sms = in.integer("sms", 1, kHighestInteger);
  facts.l2_bytes = in.integer("l2_bytes", 0, kHighestInteger);
  facts.memory_bytes = in.integer("memory_bytes", 0, kHighestInteger);
  facts.clock_khz = in.integer("clock_khz", 0, kHighestInteger);
  facts.bandwidth_bytes_per_s = in.integer("bandwidth_bytes_per_s", 0, kHighestInteger);
  return facts;
}

json kernels_json(const std::vector<KernelUse>& kernels) {
  json list = json::array();
  for (const KernelUse& kernel : kernels) {
    list.push_back({{"name", kernel.name},
                    {"registers", kernel.registers},
                    {"local_bytes", kernel.local_bytes},
                    {"shared_bytes", kernel.shared_bytes},
                    {"launches", kernel.launches}});
  }
  return list;
}

std::vector<KernelUse> read_uses(HeaderReader& in) {
  std::vector<KernelUse> kernels;
  for (const json& entry : in.list("kernels", kMaxKernels)) {
    HeaderReader from(entry, "a kernel");
    KernelUse kernel;
    kernel.name = from.text("name");
    kernel.registers = from.integer("registers", 0, kHighestInteger);
    kernel.local_bytes = from.integer("local_bytes", 0, kHighestInteger);
    kernel.shared_bytes = from.integer("shared_bytes", 0, kHighestInteger);
    kernel.launches = from.integer("launches", 0, kHighestInteger);
    in.merge(from);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

LaunchParts read_parts(HeaderReader& in) {
  LaunchParts parts;
  const json* object = in.optional_object("parts_ms");
  if (object == nullptr) return parts;
  HeaderReader from(*object, "parts_ms");
  for (const auto& [name, value] : object->items()) {
    const std::optional<LaunchPart> part = launch_part_from(name);
    if (part)
      parts[*part] = from.number(name.c_str());
    else
      from.reject("`" + name + "` is no part of a launch");
  }
  in.merge(from);
  return parts;
}

void write_samples(json& header, const LaunchSamples& samples) {
  const MedianInterval interval = median_interval(samples.cold_ns);
  header["samples_ns"] = samples.cold_ns;
  header["median_ns"] = interval.median;
  header["low_ns"] = interval.low;
  header["high_ns"] = interval.high;
  header["warm_ns"] = samples.warm_ns;
  header["wall_ns"] = samples.wall_ns;
  header["fresh_ns"] = samples.fresh_ns;
  header["overhead_ns"] = samples.overhead_ns;
  header["clock_mhz"] = samples.clock_mhz;
  header["discarded"] = samples.discarded;
  if (samples.first_run_ns) header["first_run_ns"] = *samples.first_run_ns;
}

/// Reads the samples. Returns nothing if the launch was not timed.
std::optional<LaunchSamples> read_samples(HeaderReader& in) {
  LaunchSamples samples;
  samples.cold_ns = in.numbers("samples_ns", kMaxSamples);
  if (samples.cold_ns.empty()) {
    for (const char* name : {"median_ns", "low_ns", "high_ns"}) {
      if (in.has(name)) in.reject("`" + std::string(name) + "` has a value without samples");
    }
    return std::nullopt;
  }
  const MedianInterval interval = median_interval(samples.cold_ns);
  if (in.number("median_ns") != interval.median || in.number("low_ns") != interval.low ||
      in.number("high_ns") != interval.high)
    in.reject("`median_ns`, `low_ns` and `high_ns` are not those of `samples_ns`");
  samples.warm_ns = in.numbers("warm_ns", kMaxSamples);
  samples.wall_ns = in.numbers("wall_ns", kMaxSamples);
  samples.fresh_ns = in.numbers("fresh_ns", kMaxSamples);
  samples.overhead_ns = in.number("overhead_ns");
  samples.clock_mhz = in.number("clock_mhz");
  samples.discarded = in.integer("discarded", 0, kHighestInteger);
  samples.first_run_ns = in.optional_number("first_run_ns");
  return samples;
}

void write_inspection(json& header, const Inspection& inspection) {
  json timeline = json::array();
  for (const OperationTime& one : inspection.timeline)
    timeline.push_back({{"name", one.name}, {"submitted", one.submitted}, {"ns", one.ns}});
  header["timeline"] = std::move(timeline);
  header["deterministic"] =
      inspection.deterministic ? json(*inspection.deterministic) : json(nullptr);
}

/// Reads the inspection. Returns nothing if the plan was not inspected.
std::optional<Inspection> read_inspection(HeaderReader& in) {
  if (!in.has("timeline")) return std::nullopt;
  Inspection inspection;
  for (const json& entry : in.list("timeline", kMaxOperations)) {
    HeaderReader one(entry, "timeline");
    inspection.timeline.push_back({one.text("name"), one.flag("submitted"), one.number("ns")});
    in.merge(one);
  }
  inspection.deterministic = in.optional_flag("deterministic");
  return inspection;
}

}  // namespace

json to_header(const LauncherReady& ready) {
  return {
      {"type", "ready"}, {"device", facts_json(ready.device)}, {"layers", to_json(ready.layers)}};
}

Result<LauncherReady> parse_launcher_ready(const Frame& frame) {
  if (Status type = expect_type(frame, "ready"); !type) return fail(type.error());
  HeaderReader in(frame.header, "ready");
  LauncherReady ready;
  if (const json* device = in.object("device"); device != nullptr) {
    HeaderReader from(*device, "device");
    ready.device = read_facts(from);
    in.merge(from);
  }
  ready.layers = read_layers(in);
  return finish(in, std::move(ready));
}

json to_header(const Primed& primed) { return {{"type", "primed"}, {"case", primed.case_id}}; }

Result<Primed> parse_primed(const Frame& frame) {
  if (Status type = expect_type(frame, "primed"); !type) return fail(type.error());
  HeaderReader in(frame.header, "primed");
  return finish(in, Primed{in.text("case")});
}

json to_header(const Launched& launched) {
  json parts = json::object();
  for (std::size_t i = 0; i < kLaunchPartNames.size(); ++i) {
    if (launched.parts.ms[i] > 0) parts[std::string(kLaunchPartNames[i])] = launched.parts.ms[i];
  }
  json header = {{"type", "launched"},
                 {"case", launched.case_id},
                 {"outputs", to_json(launched.outputs)},
                 {"kernels", kernels_json(launched.kernels)},
                 {"canary_ok", true},
                 {"choices", launched.choices},
                 {"chosen", launched.chosen},
                 {"modified", launched.modified},
                 {"moves", launched.moves},
                 {"reordered", launched.reordered},
                 {"parts_ms", std::move(parts)},
                 {"holds_memory", launched.holds_memory},
                 {"samples_ns", json::array()},
                 {"median_ns", nullptr},
                 {"low_ns", nullptr},
                 {"high_ns", nullptr}};
  if (launched.samples) write_samples(header, *launched.samples);
  if (launched.inspection) write_inspection(header, *launched.inspection);
  return header;
}

Result<Launched> parse_launched(const Frame& frame) {
  if (Status type = expect_type(frame, "launched"); !type) return fail(type.error());
  HeaderReader in(frame.header, "launched");
  Launched launched;
  launched.case_id = in.text("case");
  launched.outputs = read_arguments(in, "outputs");
  launched.kernels = read_uses(in);
  if (!in.flag("canary_ok")) in.reject("`canary_ok` is not true");
  launched.choices = in.texts("choices", kMaxTunables);
  launched.chosen = in.integers("chosen", kMaxTunables, 0);
  launched.modified = in.texts("modified", kMaxArguments);
  launched.moves = in.integer("moves", 0, kHighestInteger);
  launched.reordered = in.flag("reordered");
  launched.parts = read_parts(in);
  launched.holds_memory = in.optional_flag("holds_memory").value_or(false);
  launched.samples = read_samples(in);
  launched.inspection = read_inspection(in);
  return finish(in, std::move(launched));
}

json to_header(const LaunchFailure& failure) {
  return {{"type", "launch_error"},
          {"case", failure.case_id},
          {"kind", to_string(failure.error.kind)},
          {"message", failure.error.message}};
}

Result<LaunchFailure> parse_launch_failure(const Frame& frame) {
  if (Status type = expect_type(frame, "launch_error"); !type) return fail(type.error());
  HeaderReader in(frame.header, "launch_error");
  LaunchFailure failure;
  failure.case_id = in.text("case");
  const std::optional<LaunchErrorKind> kind = launch_error_kind_from(in.text("kind"));
  if (!kind) in.reject("`kind` is not a kind of a launch error");
  failure.error = {kind.value_or(LaunchErrorKind::internal_error), in.text("message")};
  return finish(in, std::move(failure));
}

std::string to_line(const LauncherProbe& probe) {
  json devices = json::array();
  for (const DeviceFacts& facts : probe.devices) {
    json device = facts_json(facts);
    device["index"] = devices.size();
    devices.push_back(std::move(device));
  }
  return json({{"devices", std::move(devices)}, {"reason", probe.reason}})
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<LauncherProbe> parse_launcher_probe(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  HeaderReader in(object, "probe");
  LauncherProbe probe;
  for (const json& entry : in.list("devices", kMaxDevices)) {
    HeaderReader device(entry, "device");
    const auto index = static_cast<std::int64_t>(probe.devices.size());
    device.integer("index", index, index);
    probe.devices.push_back(read_facts(device));
    in.merge(device);
  }
  probe.reason = in.text("reason");
  return finish(in, std::move(probe));
}

}  // namespace assay::sandbox
