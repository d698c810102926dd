// The journal of a bench: what it is and which attempts are over, one JSON object a line, appended and synced as they end. After kill -9
// it is the truth about what need not be repeated.
//
//   {"kind":"bench","format":1,"agent":"one_shot","model":"openai:gpt-5","suite":"all","samples":2,"device":"cuda:0","server":"","store":"..."}
//   {"kind":"run","sample":1,"run":"run_...","operators":["vector_add",...]}
//   {"kind":"finished","sample":1,"operator":"vector_add","outcome":"pass",...}
//
// Thread-safe after open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "reference_agents/agent/attempt.h"
#include "reference_agents/agent/run.h"

namespace assay::server {

/// What must be the same when a bench is resumed.
struct BenchIdentity {
  std::string agent, model, suite, device, server, store;
  std::int64_t samples = 1;
};

class BenchJournal {
 public:
  /// `directory` is made when it is missing. With `resume` an earlier journal there is read, and must be of the same bench; without, there
  /// must be none that ever opened a run (invalid_argument either way).
  static Result<std::unique_ptr<BenchJournal>> open(const std::filesystem::path& directory, const BenchIdentity& identity, bool resume);

  /// The run of a sample (from 1), when an earlier part of the bench opened it.
  const agents::RunHandle* run_of(std::int64_t sample) const;
  bool is_finished(std::int64_t sample, const std::string& operator_name) const;
  /// Attempts that an earlier part of the bench finished.
  std::size_t finished_before() const { return finished_.size(); }
  /// What those attempts cost.
  double spent_before_usd() const { return spent_before_usd_; }

  Status add_run(std::int64_t sample, const agents::RunHandle& run);
  Status add_finished(std::int64_t sample, const std::string& operator_name, const agents::Attempt& attempt);

 private:
  explicit BenchJournal(std::string path) : path_(std::move(path)) {}
  Status load(const BenchIdentity& identity, bool resume);
  /// Bytes of the whole lines.
  Result<std::size_t> read(const BenchIdentity& identity, bool resume);
  Status append(const std::string& line);

  const std::string path_;
  UniqueFd fd_;
  std::mutex mutex_;
  std::map<std::int64_t, agents::RunHandle> runs_;
  std::set<std::pair<std::int64_t, std::string>> finished_;
  double spent_before_usd_ = 0;
};

}  // namespace assay::server
