#include "sandbox/record/case_describer.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "sandbox/job/operator_revision.h"
#include "sandbox/wire/memfd.h"

namespace assay::sandbox {
namespace {

// The offset of an argument's bytes in a file is a multiple of this number.
constexpr std::size_t kAlignment = 256;

bool same_argument(const Argument& a, const Argument& b) {
  return a.name == b.name && a.is_tensor == b.is_tensor && a.dtype == b.dtype &&
         a.shape == b.shape && a.strides == b.strides && a.scalar_type == b.scalar_type &&
         (a.is_tensor || a.value == b.value);
}

/// Returns the bytes of each argument that has a file, or nothing if a file cannot be read or the
/// bytes are more than `limit`.
std::optional<std::map<std::string, std::string>> values_of(const PreparedCase& one,
                                                            const std::vector<UniqueFd>& fds,
                                                            std::size_t limit) {
  std::map<std::string, std::string> values;
  std::size_t all = 0;
  for (const Argument& argument : one.arguments) {
    if (!argument.fd) continue;
    const auto offset = static_cast<std::uint64_t>(argument.offset);
    const auto bytes = static_cast<std::uint64_t>(argument.nbytes);
    all += bytes;
    if (all > limit) return std::nullopt;
    const int fd = fds.at(static_cast<std::size_t>(*argument.fd)).get();
    const Result<std::uint64_t> size = check_foreign_memfd(fd);
    if (!size || offset > *size || bytes > *size - offset) return std::nullopt;
    const Result<Mapping> memory = Mapping::map(fd, *size, /*writable=*/false);
    if (!memory) return std::nullopt;
    values.emplace(argument.name,
                   std::string(reinterpret_cast<const char*>(memory->data()) + offset, bytes));
  }
  return values;
}

/// Adds a case to the job, with a new file for its values. Returns false if there is no memory.
bool add(PreparedJob& job, PreparedCase one, const std::map<std::string, std::string>& values) {
  std::string contents;
  for (Argument& argument : one.arguments) {
    if (!argument.fd) continue;
    contents.resize((contents.size() + kAlignment - 1) / kAlignment * kAlignment);
    argument.fd = static_cast<std::int64_t>(job.fds.size());
    argument.offset = static_cast<std::int64_t>(contents.size());
    contents += values.at(argument.name);
  }
  if (!values.empty()) {
    Result<UniqueFd> file = create_sealed_memfd("assay-values", contents);
    if (!file) return false;
    job.fds.push_back(std::move(*file));
  }
  job.cases.push_back(std::move(one));
  return true;
}

bool same_output(const PreparedOutput& a, const PreparedOutput& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.from == b.from;
}

}  // namespace

CaseDescriber::Keys CaseDescriber::keys_of(const Job& job) {
  const std::string revision = operator_revision(job.operator_dir);
  if (revision.empty()) return {};
  const std::string folder = job.operator_dir + '\n' + revision;
  Keys keys;
  for (const CaseRequest& one : job.cases) {
    std::string key = folder + '\n' + one.id + '\n' + one.dtype + '\n' + one.distribution;
    for (const auto& [axis, extent] : one.axes) key += '\n' + axis + '=' + std::to_string(extent);
    keys.push_back(std::move(key));
  }
  return keys;
}

Result<PreparedJob> CaseDescriber::describe(const Job& job, const Deadline& deadline) {
  const Keys keys = keys_of(job);
  if (std::optional<PreparedJob> known = find(keys, Kind::any)) return std::move(*known);
  Result<PreparedJob> described = judge_.describe(job, deadline);
  if (described) keep(keys, *described);
  return described;
}

Result<std::optional<PreparedJob>> CaseDescriber::describe_without_inputs(
    const Job& job, const Deadline& deadline) {
  const Keys keys = keys_of(job);
  if (std::optional<PreparedJob> known = find(keys, Kind::fixed)) return known;
  Result<std::optional<PreparedJob>> described = judge_.describe_without_inputs(job, deadline);
  if (described && *described) keep(keys, **described);
  return described;
}

std::optional<PreparedJob> CaseDescriber::values_of_earlier_job(const Job& job) {
  return find(keys_of(job), Kind::any);
}

void CaseDescriber::learn(const Keys& keys, const Job& job, const PreparedJob& prepared) {
  if (!job.input_seed.empty()) return;  // other jobs of the group have the same inputs
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (job.cases[i].hidden) continue;
    PreparedCase one = prepared.cases[i];
    one.device.reset();
    for (Argument& argument : one.arguments) {
      if (std::find(one.structural.begin(), one.structural.end(), argument.name) ==
          one.structural.end())
        argument.fd.reset();
    }
    keep(keys[i], std::move(one), prepared.fds);
  }
}

std::size_t CaseDescriber::Known::value_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, contents] : values) bytes += contents.size();
  return bytes;
}

std::optional<PreparedJob> CaseDescriber::find(const Keys& keys, Kind kind) {
  if (keys.empty()) return std::nullopt;
  const MutexLock lock(mutex_);
  PreparedJob job;
  for (const std::string& key : keys) {
    const auto found = known_.find(key);
    if (found == known_.end()) return std::nullopt;
    const Known& known = found->second;
    if (!known.description.fixed && (kind == Kind::fixed || known.jobs_left <= 0))
      return std::nullopt;
    if (!add(job, known.description, known.values)) return std::nullopt;
  }
  for (const std::string& key : keys) {
    Known& known = known_.at(key);
    if (!known.description.fixed) --known.jobs_left;
  }
  return job;
}

void CaseDescriber::keep(const Keys& keys, const PreparedJob& described) {
  for (std::size_t i = 0; i < keys.size(); ++i) keep(keys[i], described.cases[i], described.fds);
}

void CaseDescriber::keep(const std::string& key, PreparedCase one,
                         const std::vector<UniqueFd>& fds) {
  Known known;
  if (one.fixed) {
    one.seed.clear();
    for (Argument& argument : one.arguments) argument.fd.reset();
  } else {
    auto values = values_of(one, fds, kMaxValueBytes);
    if (!values) return;
    known.values = std::move(*values);
  }
  known.description = std::move(one);
  const MutexLock lock(mutex_);
  const auto [at, is_new] = known_.try_emplace(key);
  if (is_new) order_.push_back(key);
  value_bytes_ += known.value_bytes();
  value_bytes_ -= at->second.value_bytes();
  at->second = std::move(known);
  while (order_.size() > kMaxCases || value_bytes_ > kMaxValueBytes) remove_oldest();
}

void CaseDescriber::remove_oldest() {
  const auto oldest = known_.find(order_.front());
  value_bytes_ -= oldest->second.value_bytes();
  known_.erase(oldest);
  order_.pop_front();
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
