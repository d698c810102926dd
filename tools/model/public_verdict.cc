#include "tools/model/public_verdict.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/job/verdict_builder.h"

namespace assay::tools {
namespace {

using operators::Operator;
using sandbox::CaseRecord;
using sandbox::ErrorKind;
using sandbox::Hint;
using sandbox::HintKind;
using sandbox::Outcome;
using sandbox::SkippedCases;
using sandbox::SkipReason;
using sandbox::Stage;
using sandbox::Verdict;

constexpr int kPerfDigits = 3;
constexpr std::int64_t kMsPerSecond = 1'000;
constexpr const char* kHiddenFailed =
    "at least one hidden case is wrong or ends in an error (hidden cases have other shapes, dtypes "
    "or value distributions than the public ones)";
constexpr const char* kNoMore =
    "; a grade does not say more, because hidden cases may have run before";
constexpr const char* kNotOurs = "ended by an error of Assay or of its machine";

bool is_hidden_graded(const Verdict& verdict) {
  return verdict.kind == sandbox::JobKind::grade ||
         std::any_of(verdict.cases.begin(), verdict.cases.end(),
                     [](const CaseRecord& record) { return record.hidden; });
}

bool is_public(const Operator* op, const std::string& id) {
  if (op == nullptr) return false;
  return std::any_of(op->cases.begin(), op->cases.end(),
                     [&](const operators::Case& one) { return !one.hidden && one.id == id; });
}

bool is_nondeterministic(const CaseRecord& record) { return record.deterministic == false; }

/// Returns true if the hint comes from the timing of cases, which follows the hidden cases.
bool is_of_timing(HintKind kind) {
  switch (kind) {
    case HintKind::not_deterministic:
    case HintKind::times_not_trusted:
    case HintKind::times_all_fresh:
    case HintKind::oracle_not_recorded:
    case HintKind::oracle_not_timed:
    case HintKind::oracle_block_missing:
    case HintKind::pytorch_not_timed: return true;
    default: return false;
  }
}

/// Returns a fixed sentence for a kind of hint, or "" if such a hint must not be shown. It replaces
/// the hint's own text, which may quote an error on a hidden case.
std::string plain_text(HintKind kind) {
  switch (kind) {
    case HintKind::would_be_slow: return "would be slow: most of a GPU would be idle";
    case HintKind::spills: return "a kernel spills registers";
    case HintKind::low_occupancy: return "a kernel leaves too few warps to hide latency";
    case HintKind::many_launches: return "launches many kernels; each costs microseconds";
    case HintKind::no_own_kernel: return "launches no kernel of its own";
    case HintKind::not_deterministic: return "two runs on the same inputs differ";
    case HintKind::oracle_not_recorded:
    case HintKind::oracle_not_timed: return "no speed-up: the oracle could not be timed";
    case HintKind::oracle_block_missing: return "a block of the oracle's samples was dropped";
    case HintKind::pytorch_not_timed: return "PyTorch's time is missing";
    case HintKind::times_not_trusted:
      return "no Perf: the submission's times contradict each other";
    case HintKind::times_all_fresh:
      return "a case was timed with instructions that are not in the caches";
    case HintKind::unattributed_run:    // its presence depended on the hidden cases
    case HintKind::other:               // its origin is unknown
    case HintKind::not_recorded:        // quotes an error of the compilation
    case HintKind::artifact_too_large:  // quotes the name of an artifact
      return "";
  }
  return "";
}

/// Returns whether the text of such a hint contains a name that the submission chose.
bool names_kernels(HintKind kind) {
  return kind == HintKind::spills || kind == HintKind::low_occupancy;
}

/// Returns the hints that may be shown. A hint is left out if plain_text() has no sentence for its
/// kind, or if it is about a hidden case. A hint about a public case is unchanged, unless it names
/// a kernel. Such a hint, and a hint about the whole submission, get the fixed sentence. If the
/// operator is not known, every hint that stays gets the fixed sentence and names no case.
std::vector<Hint> shown_hints(const Verdict& verdict, const Operator* op) {
  std::vector<Hint> hints;
  for (const Hint& hint : verdict.hints) {
    const std::string plain = plain_text(hint.kind);
    const bool whole = hint.case_id.empty() || op == nullptr;
    // This hint names no case, so it could be about a hidden one.
    if (hint.kind == HintKind::not_deterministic &&
        std::none_of(verdict.cases.begin(), verdict.cases.end(), [](const CaseRecord& record) {
          return !record.hidden && is_nondeterministic(record);
        }))
      continue;
    if (plain.empty() || (!whole && !is_public(op, hint.case_id))) continue;
    if (whole)
      hints.push_back({hint.kind, "", plain});
    else
      hints.push_back(names_kernels(hint.kind) ? Hint{hint.kind, hint.case_id, plain} : hint);
  }
  return hints;
}

/// Returns the skipped cases that may be shown: the names of public cases, and only the number of
/// hidden cases. The hidden cases that the device named are counted together, with a fixed reason.
/// All other reasons stay, because they come from the device and reveal nothing about a single
/// hidden case.
std::vector<SkippedCases> shown_skips(const Verdict& verdict, const Operator* op) {
  std::vector<SkippedCases> shown;
  SkippedCases unnamed{{}, 0, SkipReason::hidden, "not run on this device"};
  for (const SkippedCases& skip : verdict.skipped_cases) {
    SkippedCases kept{{}, skip.hidden, skip.reason, skip.text};
    for (const std::string& id : skip.ids) {
      if (is_public(op, id))
        kept.ids.push_back(id);
      else
        ++unnamed.hidden;
    }
    if (!kept.ids.empty() || kept.hidden > 0) shown.push_back(std::move(kept));
  }
  if (unnamed.hidden > 0) shown.push_back(std::move(unnamed));
  return shown;
}

sandbox::Provenance shown_provenance(const Verdict& verdict) {
  const sandbox::Provenance& all = verdict.provenance;
  sandbox::Provenance shown;
  shown.device = all.device;
  shown.device_name = all.device_name;
  shown.worker = all.worker;
  shown.recorder = all.recorder;
  shown.driver = all.driver;
  shown.torch = all.torch;
  shown.triton = all.triton;
  shown.python = all.python;
  shown.assay = all.assay;
  shown.suite_id = without_digest(all.suite_id);
  shown.nvrtc = all.nvrtc;
  shown.missing_layers = all.missing_layers;
  shown.source_sha256 = all.source_sha256;
  for (const CaseRecord& record : verdict.cases) {
    const auto seed = all.seeds.find(record.id);
    if (!record.hidden && seed != all.seeds.end()) shown.seeds.insert(*seed);
  }
  return shown;
}

/// Returns the part that every graded verdict shows: the job's identity, the machine and the public
/// cases.
Verdict common_part(const Verdict& verdict, const Operator* op) {
  Verdict shown;
  shown.job = verdict.job;
  shown.kind = verdict.kind;
  shown.operator_name = verdict.operator_name;
  shown.language = verdict.language;
  shown.baseline = verdict.baseline;
  shown.tells_hidden = false;
  shown.tier = verdict.tier;
  shown.tier_reason = verdict.tier_reason;
  shown.skipped_cases = shown_skips(verdict, op);
  shown.hints = shown_hints(verdict, op);
  shown.provenance = shown_provenance(verdict);
  for (const CaseRecord& record : verdict.cases) {
    if (!record.hidden) shown.cases.push_back(record);
  }
  // If no public case ran, the kernels may be those of a hidden case, so they are left out. A grade
  // never shows grids and launch counts, not even of a public case; `compile` and `profile` do.
  if (!shown.cases.empty() || !verdict.tells_hidden) {
    shown.kernels = verdict.kernels;
    for (sandbox::KernelReport& kernel : shown.kernels) {
      kernel.grid.clear();
      kernel.launches = 0;
    }
  }
  return shown;
}

void add_pass(Verdict& shown, const Verdict& verdict) {
  std::size_t number = 0;
  for (const CaseRecord& record : verdict.cases) {
    if (!record.hidden) continue;
    CaseRecord passed;
    passed.id = "hidden_" + std::to_string(++number);
    passed.hidden = true;
    passed.outcome = Outcome::pass;
    shown.cases.push_back(std::move(passed));
  }
  shown.outcome = Outcome::pass;
  shown.stage = Stage::done;
  shown.perf = shown_perf(verdict.perf);
  shown.summary = sandbox::summarise(shown);
}

/// Returns the kind of a failure of public cases. It returns only kinds that trusted processes
/// report.
ErrorKind kind_of_public_failure(const Verdict& verdict) {
  const bool hidden_failed = std::any_of(
      verdict.cases.begin(), verdict.cases.end(),
      [](const CaseRecord& record) { return record.hidden && record.outcome != Outcome::pass; });
  switch (verdict.error_kind) {
    case ErrorKind::output_mismatch:
    case ErrorKind::unattributed:
    case ErrorKind::floor_violation:
    case ErrorKind::memory_error:
    case ErrorKind::race:
    case ErrorKind::timeout:
    case ErrorKind::gpu_memory_limit:
    case ErrorKind::crash:
    case ErrorKind::launch_failure:
    case ErrorKind::gpu_fault:
    case ErrorKind::canary_violation:
      return hidden_failed ? ErrorKind::wrong_result : verdict.error_kind;
    default: return ErrorKind::wrong_result;
  }
}

/// Returns what a client may know of the reason why a public case failed after the submission had
/// got hidden cases. Only a finding of the sanitizer keeps its text, because the sanitizer runs
/// each case in a process of its own, and so the text cannot depend on a hidden case.
std::string plain_reason(ErrorKind kind, const CaseRecord& record) {
  switch (kind) {
    case ErrorKind::memory_error:
    case ErrorKind::race: return record.reason;
    case ErrorKind::output_mismatch:
      return std::string("it changed an input, or its outputs have another form") + kNoMore;
    case ErrorKind::unattributed:
      return std::string("the submission's kernels did not compute the outputs anew") + kNoMore;
    case ErrorKind::floor_violation:
      return std::string("it is faster than the device can do the work") + kNoMore;
    case ErrorKind::timeout:
    case ErrorKind::gpu_memory_limit:
    case ErrorKind::crash:
    case ErrorKind::launch_failure:
    case ErrorKind::gpu_fault:
    case ErrorKind::canary_violation:
      return "it ended with this error (" + std::string(to_string(kind)) + ")" + kNoMore;
    default: return std::string("it does not pass this case") + kNoMore;
  }
}

/// Returns what a client may know of a public case of a submission that had got hidden cases and
/// did not pass. The timing follows the hidden cases, and device code may remember them in memory
/// that nothing can clear. So what the timing added is left out: times, and which elements were
/// wrong. A public case that fails then usually does so in the timing or in the sanitizer.
CaseRecord before_hidden(const CaseRecord& record, ErrorKind kind) {
  CaseRecord known;
  known.id = record.id;
  known.outcome = record.outcome;
  known.elements = record.elements;
  if (record.outcome != Outcome::pass) {
    known.reason = plain_reason(kind, record);
    return known;
  }
  known.max_abs_error = record.max_abs_error;
  known.float64_error = record.float64_error;
  known.strict_pass = record.strict_pass;
  return known;
}

/// Leaves out what was measured after the submission had got hidden cases.
void leave_out_timing(Verdict& shown, const Verdict& verdict) {
  const ErrorKind kind = kind_of_public_failure(verdict);
  for (CaseRecord& record : shown.cases) record = before_hidden(record, kind);
  for (sandbox::KernelReport& kernel : shown.kernels) kernel.gpu_time_share = 0;
  // The seeds after the first one are those of timed blocks, and their number depends on the times.
  for (auto& [id, seeds] : shown.provenance.seeds)
    seeds.resize(std::min(seeds.size(), seeds.find(',')));
  shown.hints.erase(std::remove_if(shown.hints.begin(), shown.hints.end(),
                                   [](const Hint& hint) { return is_of_timing(hint.kind); }),
                    shown.hints.end());
}

/// Adds an error that the submission did not cause. The error's text may name a hidden case. It is
/// shown only if the job was cancelled or aborted before the submission got hidden cases. Otherwise
/// a fixed text replaces it.
void add_inconclusive(Verdict& shown, const Verdict& verdict) {
  shown.outcome = Outcome::error;
  shown.error_kind = verdict.error_kind;
  shown.stage = verdict.tells_hidden ? Stage::judge : verdict.stage;
  if (verdict.tells_hidden) leave_out_timing(shown, verdict);
  const bool by_server =
      verdict.error_kind == ErrorKind::cancelled || verdict.error_kind == ErrorKind::aborted;
  shown.detail = by_server && !verdict.tells_hidden ? verdict.detail : "";
  shown.summary = by_server && !verdict.tells_hidden ? verdict.summary
                  : by_server                        ? std::string(to_string(verdict.error_kind))
                                                     : kNotOurs;
}

/// Adds all fields. The caller makes sure that the submission had got no hidden case, so that no
/// field can depend on a hidden case.
void add_all(Verdict& shown, const Verdict& verdict) {
  shown.outcome = verdict.outcome;
  shown.error_kind = verdict.error_kind;
  shown.stage = verdict.stage;
  shown.summary = verdict.summary;
  shown.detail = verdict.detail;
  shown.diagnostic = verdict.diagnostic;
  shown.hints = verdict.hints;
  shown.stdout_text = verdict.stdout_text;
  shown.stderr_text = verdict.stderr_text;
}

/// Adds the failure of a submission that had got hidden cases and did not pass. If a public case
/// ended with an error while it was timed, then this is an error too, as before the hidden cases.
void add_failure(Verdict& shown, const Verdict& verdict) {
  leave_out_timing(shown, verdict);
  const auto failed =
      std::find_if(shown.cases.begin(), shown.cases.end(),
                   [](const CaseRecord& record) { return record.outcome != Outcome::pass; });
  shown.outcome = Outcome::fail;
  shown.stage = Stage::judge;
  if (failed != shown.cases.end()) {
    shown.error_kind = kind_of_public_failure(verdict);
    if (shown.error_kind == ErrorKind::wrong_result) failed->outcome = Outcome::fail;
    shown.outcome = failed->outcome;
    if (failed->outcome == Outcome::error)
      shown.detail = "case '" + failed->id + "': " + failed->reason;
  } else {
    shown.error_kind = ErrorKind::hidden_case;
    CaseRecord all_hidden;
    all_hidden.id = "hidden";
    all_hidden.hidden = true;
    all_hidden.outcome = Outcome::fail;
    all_hidden.reason = kHiddenFailed;
    shown.cases.push_back(std::move(all_hidden));
  }
  shown.summary = sandbox::summarise(shown);
}

}  // namespace

PublicVerdict public_verdict(const Verdict& verdict, const Operator* op) {
  if (!is_hidden_graded(verdict)) {
    Verdict all = verdict;
    all.provenance.operator_revision.clear();  // the two hashes also cover the hidden cases
    all.provenance.suite_id.digest.clear();
    return PublicVerdict(std::move(all));
  }
  Verdict shown = common_part(verdict, op);
  if (verdict.outcome == Outcome::pass)
    add_pass(shown, verdict);
  else if (sandbox::is_inconclusive(verdict.error_kind))
    add_inconclusive(shown, verdict);
  else if (!verdict.tells_hidden)
    add_all(shown, verdict);
  else
    add_failure(shown, verdict);
  return PublicVerdict(std::move(shown));
}

std::optional<double> shown_perf(std::optional<double> perf) {
  if (!perf || !std::isfinite(*perf) || *perf <= 0) return perf;
  const double unit = std::pow(10.0, std::floor(std::log10(*perf)) + 1 - kPerfDigits);
  return std::round(*perf / unit) * unit;
}

std::int64_t shown_elapsed_ms(sandbox::JobKind kind, std::int64_t elapsed_ms) {
  if (kind != sandbox::JobKind::grade) return elapsed_ms;
  return (elapsed_ms + kMsPerSecond - 1) / kMsPerSecond * kMsPerSecond;
}

}  // namespace assay::tools
