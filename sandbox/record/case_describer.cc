#include "sandbox/record/case_describer.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sandbox/job/operator_revision.h"

namespace assay::sandbox {
namespace {

std::string key_of(const Job& job, const std::string& revision, const CaseRequest& one) {
  std::string key = job.operator_dir + '\n' + revision + '\n' + one.id + '\n' + one.dtype + '\n' +
                    one.distribution;
  for (const auto& [axis, extent] : one.axes) key += '\n' + axis + '=' + std::to_string(extent);
  return key;
}

bool same_argument(const Argument& a, const Argument& b) {
  return a.name == b.name && a.is_tensor == b.is_tensor && a.dtype == b.dtype &&
         a.shape == b.shape && a.strides == b.strides && a.scalar_type == b.scalar_type &&
         (a.is_tensor || a.value == b.value);
}

bool same_output(const PreparedOutput& a, const PreparedOutput& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.from == b.from;
}

}  // namespace

Result<PreparedJob> CaseDescriber::describe(const Job& job, const Deadline& deadline) {
  const std::string revision = operator_revision(job.operator_dir);
  std::vector<std::string> keys;
  for (const CaseRequest& one : job.cases) keys.push_back(key_of(job, revision, one));
  if (!revision.empty()) {
    const MutexLock lock(mutex_);
    PreparedJob known;
    for (const std::string& key : keys) {
      const auto found = known_.find(key);
      if (found == known_.end()) break;
      known.cases.push_back(found->second);
    }
    if (known.cases.size() == keys.size()) return known;
  }
  Result<PreparedJob> described = judge_.describe(job, deadline);
  if (!described || revision.empty()) return described;
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!described->cases[i].fixed) continue;
    PreparedCase one = described->cases[i];
    one.seed.clear();
    for (Argument& argument : one.arguments) argument.fd.reset();
    if (known_.emplace(keys[i], std::move(one)).second) order_.push_back(keys[i]);
  }
  while (order_.size() > kMaxCases) {
    known_.erase(order_.front());
    order_.pop_front();
  }
  return described;
}

bool is_fixed(const PreparedJob& described) {
  return std::all_of(described.cases.begin(), described.cases.end(),
                     [](const PreparedCase& one) { return one.fixed; });
}

bool is_as_described(const PreparedCase& described, const PreparedCase& prepared) {
  return described.id == prepared.id && described.inout == prepared.inout &&
         described.axes == prepared.axes && described.is_layout == prepared.is_layout &&
         std::equal(described.arguments.begin(), described.arguments.end(),
                    prepared.arguments.begin(), prepared.arguments.end(), same_argument) &&
         std::equal(described.outputs.begin(), described.outputs.end(), prepared.outputs.begin(),
                    prepared.outputs.end(), same_output);
}

}  // namespace assay::sandbox
