// TimingSession: a submission, its oracle and PyTorch in one series per case, so that whatever
// drifts hits all alike.
//
//   Measuring measuring(run, {judge, launchers, facts, known}, prepared, outputs, baseline_plans);
//   bool measured = measuring.measure(&session, plans);      // latencies are in the verdict's
//   cases; false: the verdict says why not
//
// A series is rounds; in each round, in random order, one block of samples of each. In a
// submission's block, between warm-up and samples, the judge puts new inputs in place, where it
// can: so the block's first sample is the first run on its inputs, and one that is slow beside the
// others tells of answers that are kept from run to run. After the block the judge compares the
// outputs of one of its samples, drawn at random when the block was over. The series ends when the
// medians are known well enough. The caller has the GPU alone.
//
// A profile is advice: it takes the times of oracle and PyTorch that were measured minutes ago,
// where there are such, and the answers of its first block alone are compared. A grade times the
// oracle beside the submission, always; PyTorch's time, by which nothing is ranked, it takes over
// from a grade minutes ago, but not from a profile: who profiles until the times suit him would
// choose what he is graded by.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/median.h"
#include "sandbox/launch/launching.h"
#include "sandbox/timing/baseline_cache.h"

namespace assay::sandbox {

/// Whether the host saw at least as long as the device says, within a tenth. Another program's
/// turns on the GPU in the middle of most samples make them too long, and the host's own few not.
/// True for a simulated device, whose times are made up.
bool clocks_agree(const Timing& block);

/// For each case whether a job that takes times takes its: those that the job names, else those
/// worth it (sandbox/job/timed_cases.h).
std::vector<bool> cases_to_time(const Job& job, const PreparedJob& prepared);

/// Whether more samples would tell little more of a median: its 95 % interval is narrow, or as
/// narrow as the device's timer can show.
bool known_well_enough(const MedianInterval& interval);

/// Whether first runs on new inputs take longer than later ones on the same: by more than
/// kFirstRunFactor and kFirstRunSlackNs. False where they are not known.
bool first_runs_are_slow(const Timing& timing);

/// While they are, takes blocks more, kConfirmingBlocks at most: what is noise in three first runs
/// is not in nineteen. False where a block could not be taken.
inline constexpr int kConfirmingBlocks = 16;
bool confirm_first_runs(const std::function<Timing()>& timing,
                        const std::function<bool()>& take_block);

/// What one job's measuring leaves to the next one's, of one GPU. Thread-safe.
struct MeasurementCache {
  BaselineCache baselines;  // for profiles
  BaselineCache graded;  // PyTorch's times, as grades took them, for grades: whoever profiles has
                         // no say in them
  std::atomic<std::chrono::steady_clock::time_point> timed_at{
      std::chrono::steady_clock::time_point::min()};  // when a series last ended
};

class TimingSession {
 public:
  struct Parts {
    Judge& judge;
    LauncherPool& launchers;
    const LauncherDevice& facts;
    MeasurementCache& known;
  };
  /// `baseline`: the oracle's plans; empty when there is none.
  TimingSession(JobExecution& run, Parts parts, const PreparedJob& prepared,
                const std::vector<UniqueFd>& outputs, std::vector<std::string> baseline);
  ~TimingSession();
  TimingSession(const TimingSession&) = delete;
  TimingSession& operator=(const TimingSession&) = delete;

  /// `session` null: the submission's latencies are known already (host tier), and only the others
  /// are measured.
  bool measure(LaunchSession* session, const std::vector<std::string>& plans);

 private:
  class Samples;
  bool measure_case(std::size_t i, LaunchSession* session, const std::string& plan);
  /// What need not be timed again.
  BaselineTimes known_times(const std::string& key) const;
  void remember(const std::string& key, const BaselineTimes& measured);
  TimedBlock next_block(bool first) const;
  /// The seed of the new inputs, empty when they stay; nothing: the verdict says why.
  std::optional<std::string> refresh(std::size_t i);
  bool kept_nothing(CaseRecord& record);
  bool time_submission(std::size_t case_index, LaunchSession& session, const std::string& plan,
                       const TimedBlock& block, Samples& into);
  bool oracle_clocks_agree(std::size_t case_index, const TimedBlock& block);
  void inspected(CaseRecord& record, Launched& launched);
  void time_oracle(std::size_t case_index, const TimedBlock& block, Samples& into);
  void time_pytorch(std::size_t i, std::vector<double>& into);
  bool rechecks(bool first_block) const {
    return first_block || run_.job().kind != JobKind::profile;
  }
  bool still_right(CaseRecord& record, const Launched& launched, int output);
  bool above_floor(CaseRecord& record);

  JobExecution& run_;
  Parts parts_;
  const PreparedJob& prepared_;
  const std::vector<UniqueFd>& outputs_;
  const std::vector<std::string> baseline_;
  JobExecution beside_;  // what becomes of the oracle is no matter of the submission's
  LaunchSession oracle_;
  std::mt19937 random_;
  const std::vector<bool> timed_;  // by case
  bool warm_;                      // the device was at work just now
};

}  // namespace assay::sandbox
