#include "sandbox/judging/side_effect_check.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "sandbox/judging/attribution.h"
#include "sandbox/wire/memfd.h"

namespace assay::sandbox {
namespace {

void wrote_to_an_input(Verdict& verdict, CaseRecord& record, const std::string& name) {
  record.outcome = Outcome::fail;
  record.modified = name;
  record.reason = "argument " + name + " was modified; the operator's spec has it as an input";
  verdict.outcome = Outcome::fail;
  verdict.error_kind = ErrorKind::output_mismatch;
}

Result<Attributed> whose(JobExecution& run, Judge& judge, const std::string& id,
                         const Launched& full, int output_fd, const Launched& without,
                         int without_fd) {
  const Deadline deadline = run.deadline(run.job().limits.judge_wall_ms);
  if (output_fd < 0) return judge.attribute(run.job().id, id, without.outputs, deadline);
  return judge.attribute(run.job().id, id, full.outputs, output_fd, without.outputs, without_fd,
                         deadline);
}

}  // namespace

bool has_doubtful_origin(const Launched& launched) { return launched.moves > 0; }

bool check_side_effects(JobExecution& run, Judge& judge, LaunchSession& session,
                        const PreparedJob& prepared, std::size_t index, const std::string& plan,
                        const Launched& launched, int output_fd, CaseRecord& record) {
  if (record.outcome != Outcome::pass) return true;
  if (!launched.modified.empty()) {
    wrote_to_an_input(run.verdict(), record, launched.modified.front());
    return true;
  }
  if (launched.kernels.empty()) {
    not_its_work(run.verdict(), record,
                 "its launch plan has no kernel: fills and copies alone made this output");
    return true;
  }
  if (!has_doubtful_origin(launched)) return true;
  UniqueFd file;
  if (output_fd >= 0) {
    Result<UniqueFd> made = create_memfd(
        "assay-outputs", static_cast<std::uint64_t>(prepared.cases[index].output_bytes));
    if (!made) return run.fail_infrastructure(made.error(), "making an output file");
    file = std::move(*made);
  }
  const std::optional<Launched> without =
      session.launch_ablated(prepared, index, plan, file ? file.get() : -1);
  if (!without) return false;
  run.enter(Stage::judge);
  const Result<Attributed> found =
      whose(run, judge, record.id, launched, output_fd, *without, file ? file.get() : -1);
  if (!found)
    return run.fail_infrastructure(found.error(), "asking whose work case '" + record.id + "' is");
  if (!found->ok) not_its_work(run.verdict(), record, found->reason);
  return true;
}

}  // namespace assay::sandbox
