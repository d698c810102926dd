// The parts of GpuJob that wait for a judge and for the GPU, and that make inputs and references.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sandbox/gpu/gpu_job.h"
#include "sandbox/judging/judging.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kSettleMs = 30'000;  // time limit for a judge to finish its work

}  // namespace

bool GpuJob::lock(Mode mode) {
  if (holds(mode)) return true;
  release_gpu();
  run_.enter(Stage::queue);
  if (turn_) {
    if (Status reserved = turn_->reserve(run_.deadline(kForeverMs)); !reserved)
      return run_.fail_infrastructure(reserved.error(), "waiting for a judge");
  }
  Result<GpuScheduler::Guard> guard = gpu_.scheduler.lock(mode, run_.deadline(kForeverMs));
  if (!guard) return run_.fail_infrastructure(guard.error(), "waiting for the GPU");
  guard_.emplace(std::move(*guard));
  locked_at_ns_ = system_clock().monotonic_ns();
  return true;
}

void GpuJob::release_gpu() {
  if (holds(Mode::exclusive) || holds(Mode::host)) {
    std::optional<double>& alone_ms = run_.verdict().gpu_alone_ms;
    const std::int64_t held_ns = system_clock().monotonic_ns() - locked_at_ns_;
    alone_ms = alone_ms.value_or(0) + static_cast<double>(held_ns) / kNsPerMs;
  }
  guard_.reset();
}

void GpuJob::unlock() {
  release_gpu();
  if (turn_) turn_->end_reservation();
}

/// While this job has the lock, no other job starts new work on the GPU. But a judge may still be
/// computing references for a job that has released the lock.
bool GpuJob::lock_idle_gpu() {
  if (!lock(Mode::exclusive)) return false;
  const Status idle = gpu_.judges.settle(run_.job().id, run_.deadline(kSettleMs));
  if (!idle)
    return run_.fail_infrastructure(idle.error(), "waiting for the judge to be done with the GPU");
  return true;
}

bool GpuJob::prepare() {
  if (judge_ != nullptr) return true;
  if (own_judge_) return prepare_by(*own_judge_);
  run_.enter(Stage::queue);
  if (alone_ == nullptr) {
    Result<JudgeQueue::Turn> turn =
        gpu_.judges_of(run_.job())
            .queue.wait_for_judge({run_.job().operator_name, run_.job().shared_code},
                                  run_.deadline(kForeverMs));
    if (!turn) return run_.fail_infrastructure(turn.error(), "waiting for a judge");
    turn_.emplace(std::move(*turn));
  }
  const bool all = run_.needs_all_memory();
  Result<GpuScheduler::MemorySlot> memory =
      all ? gpu_.scheduler.reserve_all_memory(run_.deadline(kForeverMs))
          : gpu_.scheduler.reserve_memory(run_.deadline(kForeverMs));
  if (!memory) return run_.fail_infrastructure(memory.error(), "waiting for memory of the GPU");
  memory_.emplace(std::move(*memory));
  // Other jobs have put memory into the judges' caches since the attempt that lacked memory.
  if (all) gpu_.free_memory(run_.deadline(GpuContext::kFreeMemoryMs));
  return load_or_prepare();
}

/// If the judge may work for long, it has the GPU lock in the mode `load`, beside which code of
/// submissions may run. It also computes the references of the public cases in this turn. It
/// compiles kernels for them, and the operator's other jobs would wait for this otherwise.
bool GpuJob::load_or_prepare() {
  const bool is_long = !turn_ || turn_->is_long();
  if (turn_ && is_long) {
    if (Status begun = turn_->begin_load(run_.deadline(kForeverMs)); !begun)
      return run_.fail_infrastructure(begun.error(), "waiting for a judge");
  }
  if (!lock(is_long ? Mode::load : Mode::prepare)) return false;
  const std::int64_t begin_ns = system_clock().monotonic_ns();
  const bool made = prepare_by(turn_ ? gpu_.judges_of(run_.job()).judge(turn_->judge()) : *alone_);
  if (made && is_long) {
    for (std::size_t i = 0; i < prepared_.cases.size(); ++i) {
      if (!run_.job().cases[i].hidden && !compute_reference(i, /*timed=*/false)) break;
    }
  }
  release_gpu();  // the reservation stays: the references and the launches follow
  if (turn_) {
    turn_->add_time(std::chrono::nanoseconds(system_clock().monotonic_ns() - begin_ns));
    turn_->prepared(made);
  }
  return made && run_.verdict().error_kind == ErrorKind::none;
}

bool GpuJob::prepare_by(Judge& judge) {
  run_.enter(Stage::judge);
  Result<PreparedJob> prepared =
      judge.prepare(run_.job(), run_.deadline(run_.job().limits.judge_wall_ms), small_cases());
  judge_ = &judge;  // also after a cancellation, because the judge completes the inputs
  if (!prepared) return run_.fail_by_judge(prepared.error(), "preparing inputs");
  for (std::size_t i = 0; i < prepared_.cases.size(); ++i) {
    if (!is_as_described(prepared_.cases[i], prepared->cases[i]))
      return run_.fail(ErrorKind::internal_error,
                       "case '" + prepared->cases[i].id + "' is not as the judge described it");
  }
  prepared_ = std::move(*prepared);
  for (const PreparedCase& one : prepared_.cases)
    run_.verdict().provenance.seeds[one.id] = one.seed;
  return true;
}

/// Returns which cases may go through memory files. The inputs of a case that will be timed are
/// replaced between the rounds, for which they have to be in device memory. If the cost of the
/// cases is not known yet, each case of a timed job could be such a case.
HostCases GpuJob::small_cases() const {
  HostCases small{.bytes = gpu_.config.host_case_bytes};
  if (!is_timed()) return small;
  if (prepared_.cases.empty()) return {};
  const std::vector<bool> timed = cases_to_time(prepared_);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    if (timed[i]) small.except.push_back(prepared_.cases[i].id);
  }
  return small;
}

bool GpuJob::compute_references(std::size_t first, std::size_t end) {
  const std::vector<bool> timed =
      is_timed() ? cases_to_time(prepared_) : std::vector<bool>(prepared_.cases.size(), false);
  for (std::size_t i = first; i < end; ++i) {
    if (!lock(Mode::prepare)) return false;
    const bool computed = compute_reference(i, timed[i]);
    release_gpu();  // so that a job that needs the GPU exclusively waits for one case at most
    if (!computed) return false;
  }
  return true;
}

bool GpuJob::compute_reference(std::size_t i, bool timed) {
  const Job& job = run_.job();
  run_.enter(Stage::judge);
  const Status computed = judge_->compute_references({job.id, prepared_.cases[i].id}, timed,
                                                     run_.deadline(job.limits.judge_wall_ms));
  return computed ? true : run_.fail_by_judge(computed.error(), "computing references");
}

bool GpuJob::draw_ahead() {
  const Job& job = run_.job();
  const int rounds = job.kind == JobKind::grade ? TimingSession::kMinRounds : 1;
  const std::vector<bool> timed = cases_to_time(prepared_);
  for (std::size_t i = 0; i < prepared_.cases.size(); ++i) {
    if (!timed[i] || !prepared_.cases[i].device) continue;
    for (int round = 1; round <= rounds; ++round) {
      if (!lock(Mode::prepare)) return false;
      run_.enter(Stage::judge);
      const Status drawn = judge_->draw_ahead({job.id, prepared_.cases[i].id}, round,
                                              run_.deadline(job.limits.judge_wall_ms));
      release_gpu();  // so that a job that needs the GPU exclusively waits for one round at most
      if (!drawn) return run_.fail_by_judge(drawn.error(), "making new inputs");
    }
  }
  return true;
}

}  // namespace assay::sandbox
