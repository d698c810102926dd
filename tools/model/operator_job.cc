#include "tools/model/operator_job.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/handle.h"
#include "base/text.h"
#include "sandbox/job/target.h"

namespace assay::tools {
namespace {

constexpr std::size_t kShownNameBytes = 60;

/// Returns whether the text is "cuda:" and two or three digits, or "hip:gfx" and the name of a
/// processor.
bool is_target(const std::string& target) {
  if (target.size() > kMaxTargetBytes) return false;
  const auto all_of = [](std::string_view text, std::string_view valid) {
    return text.find_first_not_of(valid) == std::string_view::npos;
  };
  const std::string_view text = target;
  if (text.starts_with("cuda:"))
    return text.size() >= 7 && text.size() <= 8 && all_of(text.substr(5), "0123456789");
  return text.starts_with("hip:gfx") && text.size() >= 10 &&
         all_of(text.substr(7), "0123456789abcdef");
}

struct Known {
  std::string_view part, target;
};

/// Maps names of products and architectures to targets. A name matches if, in lower case, it
/// contains the text of an entry.
constexpr std::array kKnown = {
    Known{"sm_80", "cuda:80"},     Known{"a100", "cuda:80"},     Known{"sm_90", "cuda:90"},
    Known{"h100", "cuda:90"},      Known{"h200", "cuda:90"},     Known{"hopper", "cuda:90"},
    Known{"sm_100", "cuda:100"},   Known{"b200", "cuda:100"},    Known{"mi250", "hip:gfx90a"},
    Known{"gfx90a", "hip:gfx90a"}, Known{"mi300", "hip:gfx942"}, Known{"mi325", "hip:gfx942"},
    Known{"gfx942", "hip:gfx942"}, Known{"mi350", "hip:gfx950"}, Known{"gfx950", "hip:gfx950"}};
static_assert(std::all_of(kKnown.begin(), kKnown.end(), [](const Known& known) {
  return std::find(sandbox::kTargets.begin(), sandbox::kTargets.end(), known.target) !=
         sandbox::kTargets.end();
}));

std::string meant_by(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto* const found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& one) {
    return text.find(one.part) != std::string::npos;
  });
  return found == kKnown.end() ? "" : "; did you mean " + std::string(found->target) + "?";
}

}  // namespace

sandbox::CaseRequest case_request(const operators::Case& item) {
  return {.id = item.id,
          .hidden = item.hidden,
          .interpreter = item.interpreter,
          .axes = item.axes,
          .dtype = item.dtype,
          .distribution = item.distribution};
}

sandbox::Job operator_job(const operators::Operator& op, sandbox::JobKind kind,
                          std::string source) {
  sandbox::Job job;
  job.id = new_handle("job");
  job.kind = kind;
  job.operator_name = op.name;
  job.operator_dir = op.directory.string();
  job.shared_code = op.provenance.file_sha256;
  job.suite_id = op.suite;
  job.entry = op.entry;
  job.dialect = op.dialect;
  job.adapter = op.adapter;
  job.source = std::move(source);
  for (const operators::Case& item : op.cases) {
    if (!item.hidden) job.cases.push_back(case_request(item));
  }
  // Hidden cases come last: a submission gets the hidden cases only after it has passed the public
  // cases.
  for (const operators::Case& item : op.cases) {
    if (item.hidden && kind == sandbox::JobKind::grade) job.cases.push_back(case_request(item));
  }
  job.baseline = op.baseline;
  if (kind == sandbox::JobKind::profile || kind == sandbox::JobKind::grade)
    job.baseline_source = op.oracle_source;
  return job;
}

Status choose_case(sandbox::Job& job, const std::string& wanted) {
  if (job.cases.empty())
    return fail(ErrorCode::not_found, "operator '" + job.operator_name + "' has no public case");
  auto found = wanted.empty() ? std::prev(job.cases.end())
                              : std::find_if(job.cases.begin(), job.cases.end(),
                                             [&](const auto& item) { return item.id == wanted; });
  if (found == job.cases.end()) {
    return fail(ErrorCode::not_found, "operator '" + job.operator_name + "' has no public case '" +
                                          cut_end(wanted, kShownNameBytes) + "'; valid: " +
                                          join(job.cases, ", ", &sandbox::CaseRequest::id));
  }
  job.cases = {*found};
  return {};
}

Status choose_language(sandbox::Job& job, const std::string& wanted) {
  const std::string language = wanted.empty() ? std::string(sandbox::kPython) : wanted;
  if (std::find(sandbox::kLanguages.begin(), sandbox::kLanguages.end(), language) ==
      sandbox::kLanguages.end()) {
    return fail(ErrorCode::invalid_argument, "unknown language '" +
                                                 cut_end(language, kShownNameBytes) +
                                                 "'; valid: " + sandbox::kLanguageNames);
  }
  if (!sandbox::takes_language(job.dialect, language)) {
    return fail(ErrorCode::invalid_argument,
                "operator '" + job.operator_name + "' has the dialect " + job.dialect +
                    ", whose submissions are written in Python; valid: language=python");
  }
  job.language = language;
  return {};
}

Status check_target(const std::string& target) {
  if (is_target(target)) return {};
  return fail(ErrorCode::invalid_argument,
              "'" + cut_end(target, kMaxTargetBytes) +
                  "' is not a target; valid: " + sandbox::target_names() + meant_by(target));
}

}  // namespace assay::tools
