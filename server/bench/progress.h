// What a bench shows while it works, on stderr: a line for each attempt that is over, and on a
// terminal a bar below them with what is done, what it cost, and an estimate of the time and money
// that remain. Thread-safe.
//
// Estimates are made pair by pair (agents and models differ by orders of magnitude) from every
// attempt that is over, also from those that an earlier part of the bench finished: a resumed bench
// knows from its start how long it will take.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/report/model/label.h"

namespace assay::server {

/// The attempts of one agent with one model.
struct ProgressGroup {
  std::size_t total = 0, done = 0, good = 0;  // good: passed
  bool priced = false;                        // what it costs is known
  double cost_usd = 0;                        // of those that are done
  std::size_t timed =
      0;  // of those that are done, how many have a time, and the sum of these times
  double wall_s = 0;
};

class BenchProgress {
 public:
  /// `jobs`: attempts at once.
  BenchProgress(std::FILE* stream, bool terminal, std::vector<ProgressGroup> groups,
                std::int64_t jobs);
  ~BenchProgress();
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  /// `task` is what a line is about: an operator, with its sample, agent and model when there are
  /// several.
  void step(const std::string& task, const std::string& what);
  /// `cost_usd` absent: not known, and from then on no cost of its group is estimated.
  void finished(std::size_t group, const std::string& task, Label label,
                const std::string& explanation, std::optional<double> cost_usd, double wall_s);
  void unfinished(const std::string& task, const std::string& why);

 private:
  void clear_bar();
  void draw_bar();
  void print(const std::string& line);

  std::FILE* const stream_;
  const bool terminal_;
  const std::int64_t jobs_;
  std::mutex mutex_;
  std::vector<ProgressGroup> groups_;
  std::map<std::string, std::string> running_;  // task -> step
  std::size_t name_column_ = 22;  // grows with the names: several agents and models make them long
};

/// "41 s", "3 min 20 s", "2 h 5 min"
std::string duration_text(double seconds);

/// "41 s left, $0.12 of about $0.30"; empty while nothing is known.
std::string estimate_text(const std::vector<ProgressGroup>& groups, std::int64_t jobs);

/// "[#####-----] 7/16, 4 pass, 41 s left, $0.12 of about $0.30"
std::string progress_text(const std::vector<ProgressGroup>& groups, std::int64_t jobs);

}  // namespace assay::server
