#include "sandbox/record/case_describer.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sandbox/job/operator_revision.h"

namespace assay::sandbox {
namespace {

/// Returns a key for each case. The key contains the operator's revision, so a changed operator is
/// described anew. Returns no keys if the revision is unknown.
std::vector<std::string> keys_of(const Job& job) {
  const std::string revision = operator_revision(job.operator_dir);
  if (revision.empty()) return {};
  const std::string folder = job.operator_dir + '\n' + revision;
  std::vector<std::string> keys;
  for (const CaseRequest& one : job.cases) {
    std::string key = folder + '\n' + one.id + '\n' + one.dtype + '\n' + one.distribution;
    for (const auto& [axis, extent] : one.axes) key += '\n' + axis + '=' + std::to_string(extent);
    keys.push_back(std::move(key));
  }
  return keys;
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
  const std::vector<std::string> keys = keys_of(job);
  if (std::optional<PreparedJob> known = find(keys)) return std::move(*known);
  Result<PreparedJob> described = judge_.describe(job, deadline);
  if (described) keep(keys, *described);
  return described;
}

Result<std::optional<PreparedJob>> CaseDescriber::describe_without_inputs(
    const Job& job, const Deadline& deadline) {
  const std::vector<std::string> keys = keys_of(job);
  if (std::optional<PreparedJob> known = find(keys)) return known;
  Result<std::optional<PreparedJob>> described = judge_.describe_without_inputs(job, deadline);
  if (described && *described) keep(keys, **described);
  return described;
}

std::optional<PreparedJob> CaseDescriber::find(const std::vector<std::string>& keys) {
  if (keys.empty()) return std::nullopt;
  const MutexLock lock(mutex_);
  PreparedJob known;
  for (const std::string& key : keys) {
    const auto found = known_.find(key);
    if (found == known_.end()) return std::nullopt;
    known.cases.push_back(found->second);
  }
  return known;
}

void CaseDescriber::keep(const std::vector<std::string>& keys, const PreparedJob& described) {
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!described.cases[i].fixed) continue;
    PreparedCase one = described.cases[i];
    one.seed.clear();
    for (Argument& argument : one.arguments) argument.fd.reset();
    if (known_.emplace(keys[i], std::move(one)).second) order_.push_back(keys[i]);
  }
  while (order_.size() > kMaxCases) {
    known_.erase(order_.front());
    order_.pop_front();
  }
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
