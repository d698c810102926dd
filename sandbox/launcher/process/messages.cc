#include "sandbox/launcher/process/messages.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "base/median.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

/// Reads fields of one object and keeps the first thing that was wrong.
class Fields {
 public:
  Fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) reject("", "is no object");
  }

  std::uint64_t number(const char* name,
                       std::uint64_t limit = std::numeric_limits<std::int64_t>::max()) {
    const json* value = find(name);
    if (value == nullptr) return 0;
    if (!value->is_number_integer() ||
        (!value->is_number_unsigned() && value->get<std::int64_t>() < 0))
      return reject(name, "is no number from 0 up"), 0;
    const auto number = value->get<std::uint64_t>();
    if (number > limit) return reject(name, "is over " + std::to_string(limit)), 0;
    return number;
  }
  std::int64_t positive(const char* name, std::int64_t limit) {
    const auto value = static_cast<std::int64_t>(number(name, static_cast<std::uint64_t>(limit)));
    if (value == 0) reject(name, "starts at 1");
    return value;
  }
  std::string text(const char* name) {
    const json* value = find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) return reject(name, "is no string"), std::string();
    return value->get<std::string>();
  }
  bool flag(const char* name) {
    const json* value = find(name);
    if (value == nullptr) return false;
    if (!value->is_boolean()) return reject(name, "is neither true nor false"), false;
    return value->get<bool>();
  }
  const json* list(const char* name) {
    const json* value = find(name);
    if (value != nullptr && !value->is_array()) return reject(name, "is no list"), nullptr;
    return value;
  }
  void reject(const std::string& name, const std::string& reason) {
    if (why_.empty()) why_ = where_ + (name.empty() ? "" : ": `" + name + "`") + " " + reason;
  }
  const std::string& why() const { return why_; }

 private:
  const json* find(const char* name) {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    if (found == object_.end()) return reject(name, "is missing"), nullptr;
    return &*found;
  }

  const json& object_;
  std::string where_;
  std::string why_;
};

tl::unexpected<Error> corrupt(const std::string& reason) {
  return fail(ErrorCode::corrupt, reason);
}

std::vector<std::size_t> read_chosen(Fields& fields) {
  std::vector<std::size_t> chosen;
  const json* list = fields.list("chosen");
  if (list == nullptr) return chosen;
  for (const json& index : *list) {
    if (!index.is_number_unsigned())
      return fields.reject("chosen", "has an entry that is no number from 0 up"), chosen;
    chosen.push_back(index.get<std::size_t>());
  }
  return chosen;
}

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

Result<LaunchMessage> parse_launch(Frame frame) {
  if (frame.type() != "launch")
    return corrupt("message `" + frame.type() + "` is unknown; valid: launch");
  LaunchMessage message;
  message.fds = std::move(frame.fds);
  message.plan = std::move(frame.payload);
  const auto last_fd = message.fds.empty() ? 0 : message.fds.size() - 1;

  Fields fields(frame.header, "launch");
  if (message.fds.empty()) fields.reject("", "came without descriptors");
  message.case_id = fields.text("case");
  message.output_fd = fields.number("output_fd", last_fd);
  message.output_offset = fields.number("output_offset");
  message.output_bytes = fields.number("output_bytes");
  message.device_bytes = fields.number("device_bytes");
  message.gpu_memory_bytes = fields.number("gpu_memory_bytes");
  message.ablated = fields.flag("ablated");
  message.time = fields.flag("time");
  if (message.time) {
    message.inspect = fields.flag("inspect");
    message.timing.min_samples = fields.positive("min_samples", kMaxSamplesAllowed);
    message.timing.max_samples = fields.positive("max_samples", kMaxSamplesAllowed);
    message.timing.max_time_ms =
        fields.positive("max_time_ms", std::numeric_limits<std::int32_t>::max());
    if (frame.header.contains("warm_up_ms"))
      message.timing.warm_up_ms = static_cast<std::int64_t>(
          fields.number("warm_up_ms", std::numeric_limits<std::int32_t>::max()));
    if (frame.header.contains("side_samples"))
      message.timing.side_samples = fields.positive("side_samples", kMaxSamplesAllowed);
    if (frame.header.contains("chosen")) message.chosen = read_chosen(fields);
    if (frame.header.contains("stage_next_inputs"))
      message.stage_next_inputs = fields.flag("stage_next_inputs");
  }
  if (const json* inputs = fields.list("inputs"); inputs != nullptr) {
    for (const json& input : *inputs) {
      Fields one(input, "launch: an input");
      message.inputs.push_back({one.text("name"), one.number("fd", last_fd), one.number("offset"),
                                one.number("nbytes"), one.flag("inout")});
      if (!one.why().empty()) return corrupt(one.why());
    }
  }
  if (!fields.why().empty()) return corrupt(fields.why());
  return message;
}

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
    return corrupt("message `" + frame.type() + "` is not due; valid: sample");
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
