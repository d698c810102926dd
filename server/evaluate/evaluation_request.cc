#include "server/evaluate/evaluation_request.h"

#include <algorithm>
#include <utility>

#include "base/handle.h"
#include "base/json_depth.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "operators/catalog.h"
#include "reference_agents/core/reply_code.h"
#include "server/evaluate/api_schema.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/schema/schema.h"
#include "tools/call/arguments.h"
#include "tools/call/source_arguments.h"
#include "tools/model/operator_job.h"

namespace assay::server {
namespace {

using nlohmann::json;
using tl::unexpected;

/// The source of a completion that has no code. Its verdict is that the entry function is missing.
// What is judged in place of a completion without a usable source. A refusal would mask the sample,
// and a model could learn to escape its reward in this way.
constexpr const char* kNoCode = "# The completion has no code block.\n";
constexpr const char* kBadCode =
    "# The code of the completion is too long for a source, or it is no text.\n";

std::optional<std::string> violations(const mcp::Schema& schema, const json& document) {
  const std::vector<std::string> problems = schema.check(document);
  if (problems.empty()) return std::nullopt;
  return join(problems, "; ");
}

tl::expected<json, Problem> parse_body(std::string_view body) {
  Result<json> document = parse_json(body, mcp::MessageLimits().max_depth);
  if (!document)
    return refuse(ProblemType::invalid_request, "the body " + document.error().message);
  return std::move(*document);
}

const mcp::Schema& member_schema() {
  static const Result<mcp::Schema> schema = mcp::Schema::compile(evaluation_schema());
  return *schema;
}

const mcp::Schema& body_schema() {
  static const Result<mcp::Schema> schema = mcp::Schema::compile(evaluate_schema(false));
  return *schema;
}

/// Returns a device of this name or class. An empty name stays empty.
tl::expected<std::string, Problem> device_of(const std::vector<std::string>& names,
                                             const std::string& wanted) {
  if (wanted.empty() || std::find(names.begin(), names.end(), wanted) != names.end()) return wanted;
  const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return name.substr(0, name.find(':')) == wanted;
  });
  if (found != names.end()) return *found;
  return refuse(ProblemType::unknown_name, tools::unknown_name("device", wanted, names).message);
}

int priority_of(const std::string& name) {
  if (name == "high") return 1;
  return name == "low" ? -1 : 0;
}

/// Returns the source that the member names, or the code of its completion.
tl::expected<std::string, Problem> source_of(const json& member, const operators::Operator& op) {
  if (member.contains("source") == member.contains("completion"))
    return refuse(ProblemType::invalid_request, "give either source or completion");
  if (member.contains("source")) {
    const std::string& source = member["source"].get_ref<const std::string&>();
    if (const Status good = tools::check_source(source, "source"); !good)
      return refuse(good.error());
    return source;
  }
  agents::CompletionReply reply;
  reply.text = member["completion"].get<std::string>();
  std::string code = agents::code_of(reply, op.entry);
  if (code.empty()) return kNoCode;
  if (!tools::check_source(code, "completion")) return kBadCode;
  return code;
}

std::string text_of(const json& member, const char* key, const std::string& otherwise = "") {
  return member.contains(key) ? member[key].get<std::string>() : otherwise;
}

tl::expected<Wanted, Problem> read_member(const EvaluationContext& context, const json& member) {
  if (const auto wrong = violations(member_schema(), member))
    return refuse(ProblemType::invalid_request, *wrong);
  const std::string name = member["operator"];
  const operators::Operator* op = context.catalog.find(name);
  if (op == nullptr)
    return refuse(ProblemType::unknown_name, context.catalog.unknown(name).message);
  const std::string suite = text_of(member, "suite");
  const std::string& served = context.catalog.suite().name;
  if (!suite.empty() && suite != served && suite != operators::to_string(op->split))
    return refuse(ProblemType::unknown_name, "operator " + name + " is in the suite " + served +
                                                 ", split " +
                                                 std::string(operators::to_string(op->split)));
  const auto kind = *sandbox::job_kind_from(text_of(member, "mode", "test"));
  Wanted wanted;
  wanted.run = text_of(member, "run");
  wanted.group = text_of(member, "group");
  if (kind == sandbox::JobKind::grade && wanted.run.empty())
    return refuse(ProblemType::invalid_request,
                  "a grade needs `run`, the handle of POST /v1/runs or start_run: it is charged "
                  "to the run as a submission");
  if (kind == sandbox::JobKind::grade && !wanted.group.empty())
    return refuse(ProblemType::invalid_request,
                  "a grade has inputs of its own, so it takes no `group`");
  auto device = device_of(context.devices, text_of(member, "device"));
  if (!device) return unexpected<Problem>(device.error());
  wanted.device = std::move(*device);
  if (member.contains("deadline")) {
    const Result<std::int64_t> deadline =
        unix_ms_from(member["deadline"].get_ref<const std::string&>());
    if (!deadline) return refuse(deadline.error());
    if (*deadline <= context.clock.unix_ms())
      return refuse(ProblemType::deadline_passed, "the deadline is not in the future");
    wanted.deadline_unix_ms = *deadline;
  }
  auto source = source_of(member, *op);
  if (!source) return unexpected<Problem>(source.error());
  wanted.job = tools::operator_job(*op, kind, std::move(*source));
  if (const Status good = tools::choose_language(wanted.job, text_of(member, "language")); !good)
    return refuse(good.error());
  wanted.job.limits = context.job_limits;
  wanted.job.batch = true;
  wanted.job.priority = priority_of(text_of(member, "priority"));
  const json identity =
      json::array({served, name, wanted.job.source, wanted.job.language,
                   text_of(member, "mode", "test"), wanted.device, wanted.group, wanted.run});
  wanted.digest = sha256_hex(json_text(identity));
  wanted.key = text_of(member, "idempotency_key", wanted.digest);
  if (const std::string key = text_of(member, "idempotency_key");
      !key.empty() && !wanted.run.empty())
    wanted.call_id = sha256_hex(key + '\0' + wanted.digest);
  return wanted;
}

}  // namespace

tl::expected<json, Problem> read_document(std::string_view body, const json& schema) {
  auto document = parse_body(body);
  if (!document) return document;
  const Result<mcp::Schema> compiled = mcp::Schema::compile(schema);
  if (!compiled) return refuse(compiled.error());
  if (const auto wrong = violations(*compiled, *document))
    return refuse(ProblemType::invalid_request, *wrong);
  return document;
}

tl::expected<RewardPolicies, Problem> read_policies(const json& rewards) {
  std::vector<PolicyChoice> choices;
  for (const json& one : rewards) {
    if (one.is_string())
      choices.push_back({one.get<std::string>(), ""});
    else
      choices.push_back({one["name"].get<std::string>(), one["expression"].get<std::string>()});
  }
  Result<RewardPolicies> chosen = RewardPolicies::choose(choices);
  if (chosen) return std::move(*chosen);
  return refuse(chosen.error().code == ErrorCode::not_found ? ProblemType::unknown_name
                                                            : ProblemType::policy_invalid,
                chosen.error().message);
}

EvaluationContext context_of(const tools::Services& services) {
  return {.catalog = services.catalog,
          .devices = services.jobs.devices(),
          .job_limits = services.job_limits,
          .clock = services.clock};
}

tl::expected<EvaluateRequest, Problem> read_request(const EvaluationContext& context,
                                                    std::string_view body) {
  const auto parsed = parse_body(body);
  if (!parsed) return unexpected<Problem>(parsed.error());
  const json& document = *parsed;
  if (const auto wrong = violations(body_schema(), document))
    return refuse(ProblemType::invalid_request, *wrong);
  EvaluateRequest request;
  request.wait_ms = document.value("wait_ms", std::int64_t{0});
  auto policies = read_policies(document.value("rewards", json::array()));
  if (!policies) return unexpected<Problem>(policies.error());
  request.policies = std::move(*policies);
  const json& members = document["evaluations"];
  for (const json& member : members) {
    auto wanted = read_member(context, member);
    if (wanted)
      request.members.push_back(std::move(*wanted));
    else
      request.members.push_back({.problem = std::move(wanted.error())});
  }
  return request;
}

}  // namespace assay::server
