#include "sandbox/wire/launch_request.h"

#include <limits>
#include <utility>

namespace assay::sandbox {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxMilliseconds = std::numeric_limits<std::int32_t>::max();

/// Reads the fields of one object, and keeps the first error.
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

std::vector<std::int64_t> read_chosen(Fields& fields) {
  std::vector<std::int64_t> chosen;
  const json* list = fields.list("chosen");
  if (list == nullptr) return chosen;
  for (const json& index : *list) {
    if (!index.is_number_unsigned())
      return fields.reject("chosen", "has an entry that is no number from 0 up"), chosen;
    chosen.push_back(index.get<std::int64_t>());
  }
  return chosen;
}

TimedBlock read_block(Fields& fields, const json& header) {
  TimedBlock block;
  block.min_samples = fields.positive("min_samples", kMaxSamplesAllowed);
  block.max_samples = fields.positive("max_samples", kMaxSamplesAllowed);
  block.max_time_ms = fields.positive("max_time_ms", kMaxMilliseconds);
  if (header.contains("warm_up_ms"))
    block.warm_up_ms = static_cast<std::int64_t>(
        fields.number("warm_up_ms", static_cast<std::uint64_t>(kMaxMilliseconds)));
  if (header.contains("side_samples"))
    block.side_samples = fields.positive("side_samples", kMaxSamplesAllowed);
  return block;
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
          {"ablated", request.ablated},
          {"inspect", request.inspect},
          {"stage_next_inputs", request.stage_next_inputs},
          {"time", request.time.has_value()},
          {"min_samples", block.min_samples},
          {"max_samples", block.max_samples},
          {"max_time_ms", block.max_time_ms},
          {"warm_up_ms", block.warm_up_ms},
          {"side_samples", block.side_samples},
          {"chosen", request.chosen},
          {"gpu_memory_bytes", request.gpu_memory_bytes}};
}

Result<LaunchRequest> parse_launch_request(const Frame& frame) {
  if (frame.type() != "launch")
    return fail(ErrorCode::corrupt, "message `" + frame.type() + "` is unknown; valid: launch");
  LaunchRequest request;
  const std::size_t last_fd = frame.fds.empty() ? 0 : frame.fds.size() - 1;
  Fields fields(frame.header, "launch");
  if (frame.fds.empty()) fields.reject("", "came without descriptors");
  request.case_id = fields.text("case");
  request.output_fd = fields.number("output_fd", last_fd);
  request.output_offset = fields.number("output_offset");
  request.output_bytes = fields.number("output_bytes");
  request.device_bytes = fields.number("device_bytes");
  request.gpu_memory_bytes = fields.number("gpu_memory_bytes");
  request.ablated = fields.flag("ablated");
  if (fields.flag("time")) {
    request.inspect = fields.flag("inspect");
    request.time = read_block(fields, frame.header);
    if (frame.header.contains("chosen")) request.chosen = read_chosen(fields);
    if (frame.header.contains("stage_next_inputs"))
      request.stage_next_inputs = fields.flag("stage_next_inputs");
  }
  if (const json* inputs = fields.list("inputs"); inputs != nullptr) {
    for (const json& input : *inputs) {
      Fields one(input, "launch: an input");
      request.inputs.push_back({one.text("name"), one.number("fd", last_fd), one.number("offset"),
                                one.number("nbytes"), one.flag("inout")});
      if (!one.why().empty()) return fail(ErrorCode::corrupt, one.why());
    }
  }
  if (!fields.why().empty()) return fail(ErrorCode::corrupt, fields.why());
  return request;
}

}  // namespace assay::sandbox
