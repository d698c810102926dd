#include "server/plan_text/plan_case.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "base/text.h"
#include "sandbox/launcher/plan/plan.h"
#include "sandbox/launcher/plan/plan_check.h"

namespace assay::server {
namespace {

/// Bytes of each tensor argument, if it were contiguous.
std::map<std::string, std::uint64_t> tensor_bytes(const operators::Operator& op,
                                                  const operators::Case& one) {
  std::map<std::string, std::uint64_t> bytes;
  for (const operators::Argument& argument : op.arguments) {
    if (argument.type != operators::ArgumentType::tensor) continue;
    std::uint64_t size =
        sandbox::dtype_bytes(argument.dtype == "case" ? one.dtype : argument.dtype).value_or(0);
    for (const std::string& extent : argument.shape)
      size *= static_cast<std::uint64_t>(operators::evaluate_extent(extent, one.axes).value_or(0));
    bytes[argument.name] = size;
  }
  return bytes;
}

}  // namespace

NamedPlan named_plan(const operators::Operator& op, const std::string& word) {
  const std::size_t sign = word.find('=');
  if (sign == std::string::npos) return {"", word};
  const std::string name = word.substr(0, sign);
  const bool known = std::any_of(op.cases.begin(), op.cases.end(),
                                 [&](const operators::Case& one) { return one.id == name; });
  return known ? NamedPlan{name, word.substr(sign + 1)}
               : NamedPlan{"", word};  // a file name can contain '=' too
}

Result<std::string> case_of_plan(const operators::Operator& op, const sandbox::Plan& plan) {
  std::map<std::string, std::uint64_t> inputs;
  for (const sandbox::PlanBuffer& buffer : plan.buffers) {
    if (buffer.kind == sandbox::BufferKind::input) inputs[buffer.name] = buffer.bytes;
  }
  std::vector<std::string> fitting;
  std::vector<std::string> all;
  for (const operators::Case& one : op.cases) {
    all.push_back(one.id);
    if (tensor_bytes(op, one) == inputs) fitting.push_back(one.id);
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty())
    return fail(ErrorCode::invalid_argument,
                "the plan's arguments have the sizes of no case of '" + op.name +
                    "'; --case, or --plan CASE=PLAN, says which it is for: " + join(all));
  return fail(ErrorCode::invalid_argument,
              "the plan's arguments have the sizes of several cases of '" + op.name +
                  "'; --case, or --plan CASE=PLAN, says which it is for: " + join(fitting));
}

}  // namespace assay::server
