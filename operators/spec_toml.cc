#include "operators/spec_toml.h"

#include <algorithm>
#include <array>
#include <cstdint>
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
// sandbox/harness/judging/precision.py models these losses.
constexpr std::array<std::string_view, 2> kLosses{"rounded_input", "float16_sums"};
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
  section.keys({"name", "dtype", "shape", "max_abs_error"},
               {"scale", "from", "or_relative", "relative"});
  Output output;
  output.name = section.identifier("name");
  output.dtype = section.choice("dtype", dtypes_and_case());
  output.shape = section.extents("shape");
  output.max_abs_error = section.number("max_abs_error", 0.0, kMaxAbsError);
  if (section.has("scale")) output.scale = section.extent_or_number("scale");
  if (section.has("from")) output.from = section.identifier("from");
  if (section.has("or_relative")) output.or_relative = section.boolean("or_relative");
  if (section.has("relative")) output.relative = section.boolean("relative");
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

Indistinguishable parse_indistinguishable(Section section) {
  section.keys({"loss", "why"}, {"argument"});
  Indistinguishable result;
  result.loss = section.choice("loss", kLosses);
  if (section.has("argument")) result.argument = section.identifier("argument");
  section.text("why");
  return result;
}

Operator parse_root(const toml::table& root, Diagnostics& diagnostics) {
  Section section(root, "", diagnostics);
  section.keys({"name", "split", "family", "dialect", "difficulty", "summary", "description",
                "entry", "signature", "arguments", "outputs", "cases"},
               {"imported", "adapter", "call", "adversarial", "indistinguishable", "baseline",
                "benchmark", "benchmark_file", "benchmark_file_sha256", "benchmark_revision",
                "benchmark_licence", "benchmark_tolerance"});
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
                                   std::pair{"benchmark_licence", &op.provenance.licence},
                                   std::pair{"benchmark_tolerance", &op.provenance.tolerance}}) {
    if (section.has(key)) *field = section.text(key);
  }
  if (section.has("adapter")) op.adapter = section.text("adapter");
  if (section.has("call")) op.call = section.text("call");
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
  if (section.has("indistinguishable")) {
    index = 0;
    for (const toml::table* table : section.tables("indistinguishable")) {
      op.indistinguishable.push_back(parse_indistinguishable(
          Section(*table, label(*table, "indistinguishable", "loss", index++), diagnostics)));
      op.indistinguishable.back().line = table->source().begin.line;
    }
  }
  return op;
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

}  // namespace assay::operators
