#include "server/evaluate/evaluate_api.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "base/rfc3339.h"
#include "base/text.h"
#include "operators/catalog.h"
#include "server/evaluate/api_schema.h"
#include "server/evaluate/evaluation_result.h"
#include "server/evaluate/openapi.h"
#include "server/evaluate/query.h"
#include "server/mcp/protocol/http_headers.h"
#include "tools/call/principal_of.h"
#include "tools/spec_text.h"

namespace assay::server {
namespace {

using nlohmann::json;
using tl::unexpected;

constexpr std::string_view kRoot = "/v1";
constexpr std::int64_t kCancelWaitMs = 2'000;
constexpr std::int64_t kSweepMs = 200;  // the time between two looks at all evaluations of a stream

struct Route {
  std::string_view path, methods;
};
constexpr std::array kRoutes = {
    Route{"/v1/evaluate", "POST"}, Route{"/v1/evaluations", "GET, DELETE"},
    Route{"/v1/runs", "POST"},     Route{"/v1/operators", "GET"},
    Route{"/v1/policies", "GET"},  Route{"/v1/openapi.json", "GET"},
};

mcp::Reply json_reply(const json& document, int status = 200) {
  return {.status = status, .body = json_text(document)};
}

tools::Principal principal_of_request(const mcp::ApplicationRequest& request) {
  mcp::RequestContext context;
  context.caller = request.caller;
  return tools::principal_of(context);
}

json refused_member(std::size_t index, const Problem& problem) {
  return {{"index", index}, {"state", "refused"}, {"problem", json_of(problem)}};
}

bool is_pending(const json& result) {
  return result["state"] == "queued" || result["state"] == "running";
}

}  // namespace

bool EvaluateApi::owns(std::string_view path) const {
  return path == kRoot || path.substr(0, kRoot.size() + 1) == std::string(kRoot) + "/";
}

mcp::Reply EvaluateApi::refused(const mcp::Reply& refusal) const { return problem_reply(refusal); }

mcp::ApplicationAnswer EvaluateApi::answer(mcp::ApplicationRequest request) {
  mcp::WriteEvents stream;
  Answer answer = dispatch(std::move(request), stream);
  if (!answer) return {.reply = reply_of(answer.error())};
  return {.reply = std::move(*answer), .stream = std::move(stream)};
}

std::optional<mcp::Reply> EvaluateApi::refusal_of_head(const mcp::HttpRequest& request) const {
  const auto* const route = std::find_if(
      kRoutes.begin(), kRoutes.end(), [&](const Route& one) { return one.path == request.path; });
  if (route == kRoutes.end())
    return reply_of({ProblemType::not_found,
                     "there is no such path; valid: " + join(kRoutes, ", ", [](const Route& one) {
                       return std::string(one.path);
                     })});
  const std::vector<std::string> methods = split(route->methods, ", ");
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  if (std::find(methods.begin(), methods.end(), method) != methods.end()) return std::nullopt;
  mcp::Reply reply = reply_of({ProblemType::method, "valid: " + std::string(route->methods)});
  reply.headers.emplace_back("Allow", route->methods);
  return reply;
}

EvaluateApi::Answer EvaluateApi::dispatch(mcp::ApplicationRequest request,
                                          mcp::WriteEvents& stream) {
  const std::string& path = request.request.path;
  if (path == "/v1/evaluate") return evaluate(std::move(request));
  if (path == "/v1/evaluations") return evaluations(request, stream);
  if (path == "/v1/runs") return start_run(request);
  if (path == "/v1/operators") return operators(request);
  return json_reply(path == "/v1/policies" ? policies_document() : openapi_document());
}

EvaluateApi::Answer EvaluateApi::evaluate(mcp::ApplicationRequest request) {
  const tools::Principal principal = principal_of_request(request);
  const std::stop_token gone = request.gone;
  const auto asked = accept(principal, std::move(request));
  if (!asked) return unexpected<Problem>(asked.error());
  return results(principal, *asked, gone, true);
}

tl::expected<EvaluateApi::Asked, Problem> EvaluateApi::accept(const tools::Principal& principal,
                                                              mcp::ApplicationRequest request) {
  auto wanted = read_request(context_of(services_), request.body);
  if (!wanted) return unexpected<Problem>(wanted.error());
  for (Wanted& one : wanted->members) one.job.traceparent = request.traceparent;
  Asked asked{.members = {}, .policies = std::move(wanted->policies), .wait_ms = wanted->wait_ms};
  for (Evaluations::Accepted& one : evaluations_.accept(principal, wanted->members))
    asked.members.push_back({std::move(one.id), one.duplicate, std::move(one.problem)});
  return asked;
}

tl::expected<EvaluateApi::Asked, Problem> EvaluateApi::asked_by(
    const mcp::HttpRequest& request) const {
  auto query = parse_query(request.query, {"ids", "wait_ms", "rewards", "expression"});
  if (!query) return refuse(ProblemType::invalid_request, query.error().message);
  Asked asked;
  std::vector<std::string> ids = split((*query)["ids"], ",");
  if (ids.empty() || static_cast<std::int64_t>(ids.size()) > kMostEvaluations)
    return refuse(ProblemType::invalid_request,
                  "give 1 to " + std::to_string(kMostEvaluations) +
                      " ids, separated by commas: ids=job_...,job_...");
  for (std::string& id : ids) asked.members.push_back({std::move(id), false, std::nullopt});
  if (const std::string& wait = (*query)["wait_ms"]; !wait.empty()) {
    const auto [end, problem] =
        std::from_chars(wait.data(), wait.data() + wait.size(), asked.wait_ms);
    if (problem != std::errc{} || end != wait.data() + wait.size() || asked.wait_ms < 0 ||
        asked.wait_ms > kMostWaitMs)
      return refuse(ProblemType::invalid_request,
                    "wait_ms must be a number from 0 to " + std::to_string(kMostWaitMs));
  }
  json rewards = json::array();
  for (const std::string& name : split((*query)["rewards"], ",")) rewards.push_back(name);
  if (const std::string& own = (*query)["expression"]; !own.empty())
    rewards.push_back({{"name", "expression"}, {"expression", own}});
  auto policies = read_policies(rewards);
  if (!policies) return unexpected<Problem>(policies.error());
  asked.policies = std::move(*policies);
  return asked;
}

EvaluateApi::Answer EvaluateApi::evaluations(const mcp::ApplicationRequest& request,
                                             mcp::WriteEvents& stream) {
  auto asked = asked_by(request.request);
  if (!asked) return unexpected<Problem>(asked.error());
  const tools::Principal principal = principal_of_request(request);
  if (request.request.method == "DELETE") {
    for (Member& member : asked->members) {
      if (auto done = evaluations_.cancel(principal, member.id); !done)
        member.problem = done.error();
    }
    asked->wait_ms = std::max(asked->wait_ms, kCancelWaitMs);
    return results(principal, *asked, request.gone, false);
  }
  const std::string accept = request.request.header("Accept").value_or("");
  if (request.request.method == "GET" && mcp::accepts(accept, "text/event-stream")) {
    stream = [this, principal, asked = std::move(*asked)](const mcp::SendEvent& send,
                                                          const std::stop_token& end) {
      send_results(principal, asked, send, end);
    };
    return mcp::Reply();
  }
  return results(principal, *asked, request.gone, false);
}

json EvaluateApi::result(const tools::Principal& principal, const Asked& asked, std::size_t index,
                         std::int64_t wait_ms, const std::stop_token& stop) {
  const Member& member = asked.members[index];
  if (member.problem) return refused_member(index, *member.problem);
  auto found = evaluations_.look(principal, member.id, wait_ms, stop);
  if (!found) return refused_member(index, found.error());
  json result = std::move(*found);
  result["index"] = index;
  result["duplicate"] = member.duplicate;
  add_rewards(result, asked.policies);
  return result;
}

EvaluateApi::Answer EvaluateApi::results(const tools::Principal& principal, const Asked& asked,
                                         const std::stop_token& stop, bool new_ones) {
  const std::int64_t until_ns = services_.clock.monotonic_ns() + asked.wait_ms * kNsPerMs;
  json list = json::array();
  std::int64_t pending = 0, refused = 0;
  std::optional<Problem> first;
  for (std::size_t i = 0; i < asked.members.size(); ++i) {
    const std::int64_t left_ms = (until_ns - services_.clock.monotonic_ns()) / kNsPerMs;
    list.push_back(result(principal, asked, i, std::max<std::int64_t>(left_ms, 0), stop));
    if (is_pending(list.back())) ++pending;
    if (list.back()["state"] != "refused") continue;
    ++refused;
    if (first) continue;
    if (asked.members[i].problem)
      first = asked.members[i].problem;
    else
      first = Problem{ProblemType::not_found, list.back()["problem"]["detail"]};
  }
  if (refused == static_cast<std::int64_t>(asked.members.size()))
    return reply_of(*first, {{"evaluations", std::move(list)}});
  return json_reply({{"evaluations", std::move(list)}, {"pending", pending}, {"refused", refused}},
                    pending > 0 && new_ones ? 202 : 200);
}

void EvaluateApi::send_results(const tools::Principal& principal, const Asked& asked,
                               const mcp::SendEvent& send, const std::stop_token& end) {
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < asked.members.size(); ++i) waiting.push_back(i);
  const std::int64_t until_ns =
      services_.clock.monotonic_ns() + (asked.wait_ms > 0 ? asked.wait_ms : kMostWaitMs) * kNsPerMs;
  while (!waiting.empty() && !end.stop_requested() && services_.clock.monotonic_ns() < until_ns) {
    std::vector<std::size_t> still;
    // The first one is waited for, so that the loop does not spin.
    std::int64_t wait_ms = kSweepMs;
    for (const std::size_t index : waiting) {
      const json found = result(principal, asked, index, wait_ms, end);
      wait_ms = 0;
      if (is_pending(found))
        still.push_back(index);
      else
        send(json_text({{"type", "evaluation"}, {"evaluation", found}}));
    }
    waiting = std::move(still);
  }
  if (!end.stop_requested()) send(json_text({{"type", "end"}, {"pending", waiting.size()}}));
}

EvaluateApi::Answer EvaluateApi::start_run(const mcp::ApplicationRequest& request) {
  const auto document = read_document(request.body, run_request_schema());
  if (!document) return unexpected<Problem>(document.error());
  const Result<tools::RunInfo> run =
      services_.runs.start(principal_of_request(request),
                           {.agent = (*document)["agent"],
                            .model = (*document)["model"],
                            .track = *tools::track_from(document->value("track", "practice")),
                            .suite = document->value("suite", "all"),
                            .call_id = document->value("idempotency_key", "")});
  if (!run) return unexpected<Problem>(problem_of(run.error()));
  return json_reply({{"run", run->handle},
                     {"track", tools::to_string(run->request.track)},
                     {"operators", run->operators},
                     {"expires", iso_time(run->expires_unix_ms)}},
                    201);
}

EvaluateApi::Answer EvaluateApi::operators(const mcp::ApplicationRequest& request) {
  auto query = parse_query(request.request.query, {"names", "prompt"});
  if (!query) return refuse(ProblemType::invalid_request, query.error().message);
  const std::vector<std::string> wanted = split((*query)["names"], ",");
  const std::string& prompt = (*query)["prompt"];
  if (!prompt.empty() && prompt != "true" && prompt != "false")
    return refuse(ProblemType::invalid_request, "prompt must be true or false");
  for (const std::string& name : wanted) {
    if (services_.catalog.find(name) == nullptr)
      return refuse(ProblemType::unknown_name, services_.catalog.unknown(name).message);
  }
  json list = json::array();
  for (const operators::Operator& op : services_.catalog.all()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), op.name) == wanted.end())
      continue;
    json one = tools::operator_facts(op);
    if (prompt == "true")
      one["prompt"] = tools::spec_text(op, services_.job_limits, services_.limits);
    list.push_back(std::move(one));
  }
  return json_reply({{"suite", services_.catalog.suite().name}, {"operators", std::move(list)}});
}

}  // namespace assay::server
