#include "server/plan_text/show.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/handle.h"
#include "base/text.h"

namespace assay::server {
namespace {

using namespace sandbox;

constexpr std::size_t kShownHash = 16;  // the number of digits of a hash that are shown
constexpr std::size_t kShownName = 120;
// An argument of a kernel has no type in a plan. An integer above these limits may be the bits of a
// floating-point number. The text then shows the integer and the floating-point number.
constexpr std::int64_t kLikelyFloat = 1 << 23;
constexpr std::int64_t kLikelyDouble = 1LL << 52;
constexpr double kLeastFloat = 1e-30, kMostFloat = 1e30;

std::string one_line(const std::string& name) {
  const std::string text = cut_end(escape_line(name), kShownName);
  return text.empty() ? "(no name)" : text;
}

std::string dims(const Dim3& value) {
  return std::to_string(value[0]) + "x" + std::to_string(value[1]) + "x" + std::to_string(value[2]);
}

template <class Values>
std::string list(const Values& values) {
  return "[" + join(values, ", ", [](const auto value) { return std::to_string(value); }) + "]";
}

std::string place(const BufferNames& names, std::uint32_t buffer, std::uint64_t offset) {
  const std::string name =
      buffer < names.size() ? names[buffer] : "no buffer " + std::to_string(buffer);
  return offset == 0 ? name : name + " + " + std::to_string(offset);
}

std::string real(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

std::string or_real(std::int64_t integer, std::int64_t likely, double value, const char* type) {
  const bool plausible = (integer >= likely || integer <= -likely) && std::isfinite(value) &&
                         std::fabs(value) >= kLeastFloat && std::fabs(value) <= kMostFloat;
  return std::to_string(integer) +
         (plausible ? std::string(", as ") + type + " " + real(value) : "");
}

std::string hex(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::string flags(std::uint32_t value) {
  std::string text = (value & kFlagCooperative) != 0 ? "cooperative" : "";
  const auto add = [&text](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
  if ((value & kFlagDependentLaunch) != 0) add("programmatic dependent");
  if (const std::uint32_t unknown = value & ~kAllKernelFlags; unknown != 0)
    add("unknown flags " + hex(unknown));
  return text;
}

struct ParamText {
  const BufferNames& names;
  std::string operator()(const ScalarParam& scalar) const {
    const std::string size =
        " (" + std::to_string(scalar.size) + (scalar.size == 1 ? " byte)" : " bytes)");
    if (scalar.size == 4) {
      const auto bits = static_cast<std::uint32_t>(scalar.value);
      return or_real(static_cast<std::int32_t>(bits), kLikelyFloat,
                     static_cast<double>(std::bit_cast<float>(bits)), "float32") +
             size;
    }
    if (scalar.size == 8)
      return or_real(static_cast<std::int64_t>(scalar.value), kLikelyDouble,
                     std::bit_cast<double>(scalar.value), "float64") +
             size;
    return std::to_string(scalar.value) + size;
  }
  std::string operator()(const PointerParam& pointer) const {
    return place(names, pointer.buffer, pointer.offset);
  }
  std::string operator()(const NullParam&) const { return "null"; }
  std::string operator()(const GlobalScratchParam& scratch) const {
    return "global scratch, " + grouped(scratch.bytes_per_program) +
           " bytes a program, aligned to " + std::to_string(scratch.alignment);
  }
  std::string operator()(const TensorMapParam& map) const {
    return "tensor map of " + place(names, map.buffer, map.offset) + ", shape " + list(map.shape) +
           ", strides " + list(map.strides) + " bytes, box " + list(map.box) + ", type " +
           std::to_string(map.type) + ", swizzle " + std::to_string(map.swizzle) +
           (map.nan_outside != 0 ? ", NaN outside" : "");
  }
};

struct OperationEntry {
  const Plan& plan;
  const BufferNames& names;
  int depth;
  Entry operator()(const KernelOp& op) const {
    const std::string kernel = op.binary < plan.binaries.size()
                                   ? one_line(plan.binaries[op.binary].kernel)
                                   : "of no binary " + std::to_string(op.binary);
    Entry entry{depth, "kernel " + kernel, {{"grid", dims(op.grid)}, {"block", dims(op.block)}}};
    if (op.cluster != Dim3{1, 1, 1}) entry.facts.emplace_back("cluster", dims(op.cluster));
    if (op.flags != 0) entry.facts.emplace_back("launch", flags(op.flags));
    for (std::size_t i = 0; i < op.params.size(); ++i)
      entry.facts.emplace_back("argument " + std::to_string(i),
                               std::visit(ParamText{names}, op.params[i]));
    entry.arguments = op.params.size();
    return entry;
  }
  Entry operator()(const FillOp& op) const {
    return {depth,
            "fill " + (op.buffer < names.size() ? names[op.buffer] : place(names, op.buffer, 0)),
            {{"from byte", std::to_string(op.offset)},
             {"elements", grouped(op.count) + " of " + std::to_string(op.width) + " bytes"},
             {"pattern", hex(op.pattern)}}};
  }
  Entry operator()(const CopyOp& op) const {
    return {depth,
            "copy " + place(names, op.src, 0) + " to " + place(names, op.dst, 0),
            {{"from byte", std::to_string(op.src_offset)},
             {"to byte", std::to_string(op.dst_offset)},
             {"bytes", grouped(op.bytes)}}};
  }
};

const char* kind_name(BufferKind kind) {
  switch (kind) {
    case BufferKind::input: return "input";
    case BufferKind::scratch: return "scratch";
    case BufferKind::constant: return "constant";
  }
  return "unknown";
}

std::string short_hash(const std::string& bytes) { return sha256_hex(bytes).substr(0, kShownHash); }

}  // namespace

BufferNames buffer_names(const Plan& plan) {
  BufferNames names;
  std::size_t scratches = 0;
  std::size_t constants = 0;
  for (const PlanBuffer& buffer : plan.buffers) {
    switch (buffer.kind) {
      case BufferKind::input: names.push_back(one_line(buffer.name)); break;
      case BufferKind::scratch: names.push_back("scratch" + std::to_string(scratches++)); break;
      case BufferKind::constant: names.push_back("constant" + std::to_string(constants++)); break;
    }
  }
  return names;
}

std::vector<Entry> buffer_entries(const Plan& plan, const BufferNames& names) {
  std::vector<bool> is_output(plan.buffers.size());
  for (const PlanOutput& output : plan.outputs) {
    if (output.buffer < is_output.size()) is_output[output.buffer] = true;
  }
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer& buffer = plan.buffers[i];
    const std::string role =
        std::string(kind_name(buffer.kind)) + (is_output[i] ? ", holds an output" : "");
    Entry entry{0, names[i], {{"role", role}, {"bytes", grouped(buffer.bytes)}}};
    if (buffer.kind == BufferKind::constant)
      entry.facts.emplace_back("sha256", short_hash(buffer.constant));
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<Entry> binary_entries(const Plan& plan) {
  std::vector<Entry> entries;
  for (const PlanBinary& binary : plan.binaries) {
    entries.push_back({0,
                       one_line(binary.kernel),
                       {{"bytes", grouped(binary.image.size())},
                        {"sha256", short_hash(binary.image)},
                        {"shared memory", grouped(binary.shared_bytes) + " bytes a block"}}});
  }
  return entries;
}

std::vector<Entry> operation_entries(const Plan& plan, const BufferNames& names) {
  std::vector<Entry> entries;
  for (const PlanOp& op : plan.ops) {
    const auto* choice = std::get_if<ChoiceOp>(&op);
    if (choice == nullptr) {
      entries.push_back(std::visit(
          [&](const auto& one) -> Entry {
            if constexpr (std::is_same_v<std::decay_t<decltype(one)>, ChoiceOp>)
              return {};
            else
              return OperationEntry{plan, names, 0}(one);
          },
          op));
      continue;
    }
    entries.push_back({0,
                       "choice",
                       {{"tunable", std::to_string(choice->tunable)},
                        {"alternatives", std::to_string(choice->alternatives.size())}}});
    for (const Alternative& alternative : choice->alternatives) {
      entries.push_back({1, "alternative " + one_line(alternative.label), {}});
      for (const SimpleOp& one : alternative.ops)
        entries.push_back(std::visit(OperationEntry{plan, names, 2}, one));
    }
  }
  return entries;
}

std::vector<Entry> output_entries(const Plan& plan, const BufferNames& names) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const PlanOutput& output = plan.outputs[i];
    entries.push_back({0,
                       "output " + std::to_string(i),
                       {{"in", place(names, output.buffer, output.offset)},
                        {"dtype", one_line(output.dtype)},
                        {"shape", list(output.shape)},
                        {"strides", list(output.strides)}}});
  }
  return entries;
}

namespace {

using sandbox::Plan;

// The maximum number of facts that are printed on one line together with the entry's title. If an
// entry has more facts, each argument of its kernel has its own line.
constexpr std::size_t kLongEntry = 5;

std::string indent(int depth) { return std::string(static_cast<std::size_t>(2 * depth), ' '); }

/// Adds an entry to the text. The entry is one line. If it has many facts, the arguments of its
/// kernel are on further lines, one line for each argument.
void put_entry(std::string& text, const std::string& number, const Entry& entry) {
  const std::string margin = "  " + indent(entry.depth);
  text += margin + number + entry.title;
  const bool is_long = entry.facts.size() > kLongEntry;
  const std::size_t first_argument = entry.facts.size() - entry.arguments;
  for (std::size_t i = 0; i < entry.facts.size(); ++i) {
    const auto& [label, value] = entry.facts[i];
    const bool own_line = is_long && i >= first_argument;
    text += own_line ? "\n" + margin + "      " : "  ";
    text += label + " " + value;
  }
  text += "\n";
}

void put_section(std::string& text, const std::string& title, const std::vector<Entry>& entries,
                 bool numbered) {
  text += title + "\n";
  std::size_t number = 0;
  for (const Entry& entry : entries)
    put_entry(text, numbered && entry.depth == 0 ? std::to_string(number++) + "  " : "", entry);
  if (entries.empty()) text += "  none\n";
}

std::string total_bytes(const Plan& plan) {
  std::uint64_t total = 0;
  for (const sandbox::PlanBuffer& buffer : plan.buffers) {
    if (__builtin_add_overflow(total, buffer.bytes, &total)) return "over 2^64";
  }
  return grouped(total);
}

}  // namespace

std::string plan_header(const Plan& plan, std::size_t plan_bytes) {
  return "version " + std::to_string(plan.version) + ", target " + escape_line(plan.target) + ", " +
         grouped(plan_bytes) + " bytes";
}

std::string show_plan(const Plan& plan, std::size_t plan_bytes) {
  const BufferNames names = buffer_names(plan);
  std::string text = "launch plan: " + plan_header(plan, plan_bytes) + "\n";
  put_section(
      text, "buffers: " + std::to_string(plan.buffers.size()) + ", " + total_bytes(plan) + " bytes",
      buffer_entries(plan, names), false);
  put_section(text, "binaries: " + std::to_string(plan.binaries.size()), binary_entries(plan),
              false);
  put_section(text, "operations: " + std::to_string(plan.ops.size()),
              operation_entries(plan, names), true);
  put_section(text, "outputs: " + std::to_string(plan.outputs.size()), output_entries(plan, names),
              false);
  return text;
}

}  // namespace assay::server
