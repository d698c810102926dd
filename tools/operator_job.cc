#include "tools/operator_job.h"

#include <algorithm>
#include <utility>

#include "base/handle.h"
#include "tools/escape.h"

namespace assay::tools {
namespace {

constexpr std::size_t kShownNameBytes = 60;

}  // namespace

sandbox::CaseRequest case_request(const operators::Case& item) {
  return {.id = item.id, .hidden = item.hidden, .interpreter = item.interpreter, .axes = item.axes, .dtype = item.dtype, .distribution = item.distribution};
}

sandbox::Job operator_job(const operators::Operator& op, sandbox::JobKind kind, std::string source) {
  sandbox::Job job;
  job.id = new_handle("job");
  job.kind = kind;
  job.operator_name = op.name;
  job.operator_dir = op.directory.string();
  job.entry = op.entry;
  job.dialect = op.dialect;
  job.source = std::move(source);
  for (const operators::Case& item : op.cases) {
    if (!item.hidden || kind == sandbox::JobKind::grade) job.cases.push_back(case_request(item));
  }
  if (kind == sandbox::JobKind::profile || kind == sandbox::JobKind::grade) job.baseline_source = op.oracle_source;
  return job;
}

Status choose_case(sandbox::Job& job, const std::string& wanted) {
  if (job.cases.empty()) return fail(ErrorCode::not_found, "operator '" + job.operator_name + "' has no public case");
  auto found =
      wanted.empty() ? std::prev(job.cases.end()) : std::find_if(job.cases.begin(), job.cases.end(), [&](const auto& item) { return item.id == wanted; });
  if (found == job.cases.end()) {
    std::string valid;
    for (const auto& item : job.cases) valid += (valid.empty() ? "" : ", ") + item.id;
    return fail(ErrorCode::not_found, "operator '" + job.operator_name + "' has no case '" + cut_end(wanted, kShownNameBytes) + "'; valid: " + valid);
  }
  job.cases = {*found};
  return {};
}

}  // namespace assay::tools
