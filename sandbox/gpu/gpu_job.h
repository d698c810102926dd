// GpuJob: the life of one test, profile or grade on a GPU, in order. On the plan tier its
// submission is recorded without a GPU, launched by a trusted launcher and judged; on the host
// tier, where it cannot be recorded, it has the GPU inside the jail. Then it is timed, beside its
// oracle, and described.
//
//   GpuJob(services, run, judge, turn, prepared).execute();      // run's verdict has everything
//
// Belongs to one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sandbox/gpu/gpu_reservation.h"
#include "sandbox/gpu/host_tier.h"
#include "sandbox/job/config.h"
#include "sandbox/launch/launching.h"
#include "sandbox/pool/candidate_pool.h"
#include "sandbox/record/recording_cache.h"
#include "sandbox/timing/timing_session.h"

namespace assay::sandbox {

/// What the jobs of one GPU share. Of the device, which outlives them.
struct GpuServices {
  const SandboxConfig& config;
  const CudaOptions& options;
  const LauncherDevice& facts;
  Spawner& spawner;
  LauncherPool& launchers;
  CandidatePool& pool;
  HostTier& host;
  RecordingCache& submissions;
  RecordingCache& oracles;  // apart, so that no submission pushes an oracle out
  MeasurementCache& known;
};

class GpuJob {
 public:
  /// `judge`: which prepared it.
  GpuJob(const GpuServices& gpu, JobExecution& run, Judge& judge, GpuReservation& turn,
         const PreparedJob& prepared)
      : gpu_(gpu), run_(run), judge_(judge), turn_(turn), prepared_(prepared) {}
  void execute();

 private:
  using Plans = std::vector<std::string>;
  void on_plan_tier(CandidateResults recorded);
  void on_host_tier();
  std::optional<CandidateResults> record();
  std::optional<std::vector<UniqueFd>> output_files();
  bool launch_and_judge(std::optional<LaunchSession>& session, const Plans& plans,
                        const std::vector<UniqueFd>& outputs);
  bool launch_and_judge_once(LaunchSession& session, const Plans& plans,
                             const std::vector<UniqueFd>& outputs);
  void add_figures(CandidateResults recorded);
  Plans record_baseline();
  bool measure(LaunchSession* session, const Plans& plans, const std::vector<UniqueFd>& outputs,
               Plans baseline);
  void profile(const Plans& plans, const std::vector<UniqueFd>& outputs);
  void describe(const std::string& plan, std::vector<KernelCounters> counters = {},
                std::map<std::string, std::string> missing = {});

  const GpuServices& gpu_;
  JobExecution& run_;
  Judge& judge_;
  GpuReservation& turn_;
  const PreparedJob& prepared_;
};

}  // namespace assay::sandbox
