#include "tools/call/principal_of.h"
#include "tools/call/run_job.h"
#include "tools/call/schema_parts.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

struct SubmitArguments {
  SubmissionArguments submission;

  static json schema(const Services& services) {
    return input_object(SubmissionArguments::properties(services, sandbox::JobKind::grade),
                        {"run", "operator"});
  }
  static Result<SubmitArguments> parse(const json& arguments) {
    ArgumentReader reader(arguments);
    SubmitArguments parsed{SubmissionArguments::read(reader)};
    if (parsed.submission.run.empty())
      reader.refuse({ErrorCode::invalid_argument,
                     "`run` is missing; `start_run` returns a run handle (run_...)"});
    return reader.result(std::move(parsed));
  }
};

}  // namespace

mcp::Tool submit_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "submit";
  tool.title = "Submit for grading";
  tool.description =
      "Grades the code for a run on the public and the hidden cases; a GPU device also times the "
      "large cases. Scored tracks take one submission per operator. A disconnect does not stop "
      "it; `job` and `scorecard` show the verdict.";
  tool.input_schema = SubmitArguments::schema(services);
  tool.output_schema = verdict_schema();
  tool.listed_output_schema = outline_of(tool.output_schema, verdict_outline());
  tool.annotations = annotations_of({});
  set_slow_handler<SubmitArguments>(
      tool, [&services](const SubmitArguments& arguments, const mcp::RequestContext& context) {
        Result<sandbox::Job> job = make_job(services, principal_of(context), arguments.submission,
                                            sandbox::JobKind::grade);
        if (!job) return error_answer(job.error());
        return run_job(services, arguments.submission, std::move(*job), context);
      });
  return tool;
}

}  // namespace assay::tools
