#include "tools/call/principal_of.h"
#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/model/check_input.h"
#include "tools/model/check_job.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;
using sandbox::JobKind;

/// Returns a property without a length. check_source() and check_job() limit the lengths.
json text(const char* description) { return {{"type", "string"}, {"description", description}}; }

/// Returns whether a source is CUDA C++. Such a source begins with its manifest, a comment.
bool is_cuda_cpp(const std::string& code) {
  const std::size_t first = code.find_first_not_of(" \t\r\n");
  return first != std::string::npos && code.compare(first, 2, "/*") == 0;
}

struct CheckArguments {
  CheckRequest request;  // without the code
  SourceArguments source;
  std::string device;
  bool bound = false;
  Format format = Format::concise;

  static json schema(const Services& services) {
    json inputs = array_of({{"type", "string"}}), axes = inputs;
    inputs["description"] = std::string("In call order: ") + kCheckInputForms;
    axes["description"] = "n=1000,100003; each combination is a case";
    json all = {{"entry", text("Function in both sources, or kernel:reference")},
                {"reference", text("Python source with the PyTorch function")},
                {"inputs", std::move(inputs)},
                {"axes", std::move(axes)},
                {"tolerance", {{"type", "number"}, {"description", "Relative; default: by dtype"}}},
                {"bound", boolean_property("What limits the speed of the largest case", false)},
                {"device", device_property(services.jobs.devices())},
                {"response_format", format_property()}};
    all.update(SourceArguments::properties(services, "Triton, or CUDA C++ with a manifest"));
    return input_object(std::move(all), {"entry", "reference", "inputs"});
  }

  static Result<CheckArguments> parse(const json& arguments) {
    ArgumentReader reader(arguments);
    CheckArguments parsed;
    CheckRequest& request = parsed.request;
    parsed.source = SourceArguments::read(reader);
    std::string entry;
    reader.read("entry", entry);
    const std::size_t colon = entry.find(':');
    request.entry = entry.substr(0, colon);
    request.reference_entry = colon == std::string::npos ? request.entry : entry.substr(colon + 1);
    reader.read("reference", request.reference);
    reader.read("inputs", request.inputs);
    std::vector<std::string> axes;
    reader.read("axes", axes);
    for (const std::string& axis : axes) {
      if (const Status read = read_check_axis(axis, request.axes); !read)
        reader.refuse(read.error());
    }
    reader.read("tolerance", request.tolerance);
    reader.read("bound", parsed.bound);
    reader.read("device", parsed.device);
    reader.read("response_format", parsed.format);
    return reader.result(std::move(parsed));
  }
};

mcp::ToolResult check(const Services& services, const CheckArguments& arguments,
                      const mcp::RequestContext& context) {
  if (const Status good = check_device(services.jobs, arguments.device); !good)
    return error_answer(good.error());
  Result<SourceText> source = source_text(services, arguments.source, principal_of(context));
  if (!source) return error_answer(source.error());
  if (const Status good = check_source(arguments.request.reference, "reference"); !good)
    return error_answer(good.error());
  CheckRequest request = arguments.request;
  request.language = std::move(source->language);
  if (request.language.empty() && is_cuda_cpp(source->text)) request.language = sandbox::kCudaCpp;
  request.code = std::move(source->text);
  const JobKind kind = arguments.bound ? JobKind::profile : JobKind::test;
  Result<sandbox::Job> job = check_job(request, services.job_limits, kind);
  if (!job) return error_answer(job.error());
  SubmissionArguments practice;
  practice.device = arguments.device;
  practice.format = arguments.format;
  return run_job(services, practice, std::move(*job), context);
}

}  // namespace

mcp::Tool check_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "check";
  tool.title = "Check any kernel";
  tool.description =
      "Compares any kernel with your own PyTorch function, without an operator or a score. Tells "
      "what is wrong and where, registers and spills.";
  tool.input_schema = CheckArguments::schema(services);
  tool.output_schema = verdict_schema();
  tool.listed_output_schema = outline_of(tool.output_schema, {});
  tool.annotations = annotations_of({});
  set_slow_handler<CheckArguments>(
      tool, [&services](const CheckArguments& arguments, const mcp::RequestContext& context) {
        return check(services, arguments, context);
      });
  return tool;
}

}  // namespace assay::tools
