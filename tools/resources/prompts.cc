// Defines the prompts write_kernel, optimize_kernel and fix_kernel.
#include <algorithm>
#include <memory>
#include <utility>

#include "operators/catalog.h"
#include "tools/call/run_job.h"
#include "tools/registry.h"
#include "tools/resources/resources.h"

namespace assay::tools {
namespace {

using mcp::Prompt;
using mcp::PromptArgument;
using mcp::RequestContext;
using mcp::Variables;
using operators::Guide;
using operators::Operator;

constexpr const char* kPitfalls = "triton-pitfalls";
constexpr const char* kSpeed = "memory-bound-kernels";
constexpr std::size_t kMaxVerdictBytes =
    8'000;  // the maximum size of the verdict that a user pastes

std::string value_of(const Variables& values, const char* key) {
  const auto found = values.find(key);
  return found == values.end() ? std::string() : found->second;
}

/// Builds the parts of text that several prompts share.
class Parts {
 public:
  Parts(const Services& services, const std::vector<Guide>& guides)
      : services_(services),
        guides_(guides),
        spec_(fetch_spec_tool(services)),
        job_(job_tool(services)) {}

  Result<std::string> spec(const Variables& values, RequestContext& context) const {
    auto text = tool_text(
        spec_, {{"operator", value_of(values, "operator")}, {"response_format", "detailed"}},
        context);
    if (!text) return fail(text.error());
    return "\n## Specification\n\n" + *text + "\n";
  }
  Result<std::string> code(const Variables& values) const {
    const std::string source = value_of(values, "code");
    if (const Status good = check_source(source); !good) return fail(good.error());
    return "\n## Code\n\n```python\n" + source + (source.ends_with('\n') ? "" : "\n") + "```\n";
  }
  /// Returns the section "What went wrong": the status of the job that the argument `job` names,
  /// and then the text of the argument `verdict`. Returns "" if the user gave neither.
  Result<std::string> verdict(const Variables& values, RequestContext& context) const {
    std::string text = value_of(values, "verdict");
    if (text.size() > kMaxVerdictBytes) {
      return fail(ErrorCode::invalid_argument, "verdict has " + std::to_string(text.size()) +
                                                   " bytes; the limit is " +
                                                   std::to_string(kMaxVerdictBytes));
    }
    if (const std::string job = value_of(values, "job"); !job.empty()) {
      const auto status =
          tool_text(job_, {{"job", job}, {"wait_s", 0}, {"response_format", "detailed"}}, context);
      if (!status) return fail(status.error());
      text = *status + (text.empty() ? "" : "\n" + text);
    }
    return text.empty() ? std::string() : "\n## What went wrong\n\n" + text + "\n";
  }
  std::string guide(const char* topic) const {
    const auto found = std::find_if(guides_.begin(), guides_.end(),
                                    [&](const Guide& guide) { return guide.topic == topic; });
    return found == guides_.end() ? std::string() : "\n" + found->text;
  }
  /// Returns the sentence that tells the agent to use the device. Returns "" if the user named no
  /// device, and an error if this server does not have the device.
  Result<std::string> device(const Variables& values) const {
    const std::string name = value_of(values, "device");
    if (const Status known = check_device(services_.jobs, name); !known) return fail(known.error());
    return name.empty() ? std::string() : " Use device \"" + name + "\" in every call.";
  }

  PromptArgument operator_argument() const {
    std::vector<std::string> names;
    for (const Operator& op : services_.catalog.all()) names.push_back(op.name);
    return {.name = "operator",
            .description = "Operator name",
            .required = true,
            .complete = mcp::complete_from(std::move(names))};
  }
  PromptArgument code_argument() const {
    return {.name = "code", .description = "The complete current source", .required = true};
  }
  PromptArgument device_argument() const {
    return {.name = "device",
            .description = "Where to run; default: the server's first device",
            .complete = mcp::complete_from(services_.jobs.devices())};
  }
  /// Returns an argument for a case. Its suggestions are the public cases of the operator that the
  /// user has filled in.
  PromptArgument case_argument() const {
    const auto complete = [&catalog = services_.catalog](const std::string& typed,
                                                         const Variables& others) {
      std::vector<std::string> ids;
      if (const Operator* op = catalog.find(value_of(others, "operator")); op != nullptr) {
        for (const operators::Case& item : op->cases) {
          if (!item.hidden) ids.push_back(item.id);
        }
      }
      return mcp::complete_from(std::move(ids))(typed, others);
    };
    return {.name = "case",
            .description = "Public case to measure; default: the largest",
            .complete = complete};
  }

 private:
  const Services& services_;
  const std::vector<Guide> guides_;
  const mcp::Tool spec_, job_;
};

/// Joins the parts, or returns the first error.
Result<std::string> joined(std::initializer_list<Result<std::string>> parts) {
  std::string text;
  for (const auto& part : parts) {
    if (!part) return fail(part.error());
    text += *part;
  }
  return text;
}

/// Makes `text` the only message of the prompt. The message's role is `user`.
void set_message(Prompt& prompt,
                 std::function<Result<std::string>(const Variables&, RequestContext&)> text) {
  prompt.get = [description = prompt.description, text = std::move(text)](
                   const Variables& values, RequestContext& context) -> Result<mcp::PromptResult> {
    Result<std::string> message = text(values, context);
    if (!message) return fail(message.error());
    return mcp::PromptResult{description, {{"user", mcp::text_content(std::move(*message))}}};
  };
}

Prompt write_kernel(const std::shared_ptr<const Parts>& parts) {
  Prompt prompt;
  prompt.name = "write_kernel";
  prompt.title = "Write a kernel";
  prompt.description =
      "Write one operator from its specification until its public cases pass, then make it fast.";
  prompt.arguments = {parts->operator_argument(), parts->device_argument()};
  set_message(
      prompt, [parts](const Variables& values, RequestContext& context) -> Result<std::string> {
        const auto device = parts->device(values);
        if (!device) return fail(device.error());
        const std::string task =
            "Write the operator \"" + value_of(values, "operator") +
            "\" as specified below, with Assay's tools: `compile` the code and fix the compiler's "
            "errors, `run_tests` until every public case passes, then `profile` and improve it. "
            "Hidden cases have other shapes, dtypes and values, so write for the specification and "
            "not for the cases." +
            *device + " Show the final code and what `profile` measured.\n";
        return joined({task, parts->spec(values, context), parts->guide(kPitfalls)});
      });
  return prompt;
}

Prompt optimize_kernel(const std::shared_ptr<const Parts>& parts) {
  Prompt prompt;
  prompt.name = "optimize_kernel";
  prompt.title = "Make a kernel faster";
  prompt.description = "Speed up correct code step by step, with a measurement after each step.";
  prompt.arguments = {parts->operator_argument(), parts->code_argument(), parts->case_argument(),
                      parts->device_argument()};
  set_message(
      prompt, [parts](const Variables& values, RequestContext& context) -> Result<std::string> {
        const auto device = parts->device(values);
        if (!device) return fail(device.error());
        const std::string chosen = value_of(values, "case");
        const std::string task =
            "Make this implementation of \"" + value_of(values, "operator") +
            "\" faster. `profile` it first" +
            (chosen.empty() ? "" : " on case \"" + chosen + "\"") +
            " and say what limits its speed. Then change one thing at a time: "
            "`run_tests` to see that it is still correct, `profile` to see the "
            "gain, and keep only changes whose gain exceeds the interval of the "
            "measurement." +
            *device + " Show the final code and the latencies before and after.\n";
        return joined(
            {task, parts->code(values), parts->spec(values, context), parts->guide(kSpeed)});
      });
  return prompt;
}

Prompt fix_kernel(const std::shared_ptr<const Parts>& parts) {
  Prompt prompt;
  prompt.name = "fix_kernel";
  prompt.title = "Repair a kernel";
  prompt.description =
      "Find out why code fails and repair it, given the verdict of a job or your description.";
  prompt.arguments = {
      parts->operator_argument(),
      parts->code_argument(),
      {.name = "job", .description = "Handle of the job that failed (job_...)"},
      {.name = "verdict", .description = "The failure in your words, or its verdict as text"},
      parts->device_argument()};
  set_message(prompt,
              [parts](const Variables& values, RequestContext& context) -> Result<std::string> {
                const auto device = parts->device(values);
                if (!device) return fail(device.error());
                const std::string task =
                    "Repair this implementation of \"" + value_of(values, "operator") +
                    "\". Find the cause before you change anything: read the verdict (`run_tests` "
                    "gives one), then the lines that it names, then the specification. Change only "
                    "what is wrong, and `run_tests` until every public case passes." +
                    *device + " Say what the cause was and show the final code.\n";
                return joined({task, parts->verdict(values, context), parts->code(values),
                               parts->spec(values, context), parts->guide(kPitfalls)});
              });
  return prompt;
}

}  // namespace

std::vector<Prompt> make_prompts(const Services& services, const std::vector<Guide>& guides) {
  const auto parts = std::make_shared<const Parts>(services, guides);
  return {write_kernel(parts), optimize_kernel(parts), fix_kernel(parts)};
}

}  // namespace assay::tools
