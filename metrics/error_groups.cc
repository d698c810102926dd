#include "metrics/error_groups.h"

#include <algorithm>

namespace assay::metrics {

Result<std::vector<GroupCount>> count_errors(
    std::span<const std::pair<std::string, std::string>> errors) {
  std::vector<GroupCount> counts;
  for (const ErrorGroup& group : kErrorGroups) {
    GroupCount count{group.name, group.short_name, 0, {}};
    for (const std::string_view type : group.types) count.types.emplace_back(type, 0);
    counts.push_back(std::move(count));
  }
  for (const auto& error : errors) {
    const auto& group = error.first;
    const auto& type = error.second;  // Clang 14 cannot capture a structured binding
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [&](const GroupCount& count) { return count.group == group; });
    if (found == counts.end())
      return fail(ErrorCode::internal,
                  "'" + group + "' is not a group of TritonBench's error taxonomy");
    const auto named = std::find_if(found->types.begin(), found->types.end(),
                                    [&](const auto& entry) { return entry.first == type; });
    if (named == found->types.end())
      return fail(ErrorCode::internal,
                  "TritonBench's group '" + group + "' has no error type '" + type + "'");
    ++named->second;
    ++found->total;
  }
  return counts;
}

}  // namespace assay::metrics
