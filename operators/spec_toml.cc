#include "operators/spec_toml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <utility>

#include "base/text.h"
#include "operators/spec_section.h"

namespace assay::operators {
namespace {

constexpr std::int64_t kMaxDifficulty = 5;
// The largest tolerance that a spec may set. It is the tolerance of TritonGym's pass rule.
constexpr double kMaxAbsError = 0.01;
constexpr std::int64_t kMaxAxis = std::int64_t{1} << 40;

constexpr std::array<std::string_view, 3> kDialects{"triton", "gluon", "tlx"};
constexpr std::array<std::string_view, 4> kTypes{"tensor", "int", "float", "bool"};
constexpr std::array<std::string_view, 3> kRoles{"input", "inout", "structural"};
constexpr std::array<std::string_view, 2> kVisibilities{"public", "hidden"};
constexpr std::array<std::string_view, 12> kDtypes{
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
    "int64",   "int32",   "int16",   "int8",     "uint8",         "bool"};
// The first three are the shortcuts for which lint makes mutants
// (sandbox/harness/judging/shortcuts.py).
constexpr std::array<std::string_view, 8> kShortcuts{
    "skip_negligible", "forget_past",  "drop_maximum", "low_precision",
    "narrow_range",    "part_of_data", "ignore_ties",  "assume_balance"};
constexpr std::array<std::string_view, 17> kFamilies{
    "elementwise",  "activation", "normalization", "reduction", "softmax",     "gemm",
    "quantization", "attention",  "positional",    "sparse",    "convolution", "loss",
    "optimizer",    "scan",       "sampling",      "layout",    "fused"};

std::vector<std::string_view> dtypes_and_case() {
  std::vector<std::string_view> names{"case"};
  names.insert(names.end(), kDtypes.begin(), kDtypes.end());
  return names;
}

template <class Values>
std::vector<std::string_view> all_names(const Values& values) {
  std::vector<std::string_view> names;
  for (const auto value : values) names.push_back(to_string(value));
  return names;
}

/// Returns the text that identifies one [[key]] table in messages: the table's name, or its index
/// if it has no name.
std::string label(const toml::table& table, std::string_view key, std::string_view name_key,
                  std::size_t index) {
  const auto* name = table.get_as<std::string>(name_key);
  const std::string shown = name != nullptr && name->get().size() <= 64
                                ? "'" + name->get() + "'"
                                : "number " + std::to_string(index + 1);
  return "[[" + std::string(key) + "]] " + shown;
}

ArgumentType argument_type(const std::string& text) {
  if (text == "int") return ArgumentType::integer;
  if (text == "float") return ArgumentType::floating;
  return text == "bool" ? ArgumentType::boolean : ArgumentType::tensor;
}

Argument parse_argument(Section section) {
  const std::string type = section.has("type") ? section.choice("type", kTypes) : "tensor";
  if (type == "tensor") {
    section.keys({"name", "type", "dtype", "shape", "role", "description"}, {});
  } else {
    section.keys({"name", "type", "role", "description"}, {});
  }
  Argument argument;
  argument.name = section.identifier("name");
  argument.type = argument_type(type);
  if (argument.type == ArgumentType::tensor) {
    argument.dtype = section.choice("dtype", dtypes_and_case());
    argument.shape = section.extents("shape");
  }
  const std::string role = section.choice("role", kRoles);
  argument.role = role == "inout"        ? Role::inout
                  : role == "structural" ? Role::structural
                                         : Role::input;
  if (argument.type != ArgumentType::tensor && argument.role != Role::input) {
    section.report_error("role", "is '" + role + "'; valid for a scalar: input");
  }
  argument.description = section.text("description");
  return argument;
}

Output parse_output(Section section) {
  section.keys({"name", "dtype", "shape", "max_abs_error"}, {"scale", "from", "or_relative"});
  Output output;
  output.name = section.identifier("name");
  output.dtype = section.choice("dtype", dtypes_and_case());
  output.shape = section.extents("shape");
  output.max_abs_error = section.number("max_abs_error", 0.0, kMaxAbsError);
  if (section.has("scale")) output.scale = section.extent_or_number("scale");
  if (section.has("from")) output.from = section.identifier("from");
  if (section.has("or_relative")) output.or_relative = section.boolean("or_relative");
  return output;
}

Case parse_case(Section section) {
  section.keys({"id", "visibility", "interpreter", "dtype", "axes", "distribution"}, {});
  Case result;
  result.id = section.identifier("id");
  result.hidden = section.choice("visibility", kVisibilities) == "hidden";
  result.interpreter = section.boolean("interpreter");
  result.dtype = section.choice("dtype", kDtypes);
  result.axes = section.integers("axes", 1, kMaxAxis);
  result.distribution = section.identifier("distribution");
  return result;
}

Adversary parse_adversary(Section section) {
  section.keys({"distribution", "breaks", "why"}, {"axis"});
  Adversary result;
  result.distribution = section.identifier("distribution");
  result.breaks = section.extents("breaks");
  if (section.has("axis")) result.axis = section.identifier("axis");
  section.text("why");
  for (const std::string& shortcut : result.breaks) {
    if (std::find(kShortcuts.begin(), kShortcuts.end(), shortcut) == kShortcuts.end())
      section.report_error("breaks", "has '" + shortcut + "'; valid: " + join(kShortcuts));
  }
  return result;
}

Operator parse_root(const toml::table& root, Diagnostics& diagnostics) {
  Section section(root, "", diagnostics);
  section.keys({"name", "split", "family", "dialect", "difficulty", "summary", "description",
                "entry", "signature", "arguments", "outputs", "cases"},
               {"imported", "adapter", "adversarial", "baseline", "benchmark", "benchmark_file",
                "benchmark_file_sha256", "benchmark_revision", "benchmark_licence"});
  Operator op;
  op.name = section.identifier("name");
  const std::string split = section.choice("split", all_names(kSplits));
  for (const Split known : kSplits)
    if (split == to_string(known)) op.split = known;
  op.family = section.choice("family", kFamilies);
  op.dialect = section.choice("dialect", kDialects);
  op.difficulty = static_cast<int>(section.integer("difficulty", 1, kMaxDifficulty));
  op.summary = section.text("summary");
  op.description = section.text("description");
  op.entry = section.identifier("entry");
  op.signature = section.text("signature");
  if (section.has("baseline"))
    op.baseline =
        baseline_from(section.choice("baseline", all_names(kBaselines))).value_or(op.baseline);
  if (section.has("imported")) op.imported = section.boolean("imported");
  for (const auto& [key, field] : {std::pair{"benchmark", &op.provenance.benchmark},
                                   std::pair{"benchmark_file", &op.provenance.file},
                                   std::pair{"benchmark_file_sha256", &op.provenance.file_sha256},
                                   std::pair{"benchmark_revision", &op.provenance.revision},
                                   std::pair{"benchmark_licence", &op.provenance.licence}}) {
    if (section.has(key)) *field = section.text(key);
  }
  if (section.has("adapter")) op.adapter = section.text("adapter");
  std::size_t index = 0;
  for (const toml::table* table : section.tables("arguments")) {
    op.arguments.push_back(
        parse_argument(Section(*table, label(*table, "arguments", "name", index++), diagnostics)));
    op.arguments.back().line = table->source().begin.line;
  }
  index = 0;
  for (const toml::table* table : section.tables("outputs")) {
    op.outputs.push_back(
        parse_output(Section(*table, label(*table, "outputs", "name", index++), diagnostics)));
    op.outputs.back().line = table->source().begin.line;
  }
  index = 0;
  for (const toml::table* table : section.tables("cases")) {
    op.cases.push_back(
        parse_case(Section(*table, label(*table, "cases", "id", index++), diagnostics)));
    op.cases.back().line = table->source().begin.line;
  }
  if (section.has("adversarial")) {
    index = 0;
    for (const toml::table* table : section.tables("adversarial")) {
      op.adversaries.push_back(parse_adversary(
          Section(*table, label(*table, "adversarial", "distribution", index++), diagnostics)));
      op.adversaries.back().line = table->source().begin.line;
    }
  }
  return op;
}

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

Status check_cases(const Operator& op) {
  const bool interpretable = op.dialect == "triton";
  int counts[2] = {0, 0}, interpreted[2] = {0, 0};
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

Result<Operator> parse_spec(std::string_view text, const std::string& file) {
  Diagnostics diagnostics{file, std::nullopt};
  Operator op;
  try {
    op = parse_root(toml::parse(text), diagnostics);
  } catch (const toml::parse_error& error) {
    diagnostics.add(error.source().begin.line,
                    "not valid TOML: " + std::string(error.description()));
  }
  if (diagnostics.first) return fail(*diagnostics.first);
  if (const Status checked = check_spec(op); !checked)
    return fail(checked.error().code, file + checked.error().message);
  return op;
}

std::string signature_of(const Operator& op) {
  std::string text = op.entry + "(";
  for (const Argument& argument : op.arguments) {
    const char* type = argument.type == ArgumentType::tensor     ? "Tensor"
                       : argument.type == ArgumentType::integer  ? "int"
                       : argument.type == ArgumentType::floating ? "float"
                                                                 : "bool";
    text += (text.back() == '(' ? "" : ", ") + argument.name + ": " + type;
  }
  const auto returned = std::count_if(op.outputs.begin(), op.outputs.end(),
                                      [](const Output& output) { return output.from.empty(); });
  text += ") -> ";
  if (returned == 0) return text + "None";
  if (returned == 1) return text + "Tensor";
  text += "tuple[";
  for (std::ptrdiff_t i = 0; i < returned; ++i) text += i == 0 ? "Tensor" : ", Tensor";
  return text + "]";
}

std::vector<std::string_view> family_names() { return {kFamilies.begin(), kFamilies.end()}; }

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
  if (Status status = check_adversaries(op); !status) return status;
  return check_cases(op);
}

}  // namespace assay::operators
