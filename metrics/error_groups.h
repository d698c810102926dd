// Counts errors by TritonBench's taxonomy: four groups of types (arXiv 2502.14752, appendix C; the
// text says sixteen types, the table lists seventeen). tools/model/outcome_names.h assigns an
// error kind to a type. Pure functions, thread-safe.
//
//   const std::vector<std::pair<std::string, std::string>> errors = {
//       {"Syntax", "SyntaxError"}, {"Name & Reference", "NameError"}};
//   Result<std::vector<GroupCount>> counts = count_errors(errors);  // counts->front().total == 1
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::metrics {

struct ErrorGroup {
  std::string_view name;        // as the paper spells it
  std::string_view short_name;  // for a plot; a column head of the paper
  std::span<const std::string_view> types;
};

inline constexpr std::array<std::string_view, 2> kSyntaxTypes = {"SyntaxError", "IndentationError"};
inline constexpr std::array<std::string_view, 3> kAttributeTypes = {"AttributeError", "TypeError",
                                                                    "NotImplementedError"};
inline constexpr std::array<std::string_view, 5> kNameTypes = {
    "NameError", "KeyError", "IndexError", "ModuleNotFoundError", "ImportError"};
inline constexpr std::array<std::string_view, 7> kRuntimeTypes = {
    "ValueError",     "ZeroDivisionError", "RuntimeError", "RecursionError",
    "AssertionError", "CompilationError",  "ResultsError"};
inline constexpr std::array<ErrorGroup, 4> kErrorGroups = {
    {{"Syntax", "Syntax", kSyntaxTypes},
     {"Attribute & Type", "Attr&Type", kAttributeTypes},
     {"Name & Reference", "Name&Ref", kNameTypes},
     {"Runtime & Logic", "Run&Logic", kRuntimeTypes}}};

struct GroupCount {
  std::string_view group, short_name;
  std::int64_t total = 0;
  /// All types of the group, including those that did not occur.
  std::vector<std::pair<std::string_view, std::int64_t>> types;
};

/// Counts `errors`, which are pairs of group and type. Returns all four groups in the order of the
/// paper. Error: `internal` if a pair is not in the table.
Result<std::vector<GroupCount>> count_errors(
    std::span<const std::pair<std::string, std::string>> errors);

}  // namespace assay::metrics
