// Implements `assay operators new NAME`, which writes the folder of a new operator: from a function
// in PyTorch and the inputs that `assay check` takes, or from a signature and a simple kind. A
// script in importers/ runs the function and writes the files. The command checks its options and
// replaces its own process with the script (exec).
#include "server/commands/new_operator.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "operators/catalog.h"
#include "operators/names.h"
#include "operators/spec_toml.h"
#include "server/app/exit_status.h"
#include "server/app/workspace.h"
#include "server/commands/check_words.h"
#include "tools/model/check_input.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNewCommand = "operators new";

/// A simple kind of operators. `family` is its default.
struct Kind {
  std::string_view name, family;
};
constexpr std::array kKinds = {Kind{"elementwise", "elementwise"}, Kind{"rows", "reduction"},
                               Kind{"matmul", "gemm"}};
/// The dtypes in which the kernels of these kinds compute rightly.
constexpr std::array<std::string_view, 3> kKindDtypes{"f16", "bf16", "f32"};
constexpr std::array<std::string_view, 4> kParameterTypes{"Tensor", "int", "float", "bool"};
constexpr std::string_view kReferenceFamily = "fused";
constexpr std::string_view kSignatureForm =
    "'swish_gate(x: Tensor, g: Tensor, beta: float) -> Tensor'";
constexpr int kMostDifficulty = 5;
constexpr std::size_t kShownNameBytes = 80;

struct NewOptions {
  std::string name, signature, kind, dtype, against, oracle, family, summary, description;
  std::string split = "standard";
  int difficulty = 1;
  std::vector<std::string> inputs, axes;
};

auto refused(const std::string& message) { return fail(ErrorCode::invalid_argument, message); }

std::string_view split_name(operators::Split split) { return operators::to_string(split); }

/// Returns the value if it is among `valid`, an error otherwise.
template <class Names>
Status check_choice(const std::string& what, const std::string& value, const Names& valid) {
  if (std::find(valid.begin(), valid.end(), value) != valid.end()) return {};
  return refused("unknown " + what + " '" + value + "'; valid: " + join(valid));
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
}

nlohmann::json function_json(const std::optional<FunctionInFile>& function) {
  if (!function) return nullptr;
  return {{"file", function->file}, {"function", function->function}};
}

/// What the script reads (importers/new_operator/operator_request.py), without the suite's folder.
Result<nlohmann::json> request_of(const NewOptions& options, const std::vector<std::string>& rest) {
  if (!operators::is_identifier(options.name))
    return refused("bad name '" + cut_end(options.name, kShownNameBytes) +
                   "'; a name has lower-case letters, digits and '_', a letter first, and at most "
                   "64 characters");
  if (options.signature.empty() == options.against.empty())
    return refused("name either --signature, with --kind, or --against, with --input");
  std::vector<sandbox::CheckArgument> inputs;
  std::optional<FunctionInFile> reference, oracle;
  std::string kind = options.kind;
  std::string family = options.family;
  if (options.against.empty()) {
    if (!options.inputs.empty()) return refused("--input needs --against");
    if (kind.empty()) kind = kKinds.front().name;
    ASSAY_TRY(signature, read_signature(options.signature));
    if (signature.name != options.name)
      return refused("the signature defines '" + signature.name + "', not '" + options.name + "'");
    ASSAY_TRY(made, inputs_of_kind(kind, options.dtype.empty() ? "f32" : options.dtype, signature));
    inputs = std::move(made);
    const auto* const known = std::find_if(kKinds.begin(), kKinds.end(),
                                           [&](const Kind& one) { return one.name == kind; });
    if (family.empty()) family = known->family;
  } else {
    if (!kind.empty()) return refused("--kind needs --signature");
    if (!options.dtype.empty()) return refused("--dtype needs --signature");
    if (options.inputs.empty())
      return refused(std::string("--against needs --input: ") + tools::kCheckInputForms);
    ASSAY_TRY(function, function_in_file(options.against, "--against"));
    reference = std::move(function);
    for (const std::string& text : options.inputs) {
      ASSAY_TRY(input, tools::parse_check_input(text));
      inputs.push_back(std::move(input));
    }
    if (family.empty()) family = kReferenceFamily;
  }
  if (!options.oracle.empty()) {
    ASSAY_TRY(function, function_in_file(options.oracle, "--oracle"));
    oracle = std::move(function);
  }
  ASSAY_RETURN_IF_ERROR(check_choice("family", family, operators::family_names()));
  std::vector<std::string_view> splits;
  for (const operators::Split split : operators::kSplits) splits.push_back(split_name(split));
  ASSAY_RETURN_IF_ERROR(check_choice("split", options.split, splits));
  std::map<std::string, std::vector<std::int64_t>> axes;
  for (const std::string& axis : options.axes)
    ASSAY_RETURN_IF_ERROR(tools::read_check_axis(axis, axes));
  ASSAY_RETURN_IF_ERROR(read_short_axes(rest, axes));
  for (const auto& [axis, sizes] : axes) {
    if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 1; }))
      return refused("axis '" + axis + "' has a size below 1");
  }
  nlohmann::json arguments = nlohmann::json::array();
  for (const sandbox::CheckArgument& one : inputs)
    arguments.push_back({{"name", one.name},
                         {"type", one.type},
                         {"dtype", one.dtype},
                         {"shape", one.shape},
                         {"distribution", one.distribution},
                         {"low", one.low},
                         {"high", one.high},
                         {"value", one.value}});
  return nlohmann::json{{"name", options.name},
                        {"split", options.split},
                        {"family", family},
                        {"difficulty", options.difficulty},
                        {"summary", options.summary},
                        {"description", options.description},
                        {"kind", kind},
                        {"reference", function_json(reference)},
                        {"oracle", function_json(oracle)},
                        {"inputs", std::move(arguments)},
                        {"axes", axes}};
}

/// Checks that the suite has no operator with this name. A suite that does not exist is made later.
Status check_free(const std::string& name, const fs::path& suite) {
  std::error_code code;
  for (const operators::Split split : operators::kSplits) {
    const fs::path folder = suite / split_name(split) / name;
    if (fs::exists(folder, code)) return refused(folder.string() + " exists; take another name");
  }
  if (fs::exists(suite, code) && !fs::is_directory(suite, code))
    return refused(suite.string() + " is not a folder");
  return {};
}

int make_operator(const NewOptions& options, const std::vector<std::string>& rest,
                  const std::string& suite) {
  Result<nlohmann::json> request = request_of(options, rest);
  if (!request) return print_error(kNewCommand, kUsage, request.error().message);
  const Result<Paths> paths = find_paths();
  if (!paths) return print_error(kNewCommand, kBadConfig, paths.error().message);
  const fs::path folder = suite.empty() ? paths->operators() : fs::path(suite);
  if (const Status free = check_free(options.name, folder); !free)
    return print_error(kNewCommand, kUsage, free.error().message);
  (*request)["suite"] = fs::absolute(folder).lexically_normal().string();
  std::vector<std::string> words = {
      paths->python.string(), (paths->root / "importers/new_operator/new_operator.py").string(),
      request->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments.front(), arguments.data());
  return print_error(kNewCommand, kUnavailable,
                     "execute " + words.front() + ": " + std::strerror(errno));
}

}  // namespace

Result<Signature> read_signature(const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    return refused("signature '" + text + "': " + why + "; a signature is like " +
                   std::string(kSignatureForm));
  };
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open)
    return wrong("'(' or ')' is missing");
  Signature signature;
  signature.name = trimmed(std::string_view(text).substr(0, open));
  if (!tools::is_python_name(signature.name)) return wrong("it has no name");
  std::string result = trimmed(std::string_view(text).substr(close + 1));
  if (result.starts_with("->")) result = trimmed(std::string_view(result).substr(2));
  if (result != "Tensor")
    return wrong("the simple kinds return one Tensor; for other results use --against");
  const std::string inside = text.substr(open + 1, close - open - 1);
  for (std::size_t from = 0; from <= inside.size();) {
    const std::size_t comma = std::min(inside.find(',', from), inside.size());
    const std::string part = inside.substr(from, comma - from);
    const std::size_t colon = part.find(':');
    Signature::Parameter one{trimmed(part.substr(0, colon)), ""};
    if (colon != std::string::npos) one.type = trimmed(part.substr(colon + 1));
    if (!tools::is_python_name(one.name)) return wrong("'" + trimmed(part) + "' is no parameter");
    if (std::find(kParameterTypes.begin(), kParameterTypes.end(), one.type) ==
        kParameterTypes.end())
      return wrong("parameter '" + one.name + "' has the type '" + one.type +
                   "'; valid: " + join(kParameterTypes));
    signature.parameters.push_back(std::move(one));
    from = comma + 1;
  }
  return signature;
}

Result<std::vector<sandbox::CheckArgument>> inputs_of_kind(const std::string& kind,
                                                           const std::string& dtype,
                                                           const Signature& signature) {
  std::vector<std::string_view> kinds;
  for (const Kind& one : kKinds) kinds.push_back(one.name);
  ASSAY_RETURN_IF_ERROR(check_choice("kind", kind, kinds));
  ASSAY_RETURN_IF_ERROR(check_choice("dtype", dtype, kKindDtypes));
  std::vector<sandbox::CheckArgument> inputs;
  std::size_t tensors = 0;
  for (const Signature::Parameter& one : signature.parameters) {
    std::string value = one.type == "int" ? "2" : one.type == "float" ? "1.5" : "true";
    if (one.type == "Tensor") {
      const bool first = tensors++ == 0;
      value = dtype + (kind == "elementwise" ? "[{n}]"
                       : kind == "rows"      ? (first ? "[{rows},{cols}]" : "[{cols}]")
                       : first               ? "[{m},{k}]"
                                             : "[{k},{n}]");
    }
    ASSAY_TRY(input, tools::parse_check_input(one.name + "=" + value));
    inputs.push_back(std::move(input));
  }
  if (tensors == 0) return refused("the signature has no Tensor");
  if (kind == "matmul" && tensors != 2)
    return refused("kind matmul takes two Tensors, and the signature has " +
                   std::to_string(tensors));
  return inputs;
}

void add_new_operator(CLI::App& group, std::shared_ptr<std::string> suite, int& status) {
  auto options = std::make_shared<NewOptions>();
  CLI::App* command = group.add_subcommand(
      "new", "Write the folder of a new operator, from a function in PyTorch or a simple kind");
  command->add_option("name", options->name, "the operator's name")->required();
  command->add_option("--signature", options->signature,
                      "such as " + std::string(kSignatureForm) + "; with --kind");
  command->add_option("--kind", options->kind,
                      "elementwise, rows (a reduction) or matmul (default: elementwise)");
  command->add_option("--dtype", options->dtype,
                      "of the tensors of a signature: f16, bf16 or f32 (default: f32)");
  command->add_option("--against", options->against, "the reference in PyTorch: FILE:FUNCTION");
  command
      ->add_option("--input", options->inputs,
                   std::string("an input of the reference, in call order: ") +
                       tools::kCheckInputForms + "; repeat it for more inputs")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--axis", options->axes,
          "sizes of an axis: n=1000,100003 (or --n 1000,100003); the largest one is timed. "
          "An axis with one size keeps it, if another axis varies")
      ->allow_extra_args(false);
  command->add_option("--oracle", options->oracle,
                      "a fast kernel that passes: FILE:FUNCTION (default: a place to fill in)");
  command->add_option("--family", options->family,
                      "one of the families of operators (default: by the kind, or fused)");
  command->add_option("--split", options->split, "standard, ood or dsl")->capture_default_str();
  command->add_option("--difficulty", options->difficulty, "1 to 5")
      ->check(CLI::Range(1, kMostDifficulty))
      ->capture_default_str();
  command->add_option("--summary", options->summary, "one line that says what is computed");
  command->add_option("--description", options->description,
                      "the task as agents read it (default: made from the inputs and outputs)");
  command->allow_extras();
  command->callback([command, options, suite, &status] {
    status = make_operator(*options, command->remaining(), *suite);
  });
}

}  // namespace assay::server
