#include "sandbox/launcher/process/messages.h"

#include <cstdint>
#include <utility>

#include "base/median.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

json facts_json(const DeviceFacts& facts) {
  return {{"name", facts.name},
          {"cc", std::to_string(facts.cc_major) + "." + std::to_string(facts.cc_minor)},
          {"target", facts.target},
          {"sms", facts.sms},
          {"l2_bytes", facts.l2_bytes},
          {"memory_bytes", facts.memory_bytes},
          {"driver", facts.driver},
          {"clock_khz", facts.clock_khz},
          {"bandwidth_bytes_per_s", facts.bandwidth_bytes_per_s}};
}

}  // namespace

nlohmann::json ready_message(const DeviceFacts& facts, const std::vector<LayerReport>& layers) {
  json list = json::array();
  for (const LayerReport& layer : layers)
    list.push_back({{"name", layer.name}, {"active", layer.active}, {"detail", layer.detail}});
  return {{"type", "ready"}, {"device", facts_json(facts)}, {"layers", list}};
}

nlohmann::json primed_message(const std::string& case_id) {
  return {{"type", "primed"}, {"case", case_id}};
}

Status check_sample(const Frame& frame) {
  if (frame.type() != "sample")
    return fail(ErrorCode::corrupt, "message `" + frame.type() + "` is not due; valid: sample");
  return {};
}

nlohmann::json launched_message(const std::string& case_id, const ReplayResult& result) {
  json outputs = json::array();
  for (const ReplayOutput& output : result.outputs) {
    outputs.push_back({{"name", "output_" + std::to_string(outputs.size())},
                       {"kind", "tensor"},
                       {"dtype", output.dtype},
                       {"shape", output.shape},
                       {"strides", output.strides},
                       {"offset", output.offset},
                       {"nbytes", output.bytes}});
  }
  json kernels = json::array();
  for (const KernelUse& kernel : result.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"registers", kernel.registers},
                       {"local_bytes", kernel.local_bytes},
                       {"shared_bytes", kernel.shared_bytes},
                       {"launches", kernel.launches}});
  }
  json message = {{"type", "launched"},          {"case", case_id},
                  {"outputs", outputs},          {"kernels", kernels},
                  {"canary_ok", true},           {"samples_ns", result.samples.cold_ns},
                  {"choices", result.choices},   {"chosen", result.chosen},
                  {"modified", result.modified}, {"moves", result.moves},
                  {"median_ns", nullptr},        {"low_ns", nullptr},
                  {"high_ns", nullptr}};
  if (!result.samples.cold_ns.empty()) {
    message["warm_ns"] = result.samples.warm_ns;
    message["wall_ns"] = result.samples.wall_ns;
    message["overhead_ns"] = result.samples.overhead_ns;
    message["clock_mhz"] = result.samples.clock_mhz;
    message["discarded"] = result.samples.discarded;
    if (result.samples.first_run_ns) message["first_run_ns"] = *result.samples.first_run_ns;
    const MedianInterval interval = median_interval(result.samples.cold_ns);
    message["median_ns"] = interval.median;
    message["low_ns"] = interval.low;
    message["high_ns"] = interval.high;
  }
  if (result.inspection) {
    json timeline = json::array();
    for (const OperationNs& one : result.inspection->timeline)
      timeline.push_back(
          {{"name", one.operation.name}, {"submitted", one.operation.submitted}, {"ns", one.ns}});
    message["timeline"] = std::move(timeline);
    message["deterministic"] =
        result.inspection->deterministic ? json(*result.inspection->deterministic) : json(nullptr);
  }
  return message;
}

nlohmann::json launch_error_message(const std::string& case_id, const LaunchError& error) {
  return {{"type", "launch_error"},
          {"case", case_id},
          {"kind", to_string(error.kind)},
          {"message", error.message}};
}

nlohmann::json probe_message(const Result<std::vector<DeviceFacts>>& devices) {
  json message = {{"devices", json::array()}, {"reason", devices ? "" : devices.error().message}};
  if (!devices) return message;
  for (const DeviceFacts& facts : *devices) {
    json device = facts_json(facts);
    device["index"] = message["devices"].size();
    message["devices"].push_back(std::move(device));
  }
  return message;
}

}  // namespace assay::sandbox
