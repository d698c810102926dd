#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/model/check_input.h"
#include "tools/model/check_job.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;
using sandbox::JobKind;

const std::vector<std::string> kShows = {"result", "bound"};

struct CheckArguments {
  CheckRequest request;
  std::string device, show = kShows.front();
  Format format = Format::concise;

  static json schema(const Services& services) {
    json axes = array_of({{"type", "string"}});
    axes["description"] = "Values of each axis: n=1000,100003. Each combination is a case";
    json inputs = array_of({{"type", "string"}});
    inputs["description"] = std::string("In call order: ") + kCheckInputForms;
    return input_object(
        {{"code", code_property()},
         {"entry", text_property("The kernel's function in `code`")},
         {"reference", text_property("Python source with the function in PyTorch",
                                     services.job_limits.source_bytes)},
         {"reference_entry", text_property("Its function; default: `entry`")},
         {"inputs", std::move(inputs)},
         {"axes", std::move(axes)},
         {"tolerance",
          {{"type", "number"},
           {"description", "Largest relative error; default: by dtype"},
           {"minimum", 0},
           {"maximum", 1}}},
         {"show", choice_property("bound: what limits the speed of the largest case", kShows,
                                  kShows.front())},
         {"language", language_property()},
         {"device", device_property(services.jobs.devices())},
         {"response_format", format_property()}},
        {"code", "entry", "reference", "inputs"});
  }

  static Result<CheckArguments> parse(const json& arguments) {
    ArgumentReader reader(arguments);
    CheckArguments parsed;
    CheckRequest& request = parsed.request;
    reader.read("code", request.code);
    reader.read("entry", request.entry);
    reader.read("reference", request.reference);
    request.reference_entry = request.entry;
    reader.read("reference_entry", request.reference_entry);
    reader.read("inputs", request.inputs);
    reader.read("tolerance", request.tolerance);
    reader.read("language", request.language);
    reader.read("show", parsed.show);
    reader.read("device", parsed.device);
    reader.read("response_format", parsed.format);
    std::vector<std::string> axes;
    reader.read("axes", axes);
    for (const std::string& axis : axes) {
      if (const Status read = read_check_axis(axis, request.axes); !read)
        reader.refuse(read.error());
    }
    return reader.result(std::move(parsed));
  }
};

mcp::ToolResult check(const Services& services, const CheckArguments& arguments,
                      const mcp::RequestContext& context) {
  if (const Status good = check_device(services.jobs, arguments.device); !good)
    return error_answer(good.error());
  for (const std::string& source : {arguments.request.code, arguments.request.reference}) {
    if (const Status good = check_source(source); !good) return error_answer(good.error());
  }
  const JobKind kind = arguments.show == kShows.front() ? JobKind::test : JobKind::profile;
  Result<sandbox::Job> job = check_job(arguments.request, services.job_limits, kind);
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
      "Compares a kernel with your own PyTorch function on random inputs. Needs no operator; never "
      "scored. Tells which case and element is wrong, registers and spills.";
  tool.input_schema = CheckArguments::schema(services);
  tool.output_schema = verdict_schema();
  tool.listed_output_schema = outline_of(tool.output_schema, verdict_outline());
  tool.annotations = annotations_of({});
  set_slow_handler<CheckArguments>(
      tool, [&services](const CheckArguments& arguments, const mcp::RequestContext& context) {
        return check(services, arguments, context);
      });
  return tool;
}

}  // namespace assay::tools
