#include "sandbox/launcher/plan/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>
#include <vector>

namespace assay::sandbox {
namespace {

/// A part of a buffer.
struct Part {
  std::uint32_t buffer = 0;
  std::uint64_t start = 0, end = 0;  // in bytes
  auto key() const { return std::tie(buffer, start, end); }
  bool operator<(const Part& other) const { return key() < other.key(); }
};

/// A launch of a kernel of the submission, or a copy. Only a copy has `in_order`, `to` and `from`.
struct Event {
  std::set<std::uint32_t> launch;  // the buffers of the launch's parameters; empty for a copy
  bool in_order = true;
  Part to, from;
};

std::vector<PointerParam> pointers_of(const KernelOp& op) {
  std::vector<PointerParam> pointers;
  for (const KernelParam& param : op.params) {
    if (const auto* pointer = std::get_if<PointerParam>(&param)) pointers.push_back(*pointer);
    if (const auto* map = std::get_if<TensorMapParam>(&param))
      pointers.push_back({map->buffer, map->offset});
  }
  return pointers;
}

/// Collects the events of a plan in order, including the events of all alternatives (autotuner
/// configurations).
class Events {
 public:
  explicit Events(const Plan& plan) : plan_(plan) {
    for_each_operation(plan, [&](const auto& op) {
      add(op);
      return true;
    });
  }
  std::vector<Event> take() { return std::move(events_); }

 private:
  void add(const FillOp&) {}
  void add(const CopyOp& op) {
    copy(true, {op.dst, op.dst_offset, op.dst_offset + op.bytes},
         {op.src, op.src_offset, op.src_offset + op.bytes});
  }
  void add(const KernelOp& op) {
    const std::string& name = plan_.binaries[op.binary].kernel;
    const std::vector<PointerParam> pointers = pointers_of(op);
    if (is_recorder_kernel(name) && pointers.size() >= 2) {
      copy(name == kInOrderCopy, rest_from(pointers[0]), rest_from(pointers[1]));
      return;
    }
    Event event;
    for (const PointerParam& pointer : pointers) event.launch.insert(pointer.buffer);
    events_.push_back(std::move(event));
  }

  /// Returns the part of the buffer that a copy kernel may read or write through this pointer. The
  /// part extends to the buffer's end, because the plan does not contain the size of the copy.
  Part rest_from(const PointerParam& pointer) const {
    return {pointer.buffer, pointer.offset, plan_.buffers[pointer.buffer].bytes};
  }

  void copy(bool in_order, const Part& to, const Part& from) {
    if (plan_.buffers[from.buffer].kind == BufferKind::constant) return;
    events_.push_back({{}, in_order, to, from});
  }

  const Plan& plan_;
  std::vector<Event> events_;
};

bool meets(const std::set<std::uint32_t>& one, const std::set<std::uint32_t>& other) {
  return std::any_of(one.begin(), one.end(), [&](std::uint32_t it) { return other.contains(it); });
}

/// Returns the copies that may have moved elements on their way into one of the buffers `reached`.
std::vector<Event> copies_to(std::set<std::uint32_t> reached, const std::vector<Event>& events) {
  std::vector<Event> copies;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (!event->launch.empty()) {
      if (meets(event->launch, reached)) reached.insert(event->launch.begin(), event->launch.end());
    } else if (reached.contains(event->to.buffer)) {
      reached.insert(event->from.buffer);
      copies.push_back(*event);
    }
  }
  return copies;
}

/// Returns true if the output's elements are in memory in the order of their indices.
bool in_index_order(const PlanOutput& output) {
  std::int64_t reach = 0;
  for (std::size_t dim = output.shape.size(); dim-- > 0;) {
    if (output.shape[dim] == 0) return true;
    if (output.shape[dim] == 1) continue;
    if (output.strides[dim] <= reach) return false;
    reach += (output.shape[dim] - 1) * output.strides[dim];
  }
  return true;
}

/// Returns true if these copies into one buffer come from several buffers, or if the copies
/// together change the order of the elements. Each pair is a copy's target and source.
bool disorders(const std::set<std::pair<Part, Part>>& into) {
  for (auto before = into.begin(), after = before; ++after != into.end(); before = after) {
    if (after->second.buffer != before->second.buffer || after->first.start < before->first.end ||
        after->second.start < before->second.end)
      return true;
  }
  return false;
}

bool overlap(const std::set<Part>& parts) {
  for (auto before = parts.begin(), after = before; ++after != parts.end(); before = after) {
    if (after->start < before->end) return true;
  }
  return false;
}

}  // namespace

bool reorders(const Plan& plan) {
  std::set<std::uint32_t> outputs;
  for (const PlanOutput& output : plan.outputs) {
    if (!in_index_order(output)) return true;
    outputs.insert(output.buffer);
  }
  std::map<std::uint32_t, std::set<std::pair<Part, Part>>> into;
  std::map<std::uint32_t, std::set<Part>> out_of;
  for (const Event& copy : copies_to(std::move(outputs), Events(plan).take())) {
    if (!copy.in_order) return true;
    into[copy.to.buffer].emplace(copy.to, copy.from);
    out_of[copy.from.buffer].insert(copy.from);
  }
  return std::any_of(into.begin(), into.end(),
                     [](const auto& it) { return disorders(it.second); }) ||
         std::any_of(out_of.begin(), out_of.end(),
                     [](const auto& it) { return overlap(it.second); });
}

}  // namespace assay::sandbox
