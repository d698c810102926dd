#include "tools/resources/prompts.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "tools/call/run_job.h"
#include "tools/registry.h"
#include "tools/resources/tool_text.h"

namespace assay::tools {
namespace {

using operators::Guide;
using operators::Operator;

constexpr const char* kPitfalls = "triton-pitfalls";
constexpr const char* kSpeed = "memory-bound-kernels";
constexpr std::size_t kMaxVerdictBytes = 8'000;  // pasted by the user

std::string value_of(const Values& values, const char* key) {
  const auto found = values.find(key);
  return found == values.end() ? std::string() : found->second;
}

/// What several prompts put together their text from.
class Parts {
 public:
  Parts(Services& services, const std::vector<Guide>& guides)
      : services_(services),
        guides_(guides),
        spec_(fetch_spec_tool(services)),
        job_(job_tool(services)) {}

  Result<std::string> spec(const Values& values) const {
    auto text = tool_text(
        spec_, {{"operator", value_of(values, "operator")}, {"response_format", "detailed"}});
    if (!text) return fail(text.error());
    return "\n## Specification\n\n" + *text + "\n";
  }
  Result<std::string> code(const Values& values) const {
    const std::string source = value_of(values, "code");
    if (const Status good = check_source(source); !good) return fail(good.error());
    return "\n## Code\n\n```python\n" + source + (source.ends_with('\n') ? "" : "\n") + "```\n";
  }
  /// What a job's verdict said, and what the user says of it. Empty without either.
  Result<std::string> verdict(const Values& values) const {
    std::string text = value_of(values, "verdict");
    if (text.size() > kMaxVerdictBytes) {
      return fail(ErrorCode::invalid_argument, "verdict has " + std::to_string(text.size()) +
                                                   " bytes; the limit is " +
                                                   std::to_string(kMaxVerdictBytes));
    }
    if (const std::string job = value_of(values, "job"); !job.empty()) {
      const auto status =
          tool_text(job_, {{"job", job}, {"wait_s", 0}, {"response_format", "detailed"}});
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
  /// Refuses a device that is not here; the empty one is the default.
  Result<std::string> device(const Values& values) const {
    const std::string name = value_of(values, "device");
    if (const Status known = check_device(services_.jobs, name); !known) return fail(known.error());
    return name.empty() ? std::string() : " Use device \"" + name + "\" in every call.";
  }

  PromptArgument operator_argument() const {
    const auto names = [&catalog = services_.catalog](const Values&) {
      std::vector<std::string> all;
      for (const Operator& op : catalog.all()) all.push_back(op.name);
      return all;
    };
    return {"operator", "Operator name", true, names};
  }
  PromptArgument device_argument() const {
    return {"device", "Where to run; default: the server's first device", false,
            [&jobs = services_.jobs](const Values&) { return jobs.devices(); }};
  }
  /// The public cases of the operator that is filled in already.
  PromptArgument case_argument() const {
    const auto ids = [&catalog = services_.catalog](const Values& others) {
      std::vector<std::string> all;
      const Operator* op = catalog.find(value_of(others, "operator"));
      if (op == nullptr) return all;
      for (const operators::Case& item : op->cases) {
        if (!item.hidden) all.push_back(item.id);
      }
      return all;
    };
    return {"case", "Public case to measure; default: the largest", false, ids};
  }

 private:
  Services& services_;
  const std::vector<Guide> guides_;
  const Tool spec_, job_;
};

/// The texts one after the other, or the first Error.
Result<std::string> joined(std::initializer_list<Result<std::string>> parts) {
  std::string text;
  for (const auto& part : parts) {
    if (!part) return fail(part.error());
    text += *part;
  }
  return text;
}

Prompt write_kernel(const std::shared_ptr<const Parts>& parts) {
  Prompt prompt;
  prompt.name = "write_kernel";
  prompt.title = "Write a kernel";
  prompt.description =
      "Write one operator from its specification until its public cases pass, then make it fast.";
  prompt.arguments = {parts->operator_argument(), parts->device_argument()};
  prompt.text = [parts](const Values& values) -> Result<std::string> {
    const auto device = parts->device(values);
    if (!device) return fail(device.error());
    const std::string task =
        "Write the operator \"" + value_of(values, "operator") +
        "\" as specified below, with Assay's tools: `compile` the code and repair what the "
        "compiler refuses, `run_tests` until every public case passes, then "
        "`profile` and improve it. Hidden cases have other shapes, dtypes and values, so write for "
        "the specification and not for the cases." +
        *device + " Show the final code and what `profile` measured.\n";
    return joined({task, parts->spec(values), parts->guide(kPitfalls)});
  };
  return prompt;
}

Prompt optimize_kernel(const std::shared_ptr<const Parts>& parts) {
  Prompt prompt;
  prompt.name = "optimize_kernel";
  prompt.title = "Make a kernel faster";
  prompt.description = "Speed up code that is right already, step by step, measured.";
  prompt.arguments = {parts->operator_argument(),
                      {"code", "The complete source as it is", true, {}},
                      parts->case_argument(),
                      parts->device_argument()};
  prompt.text = [parts](const Values& values) -> Result<std::string> {
    const auto device = parts->device(values);
    if (!device) return fail(device.error());
    const std::string chosen = value_of(values, "case");
    const std::string task =
        "Make this implementation of \"" + value_of(values, "operator") +
        "\" faster. `profile` it first" + (chosen.empty() ? "" : " on case \"" + chosen + "\"") +
        " and say what bounds it. Then change one thing at a time: `run_tests` to see that it is "
        "still right, `profile` to see what it gained, and "
        "keep only what is faster beyond the interval of the measurement." +
        *device + " Show the final code and the latencies before and after.\n";
    return joined({task, parts->code(values), parts->spec(values), parts->guide(kSpeed)});
  };
  return prompt;
}

Prompt fix_kernel(const std::shared_ptr<const Parts>& parts) {
  Prompt prompt;
  prompt.name = "fix_kernel";
  prompt.title = "Repair a kernel";
  prompt.description =
      "Find out why code fails and repair it, from the verdict of a job or in your words.";
  prompt.arguments = {parts->operator_argument(),
                      {"code", "The complete source as it is", true, {}},
                      {"job", "Job handle whose verdict shows the failure", false, {}},
                      {"verdict", "Or what went wrong, as text", false, {}},
                      parts->device_argument()};
  prompt.text = [parts](const Values& values) -> Result<std::string> {
    const auto device = parts->device(values);
    if (!device) return fail(device.error());
    const std::string task =
        "Repair this implementation of \"" + value_of(values, "operator") +
        "\". Find the cause before you change anything: read the verdict (`run_tests` gives one), "
        "then the lines that it names, then the specification. "
        "Change what is wrong and nothing else, and `run_tests` until every public case passes." +
        *device + " Say what the cause was and show the final code.\n";
    return joined({task, parts->verdict(values), parts->code(values), parts->spec(values),
                   parts->guide(kPitfalls)});
  };
  return prompt;
}

}  // namespace

std::vector<Prompt> make_prompts(Services& services, const std::vector<Guide>& guides) {
  const auto parts = std::make_shared<const Parts>(services, guides);
  return {write_kernel(parts), optimize_kernel(parts), fix_kernel(parts)};
}

}  // namespace assay::tools
