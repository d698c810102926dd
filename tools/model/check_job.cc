#include "tools/model/check_job.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/handle.h"
#include "base/text.h"
#include "operators/catalog.h"
#include "tools/model/check_input.h"
#include "tools/model/operator_job.h"

namespace assay::tools {
namespace {

using operators::Axes;
using sandbox::CaseRequest;
using sandbox::CheckArgument;

constexpr std::string_view kLeastPrecise = "bfloat16";

std::int64_t bytes_of_dtype(const std::string& dtype) {
  if (dtype.ends_with("64")) return 8;
  if (dtype.ends_with("32")) return 4;
  return dtype.ends_with("16") ? 2 : 1;
}

/// Returns every combination of the axes' values. The last axis changes first.
std::vector<Axes> combinations(const std::map<std::string, std::vector<std::int64_t>>& axes) {
  std::vector<Axes> all = {Axes{}};
  for (const auto& [name, values] : axes) {
    std::vector<Axes> longer;
    for (const Axes& before : all) {
      for (const std::int64_t value : values) {
        longer.push_back(before);
        longer.back()[name] = value;
        if (longer.size() > kMostCheckCases) return longer;
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::string name_of_case(const Axes& axes) {
  if (axes.empty()) return "case";
  return join(axes, ",",
              [](const auto& axis) { return axis.first + "=" + std::to_string(axis.second); });
}

/// Returns the texts of an argument that may name axes.
std::vector<std::string> expressions_of(const CheckArgument& argument) {
  std::vector<std::string> texts = argument.shape;
  for (const std::string& text : {argument.low, argument.high}) {
    if (!text.empty() && text.find_first_of(".eE+-") == std::string::npos) texts.push_back(text);
  }
  if (argument.type == "int") texts.push_back(argument.value);
  return texts;
}

Status check_axes(const CheckRequest& request, const std::vector<CheckArgument>& arguments) {
  std::set<std::string> used;
  for (const CheckArgument& argument : arguments) {
    for (const std::string& text : expressions_of(argument)) {
      for (std::size_t from = 0; from <= text.size();) {
        const std::size_t star = std::min(text.find('*', from), text.size());
        if (const std::string factor = text.substr(from, star - from); is_python_name(factor))
          used.insert(factor);
        from = star + 1;
      }
    }
  }
  for (const std::string& name : used) {
    if (!request.axes.contains(name))
      return fail(ErrorCode::invalid_argument,
                  "axis '" + name + "' has no value; give it one, such as " + name + "=1000");
  }
  for (const auto& [name, values] : request.axes) {
    if (!used.contains(name))
      return fail(ErrorCode::invalid_argument,
                  "no input uses the axis '" + name + "'; " +
                      (used.empty() ? "the inputs have no axes" : "valid: " + join(used)));
    if (values.empty() ||
        std::any_of(values.begin(), values.end(), [](std::int64_t value) { return value < 1; }))
      return fail(ErrorCode::invalid_argument,
                  "axis '" + name + "' needs values of at least 1, such as " + name + "=1000");
  }
  return {};
}

Result<std::vector<CheckArgument>> arguments_of_check(const CheckRequest& request) {
  if (request.inputs.empty() || request.inputs.size() > kMostCheckInputs)
    return fail(ErrorCode::invalid_argument, "a check has 1 to " +
                                                 std::to_string(kMostCheckInputs) +
                                                 " inputs; an input is " + kCheckInputForms);
  std::vector<CheckArgument> arguments;
  std::set<std::string> names;
  for (const std::string& text : request.inputs) {
    ASSAY_TRY(argument, parse_check_input(text));
    if (!names.insert(argument.name).second)
      return fail(ErrorCode::invalid_argument, "two inputs have the name '" + argument.name + "'");
    arguments.push_back(std::move(argument));
  }
  if (std::none_of(arguments.begin(), arguments.end(),
                   [](const CheckArgument& one) { return one.type == "tensor"; }))
    return fail(ErrorCode::invalid_argument,
                "no input is a tensor; an input is " + std::string(kCheckInputForms));
  return arguments;
}

struct Size {
  std::int64_t elements = 0, bytes = 0;
};

Result<Size> size_of(const std::vector<CheckArgument>& arguments, const Axes& axes) {
  Size all;
  for (const CheckArgument& argument : arguments) {
    if (argument.type != "tensor") continue;
    std::string product = "1";
    for (const std::string& extent : argument.shape) product += "*" + extent;
    ASSAY_TRY(elements, operators::evaluate_extent(product, axes));
    if (elements < 0 || elements > kMostCheckBytes)
      return fail(ErrorCode::invalid_argument,
                  "input '" + argument.name + "' has " + std::to_string(elements) +
                      " elements; the limit is " + std::to_string(kMostCheckBytes) +
                      " bytes (kMostCheckBytes)");
    all.elements += elements;
    all.bytes += elements * bytes_of_dtype(argument.dtype);
  }
  if (all.bytes > kMostCheckBytes)
    return fail(ErrorCode::invalid_argument,
                "the inputs of case '" + name_of_case(axes) + "' have " +
                    std::to_string(all.bytes) + " bytes; the limit is " +
                    std::to_string(kMostCheckBytes) + " (kMostCheckBytes)");
  return all;
}

/// Returns the dtype that stands for a case: bfloat16 if an input has it, because the interpreter
/// cannot run it; otherwise the dtype of the first tensor.
std::string dtype_of_case(const std::vector<CheckArgument>& arguments) {
  std::string first;
  for (const CheckArgument& argument : arguments) {
    if (argument.dtype == kLeastPrecise) return argument.dtype;
    if (first.empty()) first = argument.dtype;
  }
  return first;
}

Status check_names(const CheckRequest& request) {
  for (const auto& [what, name] : {std::pair<const char*, const std::string&>{
                                       "the reference's function", request.reference_entry},
                                   {"the kernel's function", request.entry}}) {
    if (!is_python_name(name))
      return fail(ErrorCode::invalid_argument,
                  std::string(what) + " '" + cut_end(name, 60) + "' is not a name of a function");
  }
  if (request.tolerance && !(*request.tolerance >= 0 && *request.tolerance <= 1))
    return fail(ErrorCode::invalid_argument, "tolerance must be from 0 to 1, such as 1e-3");
  return {};
}

}  // namespace

Result<sandbox::Job> check_job(const CheckRequest& request, const sandbox::Limits& limits,
                               sandbox::JobKind kind) {
  ASSAY_RETURN_IF_ERROR(check_names(request));
  ASSAY_TRY(arguments, arguments_of_check(request));
  ASSAY_RETURN_IF_ERROR(check_axes(request, arguments));
  sandbox::Job job;
  job.id = new_handle("job");
  job.kind = kind;
  job.operator_name = std::string(kCheckPrefix) + request.reference_entry;
  job.entry = request.entry;
  job.source = request.code;
  ASSAY_RETURN_IF_ERROR(choose_language(job, request.language));
  job.limits = limits;
  job.limits.judge_wall_ms = limits.reference_wall_ms + sandbox::kReferenceStartMs;
  const std::vector<Axes> cases = combinations(request.axes);
  if (cases.size() > kMostCheckCases)
    return fail(ErrorCode::invalid_argument,
                "the axes make more than " + std::to_string(kMostCheckCases) +
                    " cases (kMostCheckCases); each combination of values is a case");
  const std::string dtype = dtype_of_case(arguments);
  std::int64_t most = -1;
  for (const Axes& axes : cases) {
    ASSAY_TRY(size, size_of(arguments, axes));
    const bool interpreted = size.elements <= kInterpretedElements && dtype != kLeastPrecise;
    CaseRequest one = {.id = name_of_case(axes),
                       .hidden = false,
                       .interpreter = interpreted,
                       .axes = axes,
                       .dtype = dtype,
                       .distribution = "check"};
    if (kind == sandbox::JobKind::profile && size.elements <= most) continue;
    if (kind == sandbox::JobKind::profile) job.cases.clear();
    most = std::max(most, size.elements);
    job.cases.push_back(std::move(one));
  }
  job.reference = sandbox::CheckReference{.source = request.reference,
                                          .entry = request.reference_entry,
                                          .arguments = std::move(arguments),
                                          .tolerance = request.tolerance};
  return job;
}

bool is_check(const sandbox::Verdict& verdict) {
  return verdict.operator_name.starts_with(kCheckPrefix);
}

void add_profile_of_check(sandbox::Verdict& tested, sandbox::Verdict profiled) {
  if (!profiled.profile) return;
  tested.profile = std::move(profiled.profile);
  if (!profiled.kernels.empty()) tested.kernels = std::move(profiled.kernels);
  for (sandbox::Hint& hint : profiled.hints) {
    if (std::find(tested.hints.begin(), tested.hints.end(), hint) == tested.hints.end())
      tested.hints.push_back(std::move(hint));
  }
  for (sandbox::CaseRecord& timed : profiled.cases) {
    if (!timed.latency) continue;
    const auto same =
        std::find_if(tested.cases.begin(), tested.cases.end(),
                     [&timed](const sandbox::CaseRecord& record) { return record.id == timed.id; });
    if (same != tested.cases.end()) *same = std::move(timed);
  }
  for (const auto& [stage, ms] : profiled.stage_ms) tested.stage_ms[stage] += ms;
  if (profiled.launch) {
    if (!tested.launch) tested.launch.emplace();
    tested.launch->add(*profiled.launch);
  }
  if (profiled.gpu_alone_ms)
    tested.gpu_alone_ms = tested.gpu_alone_ms.value_or(0) + *profiled.gpu_alone_ms;
}

}  // namespace assay::tools
