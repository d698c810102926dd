#include "server/plan_text/show.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/escape.h"
#include "base/text.h"
#include "server/plan_text/entries.h"

namespace assay::server {
namespace {

using sandbox::Plan;

constexpr std::size_t kLongEntry = 5;  // facts; a longer entry has a line for each fact

std::string indent(int depth) { return std::string(static_cast<std::size_t>(2 * depth), ' '); }

/// A short entry is on one line; a kernel's arguments have a line each.
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
  return "version " + std::to_string(plan.version) + ", target " + escape_text(plan.target) + ", " +
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
