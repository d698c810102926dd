// Implements the functions of TimingSession that decide whether measured times can be trusted.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sandbox/job/verdict_builder.h"
#include "sandbox/judging/judging.h"
#include "sandbox/timing/timing_session.h"

namespace assay::sandbox {
namespace {

// A submission fails if its median time for a case is below this share of Floor::possible_ns, which
// is the shortest time that the device's peak rates allow.
constexpr double kFloorTolerance = 0.95;

// The pause before each attempt to time the oracle after a submission whose times contradict each
// other. Such a submission may have heated the GPU. While a GPU cools, its clock changes. Without
// the pause, the oracle's times could therefore contradict each other too, although no other
// program uses the GPU.
constexpr auto kCoolDown = std::chrono::milliseconds(300);

}  // namespace

TimingDoubt TimingSession::doubt(const Timing& timing, const Launched& launched) const {
  std::int64_t launches = launched.moves;
  for (const KernelUse& kernel : launched.kernels) launches += kernel.launches;
  return doubt_about(timing, {.simulated = parts_.simulated,
                              .launches = launches,
                              .peak_mhz = static_cast<double>(parts_.facts.clock_khz) / 1e3});
}

bool TimingSession::must_begin_again(TimingDoubt doubt, int attempt) {
  begins_again_ = may_begin_again_ && !distrusted_ && wants_fresh_samples_only(doubt, attempt);
  return begins_again_;
}

bool TimingSession::baseline_is_trusted(std::size_t case_index, const TimedBlock& block) {
  return pytorch_is_baseline() ? pytorch_is_trusted(case_index)
                               : oracle_is_trusted(case_index, block);
}

/// Times at most kClockTries + 1 blocks of PyTorch. Their times have neither a clock nor a time by
/// the host, so a block is compared with the block before it.
bool TimingSession::pytorch_is_trusted(std::size_t case_index) {
  std::vector<double> earlier;
  for (int i = 0; i <= kClockTries; ++i) {
    system_clock().pause(kCoolDown);
    std::vector<double> block;
    time_pytorch(case_index, block);
    if (block.empty()) return false;
    if (!earlier.empty() && blocks_agree(earlier, block)) return true;
    earlier = std::move(block);
  }
  return false;
}

/// Times at most kClockTries blocks of the oracle. Returns true as soon as the times of one block
/// do not contradict each other.
/// Fresh samples that are slower than others say something about the oracle's instructions, not
/// about other programs. So the next block has fresh samples only.
bool TimingSession::oracle_is_trusted(std::size_t case_index, TimedBlock block) {
  if (oracle_plans_.empty()) return false;
  for (int i = 0; i < kClockTries && !auxiliary_.failed(); ++i) {
    system_clock().pause(kCoolDown);
    const std::optional<Launched> launched = oracle_->launch(
        {prepared_, case_index, oracle_plans_[case_index], outputs_[case_index].get()},
        {.time = block, .returns_outputs = false});
    if (!launched) continue;
    const TimingDoubt doubted = doubt(timing_of(*launched->samples), *launched);
    if (doubted == TimingDoubt::none) return true;
    block.all_fresh = block.all_fresh || doubted == TimingDoubt::fresh_above_cold;
  }
  return false;
}

void TimingSession::distrust(std::size_t case_index, const std::string& why) {
  distrusted_ = true;
  const std::string& id = prepared_.cases[case_index].id;
  add_hint(run_.verdict(),
           {HintKind::times_not_trusted, id, "case '" + id + "' has no time: " + why});
}

bool TimingSession::has_no_kept_answers(CaseRecord& record) {
  if (!record.latency || !first_runs_are_slow(*record.latency)) return true;
  const auto ns = [](double value) { return std::to_string(std::llround(value)) + " ns"; };
  not_its_work(run_.verdict(), record,
               "the first run on new inputs takes " + ns(record.latency->first_run_ns) +
                   ", later runs on the same inputs " + ns(record.latency->median_ns) +
                   ": later runs use what an earlier run left behind");
  return false;
}

bool TimingSession::above_floor(CaseRecord& record) {
  const std::optional<Floor> floor =
      physics_floor(parts_.facts, record.cost_bytes, record.cost_flops);
  if (!floor || !record.latency) return true;
  record.floor_ns = floor->expected_ns;
  // The cost of a check is a guess: a kernel may need to read only a part of its arguments.
  if (run_.job().reference) return true;
  if (record.latency->median_ns >= kFloorTolerance * floor->possible_ns) return true;
  record.outcome = Outcome::fail;
  record.reason = "it took " + std::to_string(record.latency->median_ns) + " ns, below the " +
                  std::to_string(floor->possible_ns) + " ns that its work needs";
  run_.verdict().error_kind = ErrorKind::floor_violation;
  run_.verdict().outcome = Outcome::fail;
  return false;
}

}  // namespace assay::sandbox
