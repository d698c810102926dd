#include "tools/model/redact.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace assay::tools {
namespace {

using sandbox::ErrorKind;
using sandbox::Hint;
using sandbox::HintKind;
using sandbox::Outcome;
using sandbox::SkippedCases;
using sandbox::SkipReason;
using sandbox::Stage;
using sandbox::Verdict;

constexpr const char* kWithheld =
    "withheld: it could show the hidden cases; `run_tests` shows it for the public ones";

constexpr const char* kNoEntry = "the source does not define the entry function";

bool contains(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

sandbox::CaseRecord redacted(const sandbox::CaseRecord& record, std::size_t number) {
  sandbox::CaseRecord shown;
  shown.id = "hidden_" + std::to_string(number);
  shown.hidden = true;
  shown.outcome = record.outcome;
  shown.strict_pass = record.strict_pass;
  if (record.outcome == Outcome::fail)
    shown.reason =
        "wrong on a hidden case (other shapes, dtypes or value distributions than the public ones)";
  if (record.outcome == Outcome::error) shown.reason = "ended in an error on a hidden case";
  return shown;
}

/// Returns whether code of the submission ran, and could have put its inputs into a message. Code
/// runs from the stage `import` on, unless the source does not parse. At import a CUDA C++ manifest
/// is only read; nothing in it runs.
bool code_ran(const Verdict& verdict) {
  const bool unparsed = verdict.error_kind == ErrorKind::syntax_error ||
                        verdict.error_kind == ErrorKind::indentation_error;
  const bool reads_manifest = verdict.language == sandbox::kCudaCpp;
  return verdict.stage > Stage::import ||
         (verdict.stage == Stage::import && !unparsed && !reads_manifest);
}

/// Returns whether the text is a class name. Anything else could be a message.
bool is_identifier(const std::string& text) {
  constexpr std::size_t kMaxIdentifierBytes = 64;
  return text.size() <= kMaxIdentifierBytes &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
             std::string::npos;
}

/// Replaces the names of hidden cases with their number. A number that the device reported, and its
/// reason, stay: they tell nothing about a single case.
std::vector<SkippedCases> redacted_skips(std::vector<SkippedCases> skips,
                                         const std::vector<std::string>& hidden_ids) {
  SkippedCases hidden{{}, 0, SkipReason::hidden, "not run on this device"};
  for (SkippedCases& skip : skips) {
    hidden.hidden += static_cast<std::int64_t>(
        std::erase_if(skip.ids, [&](const std::string& id) { return contains(hidden_ids, id); }));
  }
  std::erase_if(skips,
                [](const SkippedCases& skip) { return skip.ids.empty() && skip.hidden == 0; });
  if (hidden.hidden > 0) skips.push_back(std::move(hidden));
  return skips;
}

/// Returns whether only Assay writes the text of such hints. Hints of other kinds are removed.
bool is_from_the_device(HintKind kind) {
  switch (kind) {
    case HintKind::would_be_slow:
    case HintKind::spills:
    case HintKind::low_occupancy:
    case HintKind::many_launches:
    case HintKind::no_own_kernel:
    case HintKind::unattributed_run:
    case HintKind::not_deterministic:
    case HintKind::oracle_not_recorded:
    case HintKind::oracle_not_timed:
    case HintKind::oracle_block_missing:
    case HintKind::pytorch_not_timed:
    case HintKind::times_not_trusted: return true;
    case HintKind::other:               // of unknown origin
    case HintKind::not_recorded:        // quotes the submission's error
    case HintKind::artifact_too_large:  // quotes the name of an artifact
      return false;
  }
  return false;
}

/// Returns whether the text has the id of a hidden case, as an error of the oracle or of PyTorch
/// may.
bool mentions_any(const std::string& text, const std::vector<std::string>& hidden_ids) {
  return std::any_of(hidden_ids.begin(), hidden_ids.end(),
                     [&](const std::string& id) { return text.find(id) != std::string::npos; });
}

std::string new_summary(const Verdict& verdict) {
  if (verdict.outcome == Outcome::error) {
    std::string where = "ended in stage " + std::string(sandbox::to_string(verdict.stage));
    if (!verdict.diagnostic) return verdict.detail.empty() ? where : where + ": " + verdict.detail;
    if (!verdict.diagnostic->exception.empty()) where += " with " + verdict.diagnostic->exception;
    return verdict.diagnostic->line
               ? where + " at line " + std::to_string(*verdict.diagnostic->line) + ": " +
                     verdict.diagnostic->code
               : where;
  }
  std::size_t passed = 0;
  std::size_t failed_public = 0;
  std::size_t failed_hidden = 0;
  for (const auto& record : verdict.cases) {
    if (record.outcome == Outcome::pass)
      ++passed;
    else if (record.hidden)
      ++failed_hidden;
    else
      ++failed_public;
  }
  std::string text =
      std::to_string(passed) + " of " + std::to_string(verdict.cases.size()) + " cases pass";
  if (failed_public + failed_hidden > 0)
    text += "; wrong: " + std::to_string(failed_public) + " public, " +
            std::to_string(failed_hidden) + " hidden";
  return text;
}

}  // namespace

Verdict redact_hidden(Verdict verdict, const std::vector<std::string>& hidden_ids) {
  const bool has_hidden = verdict.kind == sandbox::JobKind::grade ||
                          std::any_of(verdict.cases.begin(), verdict.cases.end(),
                                      [](const auto& record) { return record.hidden; });
  if (!has_hidden) return verdict;

  std::size_t number = 0;
  for (auto& record : verdict.cases) {
    if (!record.hidden) continue;
    verdict.provenance.seeds.erase(record.id);
    record = redacted(record, ++number);
  }
  for (const std::string& id : hidden_ids) verdict.provenance.seeds.erase(id);
  verdict.skipped_cases = redacted_skips(verdict.skipped_cases, hidden_ids);
  for (auto& kernel : verdict.kernels) {  // a grid reveals the shape of a case
    kernel.grid.clear();
    kernel.launches = 0;
  }
  verdict.artifacts.clear();
  verdict.artifacts_dropped.clear();  // names and sizes tell about the hidden cases
  verdict.profile.reset();
  std::erase_if(verdict.hints, [&](const Hint& hint) {
    return !is_from_the_device(hint.kind) || contains(hidden_ids, hint.case_id) ||
           mentions_any(hint.text, hidden_ids);
  });
  if (!code_ran(verdict)) return verdict;

  verdict.stdout_text.clear();
  verdict.stderr_text.clear();
  if (verdict.diagnostic) {
    // The class, the line and the code are text of the source, so they reveal no data.
    if (!is_identifier(verdict.diagnostic->exception)) verdict.diagnostic->exception.clear();
    // A source can define names that are made of its inputs. That the entry function is missing
    // follows from the error kind alone.
    verdict.diagnostic->message =
        verdict.error_kind == ErrorKind::missing_entry ? kNoEntry : kWithheld;
    verdict.diagnostic->traceback.clear();
    verdict.diagnostic->subject.clear();
  }
  // For these two kinds only the device writes the detail.
  if (verdict.error_kind != ErrorKind::crash && verdict.error_kind != ErrorKind::unsupported)
    verdict.detail.clear();
  verdict.summary = new_summary(verdict);
  return verdict;
}

}  // namespace assay::tools
