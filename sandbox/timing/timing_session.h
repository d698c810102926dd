// TimingSession times a submission, its oracle and PyTorch together, in one series for each case.
// So a drift of the GPU's clocks affects all three times equally. The operator's baseline
// (base/baseline.h) is the oracle or PyTorch. If it is PyTorch, there is no oracle, and PyTorch is
// timed with the rules that follow for the oracle.
//
//   TimingSession session(run, {judge, launchers, facts, known}, prepared, outputs, oracle_plans);
//   if (!session.measure(&launches, plans)) return;  // the verdict of `run` has the error
//   if (!session.check_outputs(&launches, plans, locks)) return;  // `locks` are the job's
//
// A series consists of rounds. Each round takes one block of samples of each of the three subjects,
// in random order. In a block of the submission, the judge replaces the inputs by new inputs
// between warm-up and samples, if that is possible. The first sample of the block is then the first
// run on these inputs. If the first run is slower than the others, the submission keeps results
// from run to run. After the block, the judge copies the outputs of one sample, which is chosen at
// random when the block is over. The series ends when the medians are precise enough. The caller of
// measure() must hold the GPU exclusively.
//
// check_outputs() makes the judge compare these copies. Computing the references for the new inputs
// takes longer than copying, and other jobs can use the GPU meanwhile. No time counts before: the
// destructor removes the latencies of cases whose outputs were not judged, and no time of the job
// is kept for later jobs. Otherwise a client could send submissions that are wrong when they are
// timed until the oracle's time is one that it likes.
//
// The first block chooses the alternatives (autotuner configurations) of the plan. check_outputs()
// launches the plan once more with these alternatives, unless they are the first alternatives. The
// judge compares and attributes the outputs of this launch, because earlier launches used the first
// alternatives. If the times of a case contradict each other, the case has no latency, and the
// verdict has no Perf.
//
// A profile is only advice. It reuses times of the oracle and of PyTorch that are some minutes old,
// and the judge compares only the outputs of its first block. A grade times the oracle together
// with the submission. If a grade of the last minutes has timed the oracle too, one block is enough
// that shows that this time still holds (sandbox/timing/oracle_series.h). If PyTorch is not the
// baseline, a grade gets the shortest of PyTorch's times of the last grades, and measures it only
// if few have (sandbox/timing/pytorch_times.h). A grade never reuses a time that a profile
// measured. Otherwise a client could repeat profiles until PyTorch's time is long, and then submit.
// Use a session only on the job's thread.
#pragma once

#include <atomic>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sandbox/launch/launching.h"
#include "sandbox/timing/baseline_cache.h"
#include "sandbox/timing/pytorch_times.h"
#include "sandbox/timing/statistics.h"

namespace assay::sandbox {

/// Returns for each case whether it is timed (worth_timing() in sandbox/job/verdict_builder.h).
std::vector<bool> cases_to_time(const PreparedJob& prepared);

/// Earlier measurements that later jobs of one GPU reuse. Thread-safe.
struct MeasurementCache {
  BaselineCache baselines;  // used by profiles
  BaselineCache graded;     // used by grades: the oracle's times that grades measured
  PyTorchTimes pytorch;     // the same for PyTorch's times
  /// The end of the last series, by the system's monotonic clock. Before the first series, the
  /// value lies far in the past.
  std::atomic<std::int64_t> timed_at_ns{std::numeric_limits<std::int64_t>::min()};
};

class TimingSession {
 public:
  /// The minimum number of rounds if anything is timed together with the submission.
  static constexpr int kMinRounds = 3;

  struct Parts {
    Judge& judge;
    LauncherPool& launchers;
    const DeviceFacts& facts;
    MeasurementCache& known;
    bool simulated = false;  // true if the device invents its times
  };
  /// `oracle_plans` is empty if there is no oracle.
  TimingSession(JobExecution& run, Parts parts, const PreparedJob& prepared,
                const std::vector<UniqueFd>& outputs, std::vector<std::string> oracle_plans);
  ~TimingSession();
  TimingSession(const TimingSession&) = delete;
  TimingSession& operator=(const TimingSession&) = delete;

  /// Measures every timed case and writes the latencies into the verdict's records. If `session` is
  /// null, the submission's latencies are already known (host tier), and only the oracle and
  /// PyTorch are timed. Returns false if the verdict has become a fail or an error. If a launch of
  /// the submission lacked memory of the GPU, or if oracle_lacked_memory() is true, the caller may
  /// call this function a second time. It then first judges the outputs that are set aside, because
  /// they take memory.
  bool measure(LaunchSession* session, const std::vector<std::string>& plans);
  /// Returns true if the first call of measure() ended because a launch of the oracle lacked memory
  /// of the GPU.
  bool oracle_lacked_memory() const { return oracle_ && oracle_->device_was_full(); }
  /// Functions that lock the GPU, and return false if the verdict has become an error, and one that
  /// gives it back. It is given back after each comparison, so that a job that needs the GPU
  /// exclusively waits for one comparison at most.
  struct Locks {
    std::function<bool()> prepare;  // for a judge that computes references
    std::function<bool()> share;    // for a launch whose outputs are only checked
    std::function<void()> release;
  };
  /// Judges the outputs of timed samples, and whether the measured times are possible. The verdict
  /// must not count the times before. If all is right, keeps the times of the baseline and of
  /// PyTorch for later jobs. Returns false if the verdict has become a fail or an error.
  /// The caller need not hold the GPU. If a launch lacked memory of the GPU, the caller may call
  /// this function again.
  bool check_outputs(LaunchSession* session, const std::vector<std::string>& plans,
                     const Locks& locks);

 private:
  // The number of attempts to take a block whose times do not contradict each other
  // (doubt_about()). The times contradict each other, for example, if another program uses the GPU
  // during the block.
  static constexpr int kClockTries = 4;

  /// Measures a case. If its times are longer right after the launcher loaded its kernels again,
  /// measures it once more, with fresh samples only.
  bool measure_case(std::size_t i, LaunchSession* session, const std::string& plan);
  /// Measures one series. If begins_again_ is true afterwards, the series has no result.
  bool measure_series(std::size_t i, LaunchSession* session, const std::string& plan);
  /// Changes the record of a case whose timing has ended with an error of the submission, so that
  /// the verdict names this case.
  void blame(CaseRecord& record) const;
  /// Returns the cached times that this job may reuse.
  BaselineTimes known_times(const std::string& key) const;
  /// Returns the oracle's time from an earlier grade. It counts only if a new block confirms it.
  std::optional<Timing> earlier_grade(const std::string& key) const;
  /// Returns PyTorch's times from earlier grades, if this job may use them.
  PyTorchTimes::Known earlier_pytorch(const std::string& key) const;
  /// Keeps the times that this job found, for later jobs.
  void keep_for_later_jobs();
  /// Returns the rules of the next block of a subject. The series needs `rounds_left` more rounds,
  /// with this block.
  TimedBlock next_block(const Samples& so_far, int rounds_left) const;
  /// Makes the judge create new inputs, and returns their seed. Returns an empty seed if the inputs
  /// were not replaced. Returns nothing if the verdict has become an error.
  std::optional<std::string> refresh(std::size_t i);
  bool has_no_kept_answers(CaseRecord& record);
  bool time_submission(std::size_t case_index, LaunchSession& session, const std::string& plan,
                       const TimedBlock& block, Samples& into);
  TimingDoubt doubt(const Timing& timing, const Launched& launched) const;
  /// Decides after a doubt about a block whether the series has to begin again with fresh samples
  /// only. `attempt` counts from 0.
  bool must_begin_again(TimingDoubt doubt, int attempt);
  /// Returns true if the times of the baseline do not contradict each other, because then no other
  /// program disturbs the GPU.
  bool baseline_is_trusted(std::size_t case_index, const TimedBlock& block);
  bool oracle_is_trusted(std::size_t case_index, TimedBlock block);
  bool pytorch_is_trusted(std::size_t case_index);
  /// Stops timing the submission, which then has no Perf.
  void distrust(std::size_t case_index, const std::string& why);
  bool watch_ranked(std::size_t case_index, LaunchSession& session, const std::string& plan,
                    const std::vector<std::int64_t>& chosen);
  void add_inspection(CaseRecord& record, Launched& launched);
  void time_oracle(std::size_t case_index, const TimedBlock& block, Samples& into);
  void time_pytorch(std::size_t i, std::vector<double>& into);
  /// True if Perf compares with PyTorch's time. Then the same rules hold for this time as for an
  /// oracle's: no limit on its rounds, and no reuse in a grade.
  bool pytorch_is_baseline() const { return run_.job().baseline == Baseline::torch_eager; }
  /// True if this job may use times of earlier grades, and later grades its times.
  bool usable_by_grades() const {
    return run_.job().kind == JobKind::grade && !run_.job().reference;
  }
  bool rechecks(bool first_block) const {
    return first_block || run_.job().kind != JobKind::profile;
  }
  /// Makes the judge keep the outputs of a timed sample for check_outputs(). If it cannot, compares
  /// them at once.
  bool keep_outputs(std::size_t case_index, const Launched& launched);
  /// Judges the outputs of a case that are set aside. Returns false if one is wrong.
  bool judge_aside(std::size_t i, const Locks& locks);
  bool check_case(std::size_t i, LaunchSession* session, const std::string& plan,
                  const Locks& locks);
  bool ends_checks(const CaseRecord& record) const;
  /// Compares the outputs of a launch with the reference. If the outputs are wrong, adds `when` to
  /// the record's reason.
  bool still_right(CaseRecord& record, const Launched& launched, int output, const char* when,
                   bool keep = false);
  bool still_right(CaseRecord& record, const Result<Compared>& again, const char* when);
  bool above_floor(CaseRecord& record);

  JobExecution& run_;
  Parts parts_;
  const PreparedJob& prepared_;
  const std::vector<UniqueFd>& outputs_;
  const std::vector<std::string> oracle_plans_;
  // The execution that gets the oracle's errors, which must not become errors of the submission.
  JobExecution auxiliary_;
  std::optional<LaunchSession> oracle_;  // until measure() is done
  std::mt19937 random_;
  const std::vector<bool> timed_;  // one element for each case
  bool warm_;                      // true if the GPU's clocks are high because of recent work
  /// What was measured of one case, besides the submission.
  struct Found {
    std::string key;
    std::int64_t at_ns = 0;            // when, by the system's monotonic clock
    BaselineTimes times;               // for profiles
    bool confirmable = false;          // a later grade may confirm the baseline's time
    std::optional<double> pytorch_ns;  // for grades
  };
  // One element for each case: the number of samples whose outputs the judge has set aside, whether
  // it has judged all of them, the alternatives that were timed, and what later jobs may reuse.
  std::vector<int> aside_;
  int attempts_ = 0;  // calls of measure()
  std::vector<bool> are_judged_;
  std::vector<std::vector<std::int64_t>> chosen_;
  std::vector<std::optional<Found>> found_;
  // State of the case that is being measured:
  bool all_fresh_ = false;         // true if all samples of the series are fresh
  bool may_begin_again_ = false;   // true if it could have fresh samples only
  bool begins_again_ = false;      // true if the series must have fresh samples only
  bool distrusted_ = false;        // true if the submission's times must not count for Perf
  double highest_oracle_mhz_ = 0;  // highest clock of the oracle's blocks; 0 before the first block
};

}  // namespace assay::sandbox
