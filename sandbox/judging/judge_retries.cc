#include "sandbox/judging/judge_retries.h"

namespace assay::sandbox {

void JudgeRetries::execute(JobExecution& run, const Ways& ways) {
  const std::string key =
      run.job().operator_dir + "\n" + run.verdict().provenance.operator_revision;
  bool alone = ends_judges(key), has_freed = false;
  int shared = 0;
  if (alone) run.begin_again(true);
  while (true) {
    if (!alone) ++shared;
    (alone ? ways.alone : ways.shared)();
    const std::optional<JudgeTrouble> trouble = run.judge_trouble();
    if (!trouble || run.verdict().error_kind == ErrorKind::cancelled) return;
    if (*trouble == JudgeTrouble::no_memory) {
      if (has_freed) return;
      has_freed = true;
      ways.free_memory();
    } else if (alone) {
      const MutexLock lock(mutex_);
      ending_.insert(key);
      return;
    } else {
      alone = *trouble == JudgeTrouble::ended || shared >= kMostShared;
    }
    run.begin_again(alone);
  }
}

bool JudgeRetries::ends_judges(const std::string& operator_key) {
  const MutexLock lock(mutex_);
  return ending_.contains(operator_key);
}

}  // namespace assay::sandbox
