#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/text.h"
#include "operators/catalog.h"
#include "tools/answer/reference_source.h"
#include "tools/call/arguments.h"
#include "tools/call/schema_parts.h"
#include "tools/model/fitting_guides.h"
#include "tools/model/operator_job.h"
#include "tools/registry.h"
#include "tools/spec_text.h"

namespace assay::tools {
namespace {

using nlohmann::json;
using operators::Argument;
using operators::ArgumentType;
using operators::Operator;
using operators::Output;
using operators::Role;

constexpr std::size_t kNoteBytes = 120;  // room for the note that the reference is cut
// The share of the answer's maximum size that a specification may fill, in eighths. The maximum
// size assumes 3.2 characters for each token, but specifications have as few as 2.9.
constexpr std::size_t kCapShareOf8 = 7;

struct FetchSpecArguments {
  std::string operator_name;
  std::string language;  // empty: Python
  Format format = Format::concise;

  static json schema() {
    return input_object({{"operator", operator_property()},
                         {"language", language_property()},
                         {"response_format", format_property()}},
                        {"operator"});
  }
  static Result<FetchSpecArguments> parse(const json& arguments) {
    FetchSpecArguments parsed;
    ArgumentReader reader(arguments);
    reader.read("operator", parsed.operator_name);
    reader.read("language", parsed.language);
    reader.read("response_format", parsed.format);
    return reader.result(std::move(parsed));
  }
};

std::string type_text(ArgumentType type) {
  switch (type) {
    case ArgumentType::tensor: return "tensor";
    case ArgumentType::integer: return "int";
    case ArgumentType::floating: return "float";
    case ArgumentType::boolean: return "bool";
  }
  return "?";
}

std::string role_text(Role role) {
  switch (role) {
    case Role::input: return "input";
    case Role::inout: return "inout";
    case Role::structural: return "structural";
  }
  return "?";
}

std::string shape_text(const std::vector<std::string>& shape) { return "[" + join(shape) + "]"; }

std::string argument_line(const Argument& argument, bool golden) {
  std::string text = "- " + argument.name + ": " + type_text(argument.type);
  if (argument.type == ArgumentType::tensor)
    text += " " + shape_text(argument.shape) + ", dtype " +
            (argument.dtype == "case" ? "of the case" : argument.dtype);
  if (argument.role == Role::inout)
    text += golden ? ", may be modified in place" : ", modified in place";
  if (argument.role == Role::structural) text += ", real values on the host";
  return text + (argument.description.empty() ? "" : "; " + argument.description) + "\n";
}

std::string tolerance_text(const Output& output) {
  if (output.max_abs_error == 0) return "exact";
  const std::string limit = " <= " + number_text(output.max_abs_error);
  if (output.or_relative) return "abs error or relative error" + limit;
  if (output.relative)
    return "abs error" + limit +
           " times the element's magnitude, or times the output's root mean square if that is "
           "larger";
  if (output.scale == "1") return "abs error" + limit;
  double scale = 0;
  const char* const last = output.scale.data() + output.scale.size();
  const auto [end, error] = std::from_chars(output.scale.data(), last, scale);
  if (error != std::errc{} || end != last || !(scale > 0))
    return "abs error * " + output.scale + limit;  // the scale is an axis, or a product
  return "abs error <= " + number_text(output.max_abs_error / scale) + " (compared as error * " +
         output.scale + limit + ")";
}

std::string output_line(const Output& output) {
  return "- " + output.name + ": " + shape_text(output.shape) + ", dtype " +
         (output.dtype == "case" ? "of the case" : output.dtype) + ", " + tolerance_text(output) +
         (output.from.empty() ? ""
                              : "; is argument " + output.from + " after the call, not returned") +
         "\n";
}

std::string case_line(const operators::Case& item) {
  std::string text = "- " + item.id + ": " + item.dtype;
  for (const auto& [axis, extent] : item.axes) text += ", " + axis + "=" + std::to_string(extent);
  return text + "\n";
}

/// Returns the public cases as text, first those that also run without a GPU. One heading for each
/// group is shorter than a note at each case.
std::string cases_text(const Operator& op, std::int64_t hidden) {
  std::string groups[2];  // by Case::interpreter
  for (const operators::Case& item : op.cases) {
    if (!item.hidden) groups[item.interpreter ? 1 : 0] += case_line(item);
  }
  // The hidden cases of a golden file are the benchmark's own calls with other seeds.
  std::string text = "public cases (" + count_text(hidden, "hidden one") + " besides, with other " +
                     (op.has_golden_reference() ? "values)" : "shapes, dtypes and values)");
  if (!groups[1].empty()) text += ", run on a GPU and on a CPU:\n" + groups[1];
  if (!groups[0].empty())
    text += (groups[1].empty() ? ", run on a GPU only:\n" : "and on a GPU only:\n") + groups[0];
  return text;
}

// A summary of docs/reference/cuda-submissions.md, because an agent cannot read the documents.
constexpr const char* kCudaCppText =
    "One CUDA C++ file, sent with language=cuda. It has no host code: it starts with a comment "
    "/* assay ... */ in TOML. For each launch, in order: [[launch]], kernel = \"add<256, "
    "{x.dtype}>\", "
    "grid = [\"ceil_div(n, 256)\"], block = 256, args = [\"x\", \"y\", \"z\", \"n\"], and where "
    "needed "
    "cluster, shared (bytes), cooperative, when (condition), repeat (times; `round` counts them). "
    "Arguments, outputs and the axes of shapes have the names listed above; outputs are allocated, "
    "uninitialised. Expressions: integers, x.shape[0], x.numel, + - * / // % **, comparisons, a if "
    "c "
    "else b, ceil_div, next_power_of_2, log2_ceil, min, max, abs, sqrt. [scratch.NAME] with dtype "
    "and "
    "shape allocates memory, [fill] NAME = 0 sets an output or scratch first, [sizes] NAME = "
    "expression names a number, [defines] NAME is -DNAME, options = [\"--use_fast_math\"]. "
    "{x.dtype} is "
    "__half for float16. It runs on an NVIDIA GPU; for a target hip:... it is HIP C++. `compile` "
    "needs no GPU.";

std::vector<std::string> languages_of(const Operator& op) {
  std::vector<std::string> taken;
  for (const std::string_view language : sandbox::kLanguages) {
    if (sandbox::takes_language(op.dialect, language)) taken.emplace_back(language);
  }
  return taken;
}

std::string submission_text(const Operator& op, std::string_view language) {
  if (language == sandbox::kCudaCpp) return kCudaCppText;
  std::string text =
      op.adapter.empty()
          ? "One Python module that defines `" + op.entry + "` with that signature. "
          : "One Python module that defines what the description asks for. Assay adds the entry `" +
                op.entry + "`, which calls it:\n" + op.adapter;
  if (op.dialect == "gluon")
    return text +
           "The work is done in Gluon kernels (`from triton.experimental import gluon`, "
           "@gluon.jit); torch may only allocate, view and launch.";
  if (op.dialect == "tlx")
    return text +
           "The work is done in TLX kernels (`import triton.language.extra.tlx as tlx`, "
           "@triton.jit); torch may only allocate, view and launch.";
  return text +
         "The work is done in Triton kernels (@triton.jit); torch may only allocate, view and "
         "launch. Or one CUDA C++ file: `fetch_spec` with language=cuda describes it.";
}

std::string limits_text(const sandbox::Limits& limits) {
  const auto seconds = [](std::int64_t ms) { return number_text(static_cast<double>(ms) / 1000); };
  return "import " + seconds(limits.import_wall_ms) + " s, compile and run " +
         seconds(limits.run_wall_ms) + " s, launches " + seconds(limits.launch_wall_ms) +
         " s a case, memory " + std::to_string(limits.memory_bytes >> 20) + " MiB, GPU memory " +
         std::to_string(limits.gpu_memory_bytes >> 20) + " MiB, source " +
         std::to_string(limits.source_bytes) + " bytes, " + std::to_string(limits.processes) +
         " processes, no network";
}

// The reference of an imported operator is the benchmark's own solution, so it is not shown.
constexpr const char* kGoldenReference =
    "The benchmark has no reference in PyTorch. Its own kernel, which is not shown, computes the "
    "expected outputs from the same arguments.";
constexpr const char* kNextAfterSpec = "write it, then `compile` or `run_tests`.";

json structured_spec(const Operator& op, std::string_view language, const std::string& limits,
                     const std::string& reference, std::int64_t hidden) {
  json arguments = json::array();
  for (const Argument& argument : op.arguments) {
    arguments.push_back({{"name", argument.name},
                         {"type", type_text(argument.type)},
                         {"dtype", argument.dtype},
                         {"shape", argument.shape},
                         {"role", role_text(argument.role)},
                         {"description", argument.description}});
  }
  json outputs = json::array();
  for (const Output& output : op.outputs) {
    outputs.push_back({{"name", output.name},
                       {"dtype", output.dtype},
                       {"shape", output.shape},
                       {"max_abs_error", output.max_abs_error},
                       {"scale", output.scale},
                       {"relative", output.relative},
                       {"from", output.from}});
  }
  json cases = json::array();
  for (const auto& item : op.cases) {
    if (!item.hidden)
      cases.push_back({{"id", item.id},
                       {"dtype", item.dtype},
                       {"axes", item.axes},
                       {"interpreter", item.interpreter}});
  }
  return {{"status", "ok"},
          {"operator", op.name},
          {"split", operators::to_string(op.split)},
          {"family", op.family},
          {"dialect", op.dialect},
          {"difficulty", op.difficulty},
          {"entry", op.entry},
          {"signature", op.signature},
          {"description", op.description},
          {"arguments", std::move(arguments)},
          {"outputs", std::move(outputs)},
          {"cases", std::move(cases)},
          {"hidden_cases", hidden},
          {"submission", submission_text(op, language)},
          {"languages", languages_of(op)},
          {"limits", limits},
          {"reference", reference},
          {"next", kNextAfterSpec}};
}

/// Returns the reference, cut to `room` bytes. If a part is missing, a note of at most kNoteBytes
/// follows. The note names the definitions that are left out or cut, or says how many there are.
std::string reference_text(const std::string& source, std::size_t room) {
  const ReferenceWithin shown = reference_within(source, room);
  if (shown.text.empty())
    return cut_middle(shown_reference(source), room) +
           "\n(cut; response_format=detailed shows all of it)";
  if (shown.left_out.empty()) return shown.text;
  std::string names = join(shown.left_out);
  if (names.size() > kNoteBytes / 3)
    names = count_text(static_cast<std::int64_t>(shown.left_out.size()), "definition");
  return shown.text + "\n(left out or cut: " + names +
         "; response_format=detailed shows all of it)";
}

mcp::ToolResult answer_of(const Operator& op, std::string_view language, const std::string& limits,
                          std::size_t cap) {
  std::string reference =
      op.has_golden_reference() ? kGoldenReference : shown_reference(op.reference_source);
  const std::vector<std::string> guides = fitting_guides(op, language);
  const std::int64_t hidden = std::count_if(
      op.cases.begin(), op.cases.end(), [](const operators::Case& item) { return item.hidden; });
  std::string text = "ok: " + op.name + ": " + escape_line(op.summary) +
                     "\nsignature: " + escape_line(op.signature) + "\n\n" + op.description;
  if (!text.ends_with('\n')) text += '\n';
  text += "\narguments:\n";
  for (const Argument& argument : op.arguments)
    text += argument_line(argument, op.has_golden_reference());
  text += "outputs, in order:\n";
  for (const Output& output : op.outputs) text += output_line(output);
  text += cases_text(op, hidden);
  text += "submission: " + submission_text(op, language) + "\nlimits: " + limits + "\n";
  if (!guides.empty()) text += "guides (search_examples with guide=...): " + join(guides) + "\n";
  const std::string next = std::string("next: ") + kNextAfterSpec;
  const std::size_t frame = text.size() + next.size() + kNoteBytes;
  const std::size_t room = cap > frame ? cap - frame : 0;
  text += "reference:\n" +
          (op.has_golden_reference() ? std::string(kGoldenReference)
                                     : reference_text(op.reference_source, room)) +
          "\n" + next;
  mcp::ToolResult answer;
  answer.text = std::move(text);
  answer.structured = structured_spec(op, language, limits, reference, hidden);
  answer.structured["guides"] = guides;
  return fit_answer(std::move(answer), cap);
}

mcp::ToolResult fetch_spec(const Services& services, const FetchSpecArguments& arguments) {
  const Operator* op = services.catalog.find(arguments.operator_name);
  if (op == nullptr) return error_answer(services.catalog.unknown(arguments.operator_name));
  sandbox::Job job = operator_job(*op, sandbox::JobKind::test, "");
  if (const Status chosen = choose_language(job, arguments.language); !chosen)
    return error_answer(chosen.error());
  return answer_of(*op, job.language, limits_text(services.job_limits),
                   max_chars(services.limits, arguments.format) * kCapShareOf8 / 8);
}

}  // namespace

std::string spec_text(const Operator& op, const sandbox::Limits& limits,
                      const AnswerLimits& answers) {
  return answer_of(op, sandbox::kPython, limits_text(limits),
                   max_chars(answers, Format::concise) * kCapShareOf8 / 8)
      .text;
}

json operator_facts(const Operator& op) {
  return {{"operator", op.name},         {"split", operators::to_string(op.split)},
          {"family", op.family},         {"dialect", op.dialect},
          {"difficulty", op.difficulty}, {"entry", op.entry},
          {"summary", op.summary}};
}

mcp::Tool fetch_spec_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "fetch_spec";
  tool.title = "Read a specification";
  tool.description =
      "Returns what you need to write one operator: description, signature, PyTorch reference, "
      "public cases, tolerance, limits, and the form of a submission.";
  tool.input_schema = FetchSpecArguments::schema();
  const json text = {{"type", "string"}};
  const json integer = {{"type", "integer"}};
  const json boolean = {{"type", "boolean"}};
  const json argument = {{"type", "object"},
                         {"properties",
                          {{"name", text},
                           {"type", text},
                           {"dtype", text},
                           {"shape", array_of(text)},
                           {"role", text},
                           {"description", text}}}};
  const json output = {{"type", "object"},
                       {"properties",
                        {{"name", text},
                         {"dtype", text},
                         {"shape", array_of(text)},
                         {"max_abs_error", {{"type", "number"}}},
                         {"scale", text},
                         {"from", text}}}};
  const json item = {{"type", "object"},
                     {"properties",
                      {{"id", text},
                       {"dtype", text},
                       {"axes", {{"type", "object"}, {"additionalProperties", integer}}},
                       {"interpreter", boolean}}}};
  tool.output_schema = output_object({{"operator", text},
                                      {"split", text},
                                      {"family", text},
                                      {"dialect", text},
                                      {"difficulty", integer},
                                      {"entry", text},
                                      {"signature", text},
                                      {"description", text},
                                      {"arguments", array_of(argument)},
                                      {"outputs", array_of(output)},
                                      {"cases", array_of(item)},
                                      {"hidden_cases", integer},
                                      {"submission", text},
                                      {"languages", array_of(text)},
                                      {"limits", text},
                                      {"guides", array_of(text)},
                                      {"reference", text},
                                      {"next", text}});
  tool.listed_output_schema = outline_of(tool.output_schema, {"signature", "reference"});
  tool.annotations = annotations_of({.read_only = true, .idempotent = true});
  set_quick_handler<FetchSpecArguments>(
      tool, [&services](const FetchSpecArguments& arguments, const mcp::RequestContext&) {
        return fetch_spec(services, arguments);
      });
  return tool;
}

}  // namespace assay::tools
