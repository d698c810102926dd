#include "sandbox/record/recording_cache.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "base/handle.h"

namespace assay::sandbox {
namespace {

constexpr std::size_t kKeptKeys = 2;  // the number of copies of a key: in the map and in the order
constexpr std::size_t kKeyBytes = 64 + sizeof(std::string);  // a key is a SHA-256 in hexadecimal

/// Returns the size of a result in bytes. It counts every list and text, because the candidate
/// decides how long they are.
std::int64_t size_of(const CaseDone& done) {
  std::size_t bytes = sizeof done + done.id.size() + done.plan.size() + kKeptKeys * kKeyBytes;
  for (const KernelReport& kernel : done.kernels) {
    bytes += sizeof kernel + kernel.grid.size() * sizeof(std::int64_t);
    for (const std::string* text :
         {&kernel.name, &kernel.symbol, &kernel.target, &kernel.occupancy_limiter})
      bytes += text->size();
  }
  return static_cast<std::int64_t>(bytes);
}

/// Joins values into one text. Each value is preceded by its length, so that different lists of
/// values always give different texts.
class KeyText {
 public:
  void add(const std::string& value) { text_ += std::to_string(value.size()) + ':' + value; }
  void add(std::int64_t value) { add(std::to_string(value)); }
  template <class Value>
  void add(const std::vector<Value>& values) {
    add(static_cast<std::int64_t>(values.size()));
    for (const Value& value : values) add(value);
  }
  void add(const Argument& argument) {
    add(argument.name);
    add(argument.dtype);
    add(argument.shape);
    add(argument.strides);
    add(argument.scalar_type);
    if (!argument.is_tensor) std::visit([this](auto value) { add_scalar(value); }, argument.value);
  }
  void add(const PreparedOutput& output) {
    add(output.name);
    add(output.dtype);
    add(output.shape);
    add(output.from);
  }
  const std::string& text() const { return text_; }

 private:
  void add_scalar(double value) { add(std::bit_cast<std::int64_t>(value)); }
  void add_scalar(std::int64_t value) { add(value); }
  void add_scalar(bool value) { add(std::int64_t{value}); }

  std::string text_;
};

}  // namespace

std::optional<std::string> RecordingCache::key(const Inputs& inputs) {
  const PreparedCase& prepared = inputs.prepared;
  if (!prepared.structural.empty()) return std::nullopt;
  KeyText key;
  for (const std::string* field : {&inputs.source, &inputs.job.entry, &inputs.job.adapter,
                                   &inputs.job.dialect, &inputs.target})
    key.add(*field);
  key.add(std::string(inputs.language));
  // All clients share the recordings of an oracle. They do not share those of their own sources: a
  // client could otherwise find out by the time of a job whether another one has sent a source.
  key.add(inputs.source == inputs.job.source ? inputs.job.caller : std::string());
  key.add(prepared.arguments);
  key.add(prepared.inout);
  key.add(static_cast<std::int64_t>(prepared.outputs.size()));
  for (const PreparedOutput& output : prepared.outputs) key.add(output);
  key.add(static_cast<std::int64_t>(prepared.axes.size()));
  for (const auto& [name, extent] : prepared.axes) {
    key.add(name);
    key.add(extent);
  }
  key.add(std::int64_t{inputs.alternatives});
  key.add(std::int64_t{is_hidden(inputs.job, prepared.id)});
  return sha256_hex(key.text());
}

std::optional<CaseDone> RecordingCache::find(const std::string& key) const {
  const MutexLock lock(mutex_);
  const auto found = known_.find(key);
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

void RecordingCache::put(const std::string& key, CaseDone done) {
  done.outputs.clear();  // outputs are not a part of a recording
  const MutexLock lock(mutex_);
  const std::int64_t size = size_of(done);
  if (size > max_bytes_ || known_.count(key) > 0) return;
  bytes_ += size;
  known_.emplace(key, std::move(done));
  order_.push_back(key);
  while (bytes_ > max_bytes_) {
    const auto oldest = known_.find(order_.front());
    bytes_ -= size_of(oldest->second);
    known_.erase(oldest);
    order_.pop_front();
  }
}

std::int64_t RecordingCache::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_;
}

std::optional<CaseDone> RecordingCache::find_kept(const std::string& key, const PoolFacts* facts) {
  std::optional<CaseDone> known = find(key);
  if (known || folder_ == nullptr || facts == nullptr) return known;
  known = folder_->find(key, *facts);
  if (known) put(key, *known);
  return known;
}

std::optional<CandidateResults> RecordingCache::record(JobExecution& run, CandidatePool& pool,
                                                       const RecordRequest& request) {
  const RecordOptions& options = request.options;
  std::optional<PoolFacts> facts = pool.facts();
  CandidateResults all;
  all.cases.resize(request.cases.size());
  std::vector<std::optional<std::string>> keys;
  // Indices into request.cases of the cases that are not in the cache.
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < request.cases.size(); ++i) {
    const PreparedCase& one = request.prepared.cases[request.cases[i]];
    keys.push_back(key({.job = run.job(),
                        .source = request.source,
                        .target = request.target,
                        .prepared = one,
                        .alternatives = options.alternatives,
                        .language = options.language}));
    std::optional<CaseDone> known = keys[i] && !options.artifacts
                                        ? find_kept(*keys[i], facts ? &*facts : nullptr)
                                        : std::nullopt;
    if (!known) {
      unknown.push_back(i);
      continue;
    }
    all.cases[i] = std::move(*known);
    all.cases[i].id = one.id;
  }
  std::vector<std::size_t> open;  // indices into request.cases of the public cases
  for (std::size_t i = 0; i < request.cases.size(); ++i) {
    if (!is_hidden(run.job(), request.prepared.cases[request.cases[i]].id)) open.push_back(i);
  }
  const bool asks = options.before_hidden && open.size() < request.cases.size();
  bool asked = false;
  RecordRequest missing = request;
  missing.cases.clear();
  for (const std::size_t i : unknown) missing.cases.push_back(request.cases[i]);
  // The caller's before_hidden() needs the results of all public cases, including the results in
  // the cache.
  missing.options.before_hidden = [&](const std::vector<CaseDone>& recorded) {
    std::vector<CaseDone> results;
    auto next = recorded.begin();
    for (const std::size_t i : open)
      results.push_back(std::find(unknown.begin(), unknown.end(), i) == unknown.end() ? all.cases[i]
                                                                                      : *next++);
    asked = true;
    return !asks || options.before_hidden(results);
  };
  std::optional<CandidateResults> recorded;
  if (!unknown.empty()) {
    recorded = record_cases(run, pool, missing);
    if (!recorded) return std::nullopt;
  }
  if (asks && !asked) {  // every hidden case is in the cache
    std::vector<CaseDone> fresh;
    for (std::size_t i = 0; i < unknown.size(); ++i) fresh.push_back(recorded->cases[i]);
    if (!missing.options.before_hidden(fresh)) return std::nullopt;
  }
  if (unknown.empty()) return all;
  const bool silent = run.verdict().stdout_text.empty() && run.verdict().stderr_text.empty();
  facts = pool.facts();  // now a candidate has reported them
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    CaseDone& done = recorded->cases[i];
    if (const std::optional<std::string>& one = keys[unknown[i]]; silent && one) {
      if (folder_ != nullptr && facts && done.left_out == 0) folder_->put(*one, *facts, done);
      put(*one, done);
    }
    all.cases[unknown[i]] = std::move(done);
  }
  all.artifacts = std::move(recorded->artifacts);
  return all;
}

}  // namespace assay::sandbox
