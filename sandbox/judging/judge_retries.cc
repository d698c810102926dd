#include "sandbox/judging/judge_retries.h"

#include "base/log.h"

namespace assay::sandbox {

void JudgeRetries::execute(JobExecution& run, const Ways& ways) {
  const std::string key =
      run.job().operator_dir + "\n" + run.verdict().provenance.operator_revision;
  bool alone = ends_judges(key), has_freed = false;
  int shared = 0, lonely = 0;
  if (alone) run.begin_again(true);
  while (true) {
    ++(alone ? lonely : shared);
    (alone ? ways.alone : ways.shared)();
    const std::optional<JudgeTrouble> trouble = run.judge_trouble();
    if (run.verdict().error_kind == ErrorKind::cancelled) return;
    if (!trouble) {
      // A job that failed may have asked its judge for nothing.
      if (alone && !run.failed()) forget(key);
      return;
    }
    if (*trouble == JudgeTrouble::no_memory) {
      if (has_freed) return;
      has_freed = true;
      ways.free_memory();
    } else if (alone && *trouble == JudgeTrouble::preempted) {
      if (lonely >= kMostAlone) return;
    } else if (alone) {
      note(key, run);
      return;
    } else {
      alone = *trouble == JudgeTrouble::ended || shared >= kMostShared;
    }
    run.begin_again(alone, has_freed);
  }
}

void JudgeRetries::note(const std::string& operator_key, JobExecution& run) {
  {
    const MutexLock lock(mutex_);
    if (!ending_.insert(operator_key).second) return;
  }
  log::warning("an operator's code ended a judge of a single job",
               {{"job", run.job().id},
                {"operator_dir", run.job().operator_dir},
                {"revision", run.verdict().provenance.operator_revision}});
}

void JudgeRetries::forget(const std::string& operator_key) {
  const MutexLock lock(mutex_);
  ending_.erase(operator_key);
}

bool JudgeRetries::ends_judges(const std::string& operator_key) {
  const MutexLock lock(mutex_);
  return ending_.contains(operator_key);
}

}  // namespace assay::sandbox
