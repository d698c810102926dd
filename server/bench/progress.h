// Shows the progress of a bench on stderr. It prints a line for each finished attempt. On a
// terminal, it also draws a bar below these lines with the number of finished attempts, their cost,
// and an estimate of the remaining time and cost. Thread-safe.
//
// Each pair of an agent and a model has a separate estimate, because agents and models differ by
// orders of magnitude. The estimate uses all finished attempts, including those from before the
// bench was resumed. So a resumed bench has an estimate from its start.
//
//   BenchProgress progress(stderr, terminal, groups, jobs, 22);
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

/// The progress of one pair of agent and model.
struct ProgressGroup {
  /// The numbers of all attempts (`total`), of finished attempts (`done`) and of passed attempts
  /// (`good`).
  std::size_t total = 0, done = 0, good = 0;
  bool priced = false;               // true: the cost is known
  double cost_usd = 0;               // the sum over the finished attempts
  std::vector<double> walls_s = {};  // the times of the finished attempts, in seconds, if known
};

/// The number of timed attempts from which on the remaining time is estimated. The first attempts
/// also wait for the sandbox to start, so an estimate from one of them would be far too high.
inline constexpr std::size_t kLeastTimed = 3;
/// An attempt that took longer than this multiple of the median counts as this multiple. So one
/// long attempt, such as one that waited for an endpoint, does not change the estimate much.
inline constexpr double kMostMedians = 4;

class BenchProgress {
 public:
  /// `jobs` is the number of attempts that run simultaneously. `name_width` is the width of the
  /// longest name of an attempt, so that the columns stay where they are.
  BenchProgress(std::FILE* stream, bool terminal, std::vector<ProgressGroup> groups,
                std::int64_t jobs, std::size_t name_width);
  ~BenchProgress();
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  /// Shows the step that an attempt has reached. `task` is the attempt's name, which begins with
  /// the operator's name. If the bench has several samples, `task` also names the sample. If it has
  /// several pairs of an agent and a model, `task` also names both.
  void step(const std::string& task, const std::string& what);
  /// Shows that a model's endpoint is asked again, and why. Without a terminal, prints a line.
  void notice(const std::string& task, const std::string& text);
  /// Counts a finished attempt and prints its line. If `cost_usd` is absent, the cost is unknown.
  /// From then on, the group has no estimate of its cost.
  void finished(std::size_t group, const std::string& task, report::Label label,
                const std::string& explanation, std::optional<double> cost_usd, double wall_s);
  /// Prints a line for an attempt that ended without a result. `why` is the reason.
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
  // Maps the task of each running attempt to its current step.
  std::map<std::string, std::string> running_ ASSAY_GUARDED_BY(mutex_);
  const std::size_t name_column_;
};

/// Returns a duration as text, such as "41 s", "3 min 20 s" or "2 h 5 min".
std::string seconds_text(double seconds);

/// Returns text such as "41 s left, $0.12 of about $0.30". Returns "" as long as no attempt is
/// finished.
std::string estimate_text(const std::vector<ProgressGroup>& groups, std::int64_t jobs);

/// Returns text such as "[#####-----] 7/16, 4 pass, 41 s left, $0.12 of about $0.30".
std::string progress_text(const std::vector<ProgressGroup>& groups, std::int64_t jobs);

}  // namespace assay::bench
