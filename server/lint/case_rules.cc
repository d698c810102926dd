#include "server/lint/case_rules.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/text.h"

namespace assay::server {
namespace {

constexpr double kMsPerS = 1e3;

using operators::Case;
using operators::Operator;

std::string place(const Operator& op, std::uint32_t line) {
  const std::string file = (op.directory / "spec.toml").string();
  return op.name + ": " + file + (line == 0 ? "" : ":" + std::to_string(line)) + ": ";
}

bool same_inputs(const Case& a, const Case& b) {
  return a.dtype == b.dtype && a.axes == b.axes && a.distribution == b.distribution;
}

}  // namespace

std::vector<std::string> case_failures(const Operator& op) {
  std::vector<std::string> lines;
  if (op.imported) return lines;
  if (op.baseline != Baseline::oracle) {
    lines.push_back(place(op, 0) + "key 'baseline' is '" + std::string(to_string(op.baseline)) +
                    "', which is only for an operator of an imported suite: add an oracle.py and "
                    "remove the key");
  }
  std::vector<std::string> interpreted;
  for (const Case& item : op.cases) {
    if (!item.hidden && item.interpreter) interpreted.push_back(item.id);
  }
  if (op.dialect == "triton" && interpreted.size() < kMinPublicInterpreterCases) {
    lines.push_back(place(op, 0) + "[[cases]]: public cases with interpreter = true: " +
                    std::to_string(interpreted.size()) +
                    (interpreted.empty() ? "" : " (" + join(interpreted) + ")") + "; at least " +
                    std::to_string(kMinPublicInterpreterCases) +
                    " are needed: add small cases with other risks, such as one row, a full block, "
                    "special values or another dtype");
  }
  for (std::size_t i = 0; i < op.cases.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Case &one = op.cases[i], &other = op.cases[j];
      if (!same_inputs(one, other)) continue;
      lines.push_back(place(op, one.line) + "[[cases]] '" + one.id +
                      "': dtype, axes and distribution are those of case '" + other.id +
                      "': change one of them, because an equal case tests nothing new");
    }
  }
  return lines;
}

std::int64_t least_interpreter_ms(std::int64_t first,
                                  const std::function<std::optional<std::int64_t>()>& again) {
  std::int64_t least = first;
  for (int measured = 1; measured < kInterpreterMeasurements; ++measured) {
    if (least <= kInterpreterCasesMs) break;
    least = std::min(least, again().value_or(least));
  }
  return least;
}

std::string interpreter_time_failure(const std::string& name, std::int64_t ms) {
  if (ms <= kInterpreterCasesMs) return "";
  char text[200];
  std::snprintf(
      text, sizeof text,
      ": for the oracle, the interpreter takes %.1f s of processor time on all cases with "
      "interpreter = true; at most %.1f s are allowed: make these cases smaller",
      static_cast<double>(ms) / kMsPerS, static_cast<double>(kInterpreterCasesMs) / kMsPerS);
  return name + text;
}

}  // namespace assay::server
