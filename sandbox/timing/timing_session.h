// TimingSession times a submission, its oracle and PyTorch in one series per case, so that a drift
// of the GPU's clocks affects all of them alike.
//
//   TimingSession session(run, {judge, launchers, facts, known}, prepared, outputs, oracle_plans);
//   if (!session.measure(&launches, plans)) return;  // the verdict of `run` has the error
//
// A series consists of rounds. Each round takes one block of samples of each of the three, in
// random order. In a block of the submission the judge puts new inputs in place between warm-up and
// samples, if it can. The first sample of the block is then the first run on its inputs. If that
// run is slower than the others, the submission keeps answers from run to run. After the block the
// judge compares the outputs of one sample, which is drawn at random when the block is over. The
// series ends when the medians are precise enough. The caller holds the GPU exclusively.
//
// The first block chooses the alternatives of an autotuned plan. After the series the plan is
// launched once more with these alternatives, compared and attributed, because earlier launches
// used the first alternatives. A time that contradicts another time is not ranked: the case then
// has no latency, and the verdict no Perf.
//
// A profile is advice: it reuses times of oracle and PyTorch that are minutes old, and the judge
// compares the outputs of its first block only. A grade always times the oracle beside the
// submission. It reuses PyTorch's time, which ranks nothing, from an earlier grade only. A grade
// never reuses a time that a profile measured: otherwise a client could repeat profiles until the
// reference is slow, and then submit. Belongs to the job's thread.
#pragma once

#include <atomic>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sandbox/launch/launching.h"
#include "sandbox/timing/baseline_cache.h"
#include "sandbox/timing/statistics.h"

namespace assay::sandbox {

/// Tells for each case whether it is timed: those that the job names, else the large ones
/// (sandbox/job/verdict_builder.h).
std::vector<bool> cases_to_time(const Job& job, const PreparedJob& prepared);

/// Earlier measurements that the jobs of one GPU reuse. Thread-safe.
struct MeasurementCache {
  BaselineCache baselines;  // for profiles
  BaselineCache graded;     // for grades: PyTorch's times, measured by grades
  /// The end of the last series, by the system's monotonic clock; far in the past before the first.
  std::atomic<std::int64_t> timed_at_ns{std::numeric_limits<std::int64_t>::min()};
};

class TimingSession {
 public:
  struct Parts {
    Judge& judge;
    LauncherPool& launchers;
    const DeviceFacts& facts;
    MeasurementCache& known;
    bool simulated = false;  // the device invents its times
  };
  /// `baseline` are the oracle's plans; empty when there is no oracle.
  TimingSession(JobExecution& run, Parts parts, const PreparedJob& prepared,
                const std::vector<UniqueFd>& outputs, std::vector<std::string> baseline);
  ~TimingSession();
  TimingSession(const TimingSession&) = delete;
  TimingSession& operator=(const TimingSession&) = delete;

  /// Measures every timed case and writes the latencies into the verdict's records. A null
  /// `session` means that the submission's latencies are known (host tier): then only oracle and
  /// PyTorch are timed. Returns false when the verdict has become an error.
  bool measure(LaunchSession* session, const std::vector<std::string>& plans);

 private:
  bool measure_case(std::size_t i, LaunchSession* session, const std::string& plan);
  /// Returns the times that are reused.
  BaselineTimes known_times(const std::string& key) const;
  void remember(const std::string& key, const BaselineTimes& measured);
  TimedBlock next_block(bool first) const;
  /// Has the judge make new inputs and returns their seed; an empty seed when the inputs stay.
  /// Returns nothing when the verdict has become an error.
  std::optional<std::string> refresh(std::size_t i);
  bool has_no_kept_answers(CaseRecord& record);
  bool time_submission(std::size_t case_index, LaunchSession& session, const std::string& plan,
                       const TimedBlock& block, Samples& into);
  TimingDoubt doubt(const Timing& timing, const Launched& launched) const;
  bool oracle_is_trusted(std::size_t case_index, const TimedBlock& block);
  /// Ends the timing of the submission without a Perf.
  void distrust(std::size_t case_index, const std::string& why);
  bool watch_ranked(std::size_t case_index, LaunchSession& session, const std::string& plan,
                    const std::vector<std::int64_t>& chosen);
  void add_inspection(CaseRecord& record, Launched& launched);
  void time_oracle(std::size_t case_index, const TimedBlock& block, Samples& into);
  void time_pytorch(std::size_t i, std::vector<double>& into);
  bool rechecks(bool first_block) const {
    return first_block || run_.job().kind != JobKind::profile;
  }
  /// Compares the outputs of a launch. `when` completes the reason if they are wrong.
  bool still_right(CaseRecord& record, const Launched& launched, int output, const char* when,
                   bool keep = false);
  bool above_floor(CaseRecord& record);

  JobExecution& run_;
  Parts parts_;
  const PreparedJob& prepared_;
  const std::vector<UniqueFd>& outputs_;
  const std::vector<std::string> baseline_;
  JobExecution auxiliary_;  // of the oracle: its errors are not the submission's
  LaunchSession oracle_;
  std::mt19937 random_;
  const std::vector<bool> timed_;  // by case
  bool warm_;                      // the GPU's clocks are high from recent work
  // Of the case that is being measured:
  bool distrusted_ = false;        // the submission's times must not be ranked
  double highest_oracle_mhz_ = 0;  // of the oracle's blocks; 0: no block yet
};

}  // namespace assay::sandbox
