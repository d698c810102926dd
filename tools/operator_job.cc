#include "tools/operator_job.h"

#include <utility>

#include "base/handle.h"
#include "tools/grading.h"

namespace assay::tools {

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
  if (kind == sandbox::JobKind::profile && job.cases.size() > 1) job.cases.erase(job.cases.begin(), job.cases.end() - 1);
  if (kind == sandbox::JobKind::profile || kind == sandbox::JobKind::grade) job.baseline_source = op.oracle_source;
  return job;
}

}  // namespace assay::tools
