#include "operators/spec_toml.h"

#include <array>
#include <cstdint>

#include "operators/spec_check.h"
#include "operators/spec_section.h"

namespace assay::operators {
namespace {

constexpr std::int64_t kMaxDifficulty = 5;
constexpr double kMaxAbsError = 0.01;  // TritonGym's pass rule; a spec can only be stricter
constexpr std::int64_t kMaxAxis = std::int64_t{1} << 40;

constexpr std::array<std::string_view, 3> kSplitNames{"standard", "ood", "dsl"};
constexpr std::array<std::string_view, 3> kDialects{"triton", "gluon", "tlx"};
constexpr std::array<std::string_view, 4> kTypes{"tensor", "int", "float", "bool"};
constexpr std::array<std::string_view, 3> kRoles{"input", "inout", "structural"};
constexpr std::array<std::string_view, 2> kVisibilities{"public", "hidden"};
constexpr std::array<std::string_view, 12> kDtypes{
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
    "int64",   "int32",   "int16",   "int8",     "uint8",         "bool"};
constexpr std::array<std::string_view, 17> kFamilies{
    "elementwise",  "activation", "normalization", "reduction", "softmax",     "gemm",
    "quantization", "attention",  "positional",    "sparse",    "convolution", "loss",
    "optimizer",    "scan",       "sampling",      "layout",    "fused"};

std::vector<std::string_view> dtypes_and_case() {
  std::vector<std::string_view> names{"case"};
  names.insert(names.end(), kDtypes.begin(), kDtypes.end());
  return names;
}

/// The label of the i-th [[key]] table: its own name, if it has one.
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
    section.print_error("role", "is '" + role + "'; valid for a scalar: input");
  }
  argument.description = section.text("description");
  return argument;
}

Output parse_output(Section section) {
  section.keys({"name", "dtype", "shape", "max_abs_error"}, {"scale", "from"});
  Output output;
  output.name = section.identifier("name");
  output.dtype = section.choice("dtype", dtypes_and_case());
  output.shape = section.extents("shape");
  output.max_abs_error = section.number("max_abs_error", 0.0, kMaxAbsError);
  if (section.has("scale")) output.scale = section.extent_or_number("scale");
  if (section.has("from")) output.from = section.identifier("from");
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

Operator parse_root(const toml::table& root, Diagnostics& diagnostics) {
  Section section(root, "", diagnostics);
  section.keys({"name", "split", "family", "dialect", "difficulty", "summary", "description",
                "entry", "signature", "arguments", "outputs", "cases"},
               {"imported", "adapter"});
  Operator op;
  op.name = section.identifier("name");
  const std::string split = section.choice("split", kSplitNames);
  op.split = split == "ood" ? Split::ood : split == "dsl" ? Split::dsl : Split::standard;
  op.family = section.choice("family", kFamilies);
  op.dialect = section.choice("dialect", kDialects);
  op.difficulty = static_cast<int>(section.integer("difficulty", 1, kMaxDifficulty));
  op.summary = section.text("summary");
  op.description = section.text("description");
  op.entry = section.identifier("entry");
  op.signature = section.text("signature");
  if (section.has("imported")) op.imported = section.boolean("imported");
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

}  // namespace assay::operators
