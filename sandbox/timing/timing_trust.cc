// Implements the functions of TimingSession that decide whether measured times can be trusted.
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sandbox/job/verdict_builder.h"
#include "sandbox/timing/timing_session.h"

namespace assay::sandbox {
namespace {

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
bool TimingSession::oracle_is_trusted(std::size_t case_index, const TimedBlock& block) {
  if (oracle_plans_.empty()) return false;
  for (int i = 0; i < kClockTries && !auxiliary_.failed(); ++i) {
    system_clock().pause(kCoolDown);
    const std::optional<Launched> launched = oracle_.launch(
        {prepared_, case_index, oracle_plans_[case_index], outputs_[case_index].get()},
        {.time = block});
    if (launched && doubt(timing_of(*launched->samples), *launched) == TimingDoubt::none)
      return true;
  }
  return false;
}

void TimingSession::distrust(std::size_t case_index, const std::string& why) {
  distrusted_ = true;
  const std::string& id = prepared_.cases[case_index].id;
  add_hint(run_.verdict(),
           {HintKind::times_not_trusted, id, "case '" + id + "' has no time: " + why});
}

}  // namespace assay::sandbox
