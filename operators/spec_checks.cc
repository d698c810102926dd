// Checks that the parts of a spec agree with each other. spec_toml.h declares check_spec().
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "operators/spec_toml.h"

namespace assay::operators {
namespace {

std::string quoted(const std::string& text) { return "'" + text + "'"; }

/// Returns a place in the file as messages show it after the file's name: ":41: [[outputs]] 'y'".
std::string at(std::uint32_t line, const std::string& place) {
  return (line == 0 ? "" : ":" + std::to_string(line)) + ": " + place;
}
std::string at(const Argument& argument) {
  return at(argument.line, "[[arguments]] " + quoted(argument.name));
}
std::string at(const Output& output) {
  return at(output.line, "[[outputs]] " + quoted(output.name));
}
std::string at(const Adversary& item) {
  return at(item.line, "[[adversarial]] " + quoted(item.distribution));
}
std::string at(const Case& item) { return at(item.line, "[[cases]] " + quoted(item.id)); }

Status broken(const std::string& where, const std::string& message) {
  return fail(ErrorCode::invalid_argument, where + ": " + message);
}

std::string names_of(const Axes& axes) { return join(axes, ", ", &Axes::value_type::first); }

template <class List, class Name>
Status check_unique(const List& list, Name name_of) {
  std::set<std::string> seen;
  for (const auto& item : list) {
    if (!seen.insert(name_of(item)).second) return broken(at(item), "the name is used twice");
  }
  return {};
}

/// Checks that every case has the same axes, and that every extent can be computed from the axes.
Status check_axes(const Operator& op) {
  for (const Case& item : op.cases) {
    for (const auto& [name, value] : op.cases.front().axes) {
      if (item.axes.contains(name)) continue;
      return broken(at(item), "key 'axes' lacks '" + name + "'; every case has the same axes: " +
                                  names_of(op.cases.front().axes));
    }
    if (item.axes.size() != op.cases.front().axes.size()) {
      return broken(at(item),
                    "key 'axes' has more names than case " + quoted(op.cases.front().id) +
                        "; every case has the same axes: " + names_of(op.cases.front().axes));
    }
    const auto check = [&](const std::string& where, const std::string& extent) -> Status {
      const Result<std::int64_t> value = evaluate_extent(extent, item.axes);
      if (!value) return broken(where, value.error().message);
      return {};
    };
    for (const Argument& argument : op.arguments) {
      for (const std::string& extent : argument.shape) {
        if (Status status = check(at(argument) + ": key 'shape'", extent); !status) return status;
      }
    }
    for (const Output& output : op.outputs) {
      for (const std::string& extent : output.shape) {
        if (Status status = check(at(output) + ": key 'shape'", extent); !status) return status;
      }
      double number = 0;
      const char* end = output.scale.data() + output.scale.size();
      const auto parsed = std::from_chars(output.scale.data(), end, number);
      if (parsed.ec == std::errc() && parsed.ptr == end && number > 0) continue;
      if (Status status = check(at(output) + ": key 'scale'", output.scale); !status) return status;
    }
  }
  return {};
}

/// Checks that only outputs with a tolerance of imported operators are relative. The scale of such
/// an output is its own size, so the spec has none.
Status check_relative(const Operator& op) {
  for (const Output& output : op.outputs) {
    if (!output.relative) continue;
    const std::string where = at(output) + ": key 'relative'";
    if (!op.imported) return broken(where, "is only for operators with imported = true");
    if (output.max_abs_error == 0 || output.scale != "1")
      return broken(where, "needs a max_abs_error above 0, and no scale");
  }
  return {};
}

/// Checks the outputs that name an inout argument in the key 'from'. The output's dtype and shape
/// must be those of the argument. Every inout argument needs such an output, because otherwise the
/// judge would not compare the argument.
Status check_inout(const Operator& op) {
  std::vector<std::string> inout_names;
  for (const Argument& argument : op.arguments) {
    if (argument.role == Role::inout) inout_names.push_back(argument.name);
  }
  std::set<std::string> used;
  for (const Output& output : op.outputs) {
    if (output.from.empty()) continue;
    const std::string where = at(output);
    const auto found =
        std::find_if(op.arguments.begin(), op.arguments.end(), [&](const Argument& argument) {
          return argument.name == output.from && argument.role == Role::inout;
        });
    if (found == op.arguments.end()) {
      return broken(where, "key 'from' is " + quoted(output.from) + "; valid inout arguments: " +
                               (inout_names.empty() ? "none" : join(inout_names)));
    }
    if (found->dtype != output.dtype || found->shape != output.shape)
      return broken(where, "dtype and shape must be those of argument " + quoted(output.from));
    if (!used.insert(output.from).second)
      return broken(where,
                    "key 'from' names " + quoted(output.from) + ", which another output names too");
  }
  for (const Argument& argument : op.arguments) {
    if (argument.role == Role::inout && !used.contains(argument.name)) {
      return broken(at(argument),
                    "role is 'inout' but no [[outputs]] has from = \"" + argument.name + "\"");
    }
  }
  return {};
}

/// Checks three things for each adversarial distribution: a hidden case uses it, its `breaks` is
/// not empty, and its `axis`, if it has one, is an axis of the cases.
Status check_adversaries(const Operator& op) {
  for (const Adversary& item : op.adversaries) {
    const bool used = std::any_of(op.cases.begin(), op.cases.end(), [&](const Case& one) {
      return one.hidden && one.distribution == item.distribution;
    });
    if (!used) return broken(at(item), "no hidden case has this distribution");
    if (item.breaks.empty()) return broken(at(item), "key 'breaks' is empty");
    if (!item.axis.empty() && !op.cases.front().axes.contains(item.axis))
      return broken(at(item), "key 'axis' is " + quoted(item.axis) +
                                  "; valid: " + names_of(op.cases.front().axes));
  }
  return {};
}

/// Checks that a loss of precision which no case can show names an input that can be rounded.
Status check_indistinguishable(const Operator& op) {
  std::vector<std::string> inputs;
  for (const Argument& argument : op.arguments) {
    if (argument.dtype == "case" || argument.dtype == "float16" || argument.dtype == "float32")
      inputs.push_back(argument.name);
  }
  for (const Indistinguishable& item : op.indistinguishable) {
    const std::string where = at(item.line, "[[indistinguishable]] " + quoted(item.loss));
    if (item.argument.empty()) continue;
    if (item.loss != "rounded_input")
      return broken(where, "key 'argument' is only for the loss 'rounded_input'");
    if (std::find(inputs.begin(), inputs.end(), item.argument) == inputs.end())
      return broken(where, "key 'argument' is " + quoted(item.argument) +
                               "; valid: " + (inputs.empty() ? "none" : join(inputs)));
  }
  return {};
}

Status check_cases(const Operator& op) {
  const bool interpretable = op.dialect == "triton";
  int counts[2] = {0, 0};
  int interpreted[2] = {0, 0};
  for (const Case& item : op.cases) {
    ++counts[item.hidden];
    if (!item.interpreter) continue;
    ++interpreted[item.hidden];
    const std::string where = at(item);
    if (!interpretable)
      return broken(where, "key 'interpreter' must be false: dialect '" + op.dialect +
                               "' does not run in the interpreter");
    if (item.dtype == "bfloat16" || item.dtype.starts_with("float8")) {
      return broken(where, "key 'dtype' is '" + item.dtype +
                               "', in which the interpreter computes wrongly; " +
                               "valid with interpreter = true: float32, float16, integers");
    }
  }
  if (op.imported) {
    if (counts[false] == 0)
      return broken(at(0, "[[cases]]"), "no public case; at least one is needed");
    return {};
  }
  for (const bool hidden : {false, true}) {
    const std::string visibility = hidden ? "hidden" : "public";
    if (counts[hidden] < kMinCasesOfEachVisibility) {
      return broken(at(0, "[[cases]]"),
                    std::to_string(counts[hidden]) + " " + visibility + " cases; at least " +
                        std::to_string(kMinCasesOfEachVisibility) + " are needed");
    }
    if (interpretable && interpreted[hidden] == 0)
      return broken(at(0, "[[cases]]"),
                    "no " + visibility + " case has interpreter = true; at least one is needed");
  }
  return {};
}

}  // namespace

Status check_spec(const Operator& op) {
  ASSAY_RETURN_IF_ERROR(check_unique(op.arguments, [](const Argument& item) { return item.name; }));
  ASSAY_RETURN_IF_ERROR(check_unique(op.outputs, [](const Output& item) { return item.name; }));
  ASSAY_RETURN_IF_ERROR(check_unique(op.cases, [](const Case& item) { return item.id; }));
  if (const std::string expected = signature_of(op); op.signature != expected) {
    return broken(at(0, "key 'signature'"), "is " + quoted(op.signature) +
                                                "; with these arguments and outputs it must be '" +
                                                expected + "'");
  }
  if (Status status = check_axes(op); !status) return status;
  if (Status status = check_inout(op); !status) return status;
  if (Status status = check_relative(op); !status) return status;
  if (Status status = check_adversaries(op); !status) return status;
  if (Status status = check_indistinguishable(op); !status) return status;
  return check_cases(op);
}

}  // namespace assay::operators
