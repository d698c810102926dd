// Shows the progress of a bench on stderr: a line for each finished attempt, and on a terminal a
// bar below with the finished attempts, their cost, and an estimate of the remaining time and
// money. Thread-safe.
//
// Each pair has an estimate of its own, because agents and models differ by orders of magnitude.
// The estimate uses all finished attempts, also those of earlier parts of the bench. So a resumed
// bench has an estimate from its start.
//
//   BenchProgress progress(stderr, terminal, groups, jobs);
//   progress.step("vector_add", "submit");
//   progress.finished(0, "vector_add", report::Label::pass, "all cases", 0.012, 5.2);
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "server/report/model/label.h"

namespace assay::bench {

/// The progress of one agent with one model.
struct ProgressGroup {
  std::size_t total = 0, done = 0, good = 0;  // attempts: all, finished, passed
  bool priced = false;                        // the cost is known
  double cost_usd = 0;                        // sum over the finished attempts
  std::size_t timed = 0;                      // finished attempts that have a time
  double wall_s = 0;                          // sum of these times
};

class BenchProgress {
 public:
  /// `jobs` is the number of attempts that run at once.
  BenchProgress(std::FILE* stream, bool terminal, std::vector<ProgressGroup> groups,
                std::int64_t jobs);
  ~BenchProgress();
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  /// Shows the step that an attempt has reached. `task` is the attempt's name: its operator, with
  /// sample, agent and model if there are several.
  void step(const std::string& task, const std::string& what);
  /// Counts an attempt and prints its line. If `cost_usd` is absent, the cost is not known; from
  /// then on the group has no estimate of its cost.
  void finished(std::size_t group, const std::string& task, report::Label label,
                const std::string& explanation, std::optional<double> cost_usd, double wall_s);
  /// Prints a line for an attempt that ended without a result.
  void unfinished(const std::string& task, const std::string& why);

 private:
  void clear_bar() ASSAY_REQUIRES(mutex_);
  void draw_bar() ASSAY_REQUIRES(mutex_);
  void print(const std::string& line) ASSAY_REQUIRES(mutex_);

  std::FILE* const stream_;
  const bool terminal_;
  const std::int64_t jobs_;
  Mutex mutex_;
  std::vector<ProgressGroup> groups_ ASSAY_GUARDED_BY(mutex_);
  std::map<std::string, std::string> running_ ASSAY_GUARDED_BY(mutex_);  // task -> step
  /// The width of the longest name so far. Several agents and models make names long.
  std::size_t name_column_ ASSAY_GUARDED_BY(mutex_) = 22;
};

/// Returns "41 s", "3 min 20 s" or "2 h 5 min".
std::string seconds_text(double seconds);

/// Returns "41 s left, $0.12 of about $0.30", or "" until an attempt is finished.
std::string estimate_text(const std::vector<ProgressGroup>& groups, std::int64_t jobs);

/// Returns "[#####-----] 7/16, 4 pass, 41 s left, $0.12 of about $0.30".
std::string progress_text(const std::vector<ProgressGroup>& groups, std::int64_t jobs);

}  // namespace assay::bench
