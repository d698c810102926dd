// Counts errors by TritonBench's taxonomy, which has four groups of error types (arXiv 2502.14752,
// appendix C). The paper's text says that there are sixteen types, but its table lists seventeen.
// tools/model/outcome_names.h gives the type of each of Assay's error kinds. Pure functions,
// thread-safe.
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
  std::string_view name;        // the group's name as the paper spells it
  std::string_view short_name;  // the name for plots; a column head in the paper
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
  /// The number of errors of each type. All types of the group are present, even with the number 0.
  std::vector<std::pair<std::string_view, std::int64_t>> types;
};

/// Counts `errors`, which are pairs of group and type. Returns all four groups in the order of the
/// paper. Errors: internal if a pair is not in the table.
Result<std::vector<GroupCount>> count_errors(
    std::span<const std::pair<std::string, std::string>> errors);

}  // namespace assay::metrics
