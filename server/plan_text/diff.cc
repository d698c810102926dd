#include "server/plan_text/diff.h"

#include <algorithm>
#include <cstddef>
#include <dtl/dtl.hpp>
#include <map>
#include <vector>

#include "base/text.h"
#include "server/plan_text/show.h"

namespace assay::server {
namespace {

using sandbox::BufferKind;
using sandbox::Plan;

std::ptrdiff_t count_of(const Plan& plan, BufferKind kind) {
  return std::count_if(plan.buffers.begin(), plan.buffers.end(),
                       [kind](const auto& buffer) { return buffer.kind == kind; });
}

/// Returns a key for each buffer of `plan`; buffers with equal keys are aligned. The key of an
/// input contains its name, and the key of any other buffer contains its kind. If `plan` and
/// `other` have different numbers of buffers of a kind, the keys of this kind also contain the
/// buffer's size.
std::vector<std::string> buffer_keys(const Plan& plan, const Plan& other) {
  std::vector<std::string> keys;
  for (const sandbox::PlanBuffer& buffer : plan.buffers) {
    std::string key = std::to_string(static_cast<int>(buffer.kind)) + " " + buffer.name;
    if (buffer.kind != BufferKind::input &&
        count_of(plan, buffer.kind) != count_of(other, buffer.kind))
      key += " " + std::to_string(buffer.bytes);
    keys.push_back(std::move(key));
  }
  return keys;
}

/// Returns names for the buffers of the second plan. A buffer has the name of the first plan's
/// buffer with which it is aligned. If there is no such buffer, its name begins with "new".
BufferNames names_after(const Plan& before, const Plan& after, const BufferNames& names) {
  BufferNames renamed = buffer_names(after);
  for (const Aligned& pair : align(buffer_keys(before, after), buffer_keys(after, before))) {
    if (!pair.right) continue;
    renamed[*pair.right] = pair.left ? names[*pair.left] : "new " + renamed[*pair.right];
  }
  return renamed;
}

std::vector<std::string> titles(const std::vector<Entry>& entries) {
  std::vector<std::string> found;
  for (const Entry& entry : entries) found.push_back(std::to_string(entry.depth) + entry.title);
  return found;
}

std::string facts_text(const Entry& entry) {
  std::string text;
  for (const auto& [label, value] : entry.facts)
    text += (text.empty() ? ": " : ", ") + label + " " + value;
  return text;
}

/// Returns the differences between the facts of two aligned entries, such as "grid 4x1x1 -> 8x1x1;
/// argument 3 1000 -> 2000".
std::string changes(const Entry& before, const Entry& after) {
  std::map<std::string, std::string> was(before.facts.begin(), before.facts.end());
  std::string text;
  const auto add = [&text](const std::string& change) {
    text += (text.empty() ? "" : "; ") + change;
  };
  for (const auto& [label, value] : after.facts) {
    const auto found = was.find(label);
    if (found == was.end()) {
      add(label + " none -> " + value);
    } else {
      if (found->second != value) add(label + " " + found->second + " -> " + value);
      was.erase(found);
    }
  }
  for (const auto& [label, value] : was) add(label + " " + value + " -> none");
  return text;
}

/// Returns the text at the start of each entry's line. If `numbered` is true, the entries are
/// operations and get the numbers that `plan show` prints. Operations inside a choice have no
/// number, only an indentation.
std::vector<std::string> numbers(const std::vector<Entry>& entries, bool numbered) {
  std::vector<std::string> found;
  int next = 0;
  for (const Entry& entry : entries)
    found.push_back(numbered && entry.depth == 0
                        ? std::to_string(next++) + "  "
                        : std::string(static_cast<std::size_t>(2 * entry.depth), ' '));
  return found;
}

void put_section(PlanDiff& diff, const char* name, const std::vector<Entry>& before,
                 const std::vector<Entry>& after, bool numbered = false) {
  const std::vector<std::string> left = numbers(before, numbered);
  const std::vector<std::string> right = numbers(after, numbered);
  std::string text;
  for (const Aligned& pair : align(titles(before), titles(after))) {
    if (!pair.right) {
      text += "  - " + left[*pair.left] + before[*pair.left].title +
              facts_text(before[*pair.left]) + "\n";
    } else if (!pair.left) {
      text += "  + " + right[*pair.right] + after[*pair.right].title +
              facts_text(after[*pair.right]) + "\n";
    } else if (const std::string changed = changes(before[*pair.left], after[*pair.right]);
               !changed.empty()) {
      text += "  ~ " + left[*pair.left] + before[*pair.left].title + ": " + changed + "\n";
    }
  }
  if (text.empty()) return;
  diff.same = false;
  diff.text += std::string(name) + "\n" + text;
}

}  // namespace

PlanDiff diff_plans(const Plan& before, const Plan& after) {
  PlanDiff diff;
  const BufferNames names = buffer_names(before);
  const BufferNames renamed = names_after(before, after, names);
  const auto header = [](const Plan& plan) {
    return std::vector<Entry>{
        {0,
         "plan",
         {{"version", std::to_string(plan.version)}, {"target", escape_line(plan.target)}}}};
  };
  put_section(diff, "header", header(before), header(after));
  put_section(diff, "buffers", buffer_entries(before, names), buffer_entries(after, renamed));
  put_section(diff, "binaries", binary_entries(before), binary_entries(after));
  put_section(diff, "operations", operation_entries(before, names),
              operation_entries(after, renamed), true);
  put_section(diff, "outputs", output_entries(before, names), output_entries(after, renamed));
  return diff;
}

std::vector<Aligned> align(const std::vector<std::string>& left,
                           const std::vector<std::string>& right) {
  dtl::Diff<std::string, std::vector<std::string>> diff(left, right);
  diff.onHuge();
  diff.compose();
  std::vector<Aligned> pairs;
  std::size_t i = 0;
  std::size_t j = 0;
  for (const auto& [element, info] : diff.getSes().getSequence()) {
    if (info.type == dtl::SES_DELETE) {
      pairs.push_back({i++, std::nullopt});
    } else if (info.type == dtl::SES_ADD) {
      pairs.push_back({std::nullopt, j++});
    } else {
      pairs.push_back({i++, j++});
    }
  }
  return pairs;
}

}  // namespace assay::server
