#include "server/evaluate/problem.h"

#include <array>
#include <utility>

namespace assay::server {
namespace {

using nlohmann::json;

constexpr int kRetryMs = 1'000;  // the pause after which a client tries again

struct TypeRow {
  ProblemType type;
  const char* name;
  const char* title;
  int status;
};

constexpr std::array kTypes = {
    TypeRow{ProblemType::invalid_request, "invalid-request", "The request is not valid.", 400},
    TypeRow{ProblemType::unknown_name, "unknown-name", "There is nothing of this name.", 404},
    TypeRow{ProblemType::policy_invalid, "policy-invalid", "The reward policy is not valid.", 400},
    TypeRow{ProblemType::deadline_passed, "deadline-passed", "The deadline has passed.", 400},
    TypeRow{ProblemType::key_reused, "key-reused",
            "The idempotency key belongs to another evaluation.", 409},
    TypeRow{ProblemType::not_found, "not-found", "There is no such thing.", 404},
    TypeRow{ProblemType::forbidden, "forbidden", "A rule forbids this.", 403},
    TypeRow{ProblemType::unauthorized, "unauthorized", "A valid token is needed.", 401},
    TypeRow{ProblemType::too_many, "too-many", "A limit is reached; try again later.", 429},
    TypeRow{ProblemType::too_large, "too-large", "The request is too large.", 413},
    TypeRow{ProblemType::method, "method-not-allowed", "The path does not have this method.", 405},
    TypeRow{ProblemType::not_acceptable, "not-acceptable",
            "The server does not speak the form that the headers ask for.", 415},
    TypeRow{ProblemType::unavailable, "unavailable", "The server cannot do this now.", 503},
    TypeRow{ProblemType::internal, "internal", "Assay has a defect.", 500},
};

const TypeRow& row_of(ProblemType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row;
  }
  return kTypes.back();
}

ProblemType type_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return ProblemType::invalid_request;
    case ErrorCode::not_found: return ProblemType::not_found;
    case ErrorCode::permission_denied: return ProblemType::forbidden;
    case ErrorCode::resource_exhausted: return ProblemType::too_many;
    case ErrorCode::unavailable:
    case ErrorCode::cancelled:
    case ErrorCode::preempted: return ProblemType::unavailable;
    case ErrorCode::unsupported: return ProblemType::invalid_request;
    case ErrorCode::corrupt:
    case ErrorCode::io:
    case ErrorCode::reference:
    case ErrorCode::internal: return ProblemType::internal;
  }
  return ProblemType::internal;
}

ProblemType type_of_status(int status) {
  switch (status) {
    case 401: return ProblemType::unauthorized;
    case 403: return ProblemType::forbidden;
    case 404: return ProblemType::not_found;
    case 405: return ProblemType::method;
    case 413: return ProblemType::too_large;
    case 406:
    case 415: return ProblemType::not_acceptable;
    case 429: return ProblemType::too_many;
    case 500: return ProblemType::internal;
    case 503: return ProblemType::unavailable;
    default: return ProblemType::invalid_request;
  }
}

}  // namespace

std::string uri_of(ProblemType type) {
  return std::string("urn:assay:problem:") + row_of(type).name;
}

std::string title_of(ProblemType type) { return row_of(type).title; }

int status_of(ProblemType type) { return row_of(type).status; }

const std::vector<ProblemType>& problem_types() {
  static const std::vector<ProblemType> types = [] {
    std::vector<ProblemType> all;
    for (const TypeRow& row : kTypes) all.push_back(row.type);
    return all;
  }();
  return types;
}

Problem problem_of(const Error& error) {
  Problem problem{type_of(error.code), error.message};
  if (problem.type == ProblemType::too_many || problem.type == ProblemType::unavailable)
    problem.retry_after_ms = kRetryMs;
  return problem;
}

tl::unexpected<Problem> refuse(ProblemType type, std::string detail) {
  return tl::unexpected<Problem>(Problem{type, std::move(detail)});
}

tl::unexpected<Problem> refuse(const Error& error) {
  return tl::unexpected<Problem>(problem_of(error));
}

json json_of(const Problem& problem) {
  json document = {{"type", uri_of(problem.type)},
                   {"title", title_of(problem.type)},
                   {"status", status_of(problem.type)},
                   {"detail", problem.detail}};
  if (problem.retry_after_ms) document["retry_after_ms"] = *problem.retry_after_ms;
  return document;
}

mcp::Reply reply_of(const Problem& problem, const json& more) {
  json document = json_of(problem);
  if (more.is_object()) document.update(more);
  mcp::Reply reply{.status = status_of(problem.type),
                   .body = json_text(document),
                   .content_type = "application/problem+json"};
  if (problem.retry_after_ms)
    reply.headers.emplace_back("Retry-After",
                               std::to_string((*problem.retry_after_ms + 999) / 1'000));
  return reply;
}

mcp::Reply problem_reply(const mcp::Reply& refusal) {
  Problem problem{type_of_status(refusal.status)};
  const json document = json::parse(refusal.body, nullptr, false);
  if (document.is_object() && document.contains("error") && document["error"].is_object())
    problem.detail = document["error"].value("message", "");
  json more = {{"status", refusal.status}};
  mcp::Reply reply = reply_of(problem, more);
  reply.status = refusal.status;
  reply.headers = refusal.headers;
  reply.close = refusal.close;
  reply.refusal = refusal.refusal;
  return reply;
}

}  // namespace assay::server
