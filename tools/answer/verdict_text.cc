#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sandbox/job/verdict_builder.h"
#include "tools/answer/verdict_answer.h"
#include "tools/model/check_job.h"
#include "tools/model/outcome_names.h"

namespace assay::tools {
namespace {

using sandbox::CaseRecord;
using sandbox::Outcome;
using sandbox::Verdict;

// The maximum number of cases that a text shows. The same maximum applies to kernels and to skipped
// cases. Of further items the text says only how many there are.
constexpr std::size_t kConciseItems = 6;
// The number of failed cases that a concise text describes besides the case of the first line. The
// text only names the others: an operator has at least four small public cases, and one mistake
// usually makes all of them wrong.
constexpr std::size_t kConciseFailedCases = 1;
constexpr std::size_t kDetailedItems = 64;
constexpr std::size_t kLineBytes = 400;
constexpr std::size_t kConciseOutputBytes = 600;
constexpr std::size_t kDetailedOutputBytes = 8'000;

/// Returns the first line of a message.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string outcome_text(const Verdict& verdict) {
  const std::string kind = verdict.error_kind == sandbox::ErrorKind::none
                               ? ""
                               : " (" + std::string(to_string(verdict.error_kind)) + ")";
  return std::string(to_string(verdict.outcome)) + kind + ": ";
}

std::string percent(double share) { return number_text(std::round(share * 1000) / 10) + " %"; }

std::string indices(const std::vector<std::int64_t>& index) {
  std::string text = "[";
  for (std::size_t i = 0; i < index.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(index[i]);
  return text + "]";
}

/// Returns the line about a failed case. The judge's reason contains the numbers of the failure. If
/// there is no reason, this function adds the numbers.
std::string failed_case(const CaseRecord& record) {
  std::string text = "- case " + line_of(record.id) + ": ";
  if (!record.reason.empty()) return text + line_of(record.reason) + "\n";
  text += to_string(record.outcome);
  if (record.mismatches > 0)
    text += "; " + std::to_string(record.mismatches) + " of " + std::to_string(record.elements) +
            " elements wrong";
  if (record.first_mismatch) {
    const auto& first = *record.first_mismatch;
    text += "; first: " + line_of(first.output) + indices(first.index) + " expected " +
            number_text(first.expected) + ", " +
            (first.unstored ? "but nothing was stored" : "got " + number_text(first.actual));
  }
  return text + "\n";
}

std::string timed_case(const CaseRecord& record, Baseline baseline) {
  const auto& latency = *record.latency;
  std::string text = "- case " + line_of(record.id) + ": " + duration_text(latency.median_ns) +
                     " [" + duration_text(latency.low_ns) + ", " + duration_text(latency.high_ns) +
                     "]";
  if (latency.median_ns <= 0) return text + "\n";
  if (record.baseline_latency)
    text += "; " + std::string(title_of(baseline)) + " " +
            duration_text(record.baseline_latency->median_ns) + " (" +
            number_text(record.baseline_latency->median_ns / latency.median_ns) + "x)";
  if (record.pytorch_ns && baseline != Baseline::torch_eager)
    text += "; PyTorch " + duration_text(*record.pytorch_ns) + " (" +
            number_text(*record.pytorch_ns / latency.median_ns) + "x)";
  if (record.torch_compile_ns)
    text += "; torch.compile " + duration_text(*record.torch_compile_ns) + " (" +
            number_text(*record.torch_compile_ns / latency.median_ns) + "x)";
  if (!record.torch_compile_unsupported.empty())
    text += "; torch.compile unsupported: " + line_of(record.torch_compile_unsupported);
  if (record.floor_ns)
    text += "; " + percent(*record.floor_ns / latency.median_ns) + " of the roofline (SOL)";
  if (record.own_share && *record.own_share < 1)
    text += "; own kernels " + percent(*record.own_share) + " of the time";
  return text + "\n";
}

std::string kernel_line(const sandbox::KernelReport& kernel) {
  std::string text = "- kernel " + line_of(kernel.name) + " (" + line_of(kernel.target) +
                     "): " + std::to_string(kernel.registers) + " registers, " +
                     std::to_string(kernel.spill_bytes) + " B spilled, " +
                     std::to_string(kernel.shared_bytes) + " B shared, " +
                     std::to_string(kernel.num_warps) + " warps";
  if (kernel.occupancy > 0)
    text += ", occupancy " + percent(kernel.occupancy) + " (limited by " +
            line_of(kernel.occupancy_limiter) + ")";
  return text + "\n";
}

template <class Items, class Select, class Show>
void list(std::string& text, const Items& items, std::size_t most, const char* noun,
          Select selected, Show show) {
  std::size_t shown = 0;
  std::size_t left = 0;
  for (const auto& item : items) {
    if (!selected(item)) continue;
    if (shown < most) {
      text += show(item);
      ++shown;
    } else {
      ++left;
    }
  }
  if (left > 0) text += "- and " + std::to_string(left) + " more " + noun + "\n";
}

/// Returns the exception and the message of a diagnostic.
std::string message_of(const sandbox::Diagnostic& found) {
  return found.exception + (found.exception.empty() || found.message.empty() ? "" : ": ") +
         found.message;
}

/// Returns whether the summary is exactly the text that a device builds from the verdict's fields.
/// Redacted verdicts and verdicts of older versions have other summaries.
bool is_built(const Verdict& verdict) { return verdict.summary == sandbox::summarise(verdict); }

/// Returns the part of the verdict's detail that the summary does not contain. If the detail begins
/// with the diagnostic's message, this is the rest of the detail (" (case 'small')"), which
/// continues the line. Otherwise it is the whole detail on a new line, which names it, because the
/// text may be the submission's.
std::string rest_of_detail(const Verdict& verdict) {
  if (verdict.summary.find(verdict.detail) != std::string::npos) return "";
  const std::string message = verdict.diagnostic ? message_of(*verdict.diagnostic) : "";
  return !message.empty() && verdict.detail.starts_with(message)
             ? line_of(verdict.detail.substr(message.size()))
             : "\ndetail: " + line_of(verdict.detail);
}

std::string missing_of(const Verdict& verdict) {
  const std::int64_t left_out = cases_not_run(verdict.skipped_cases);
  return left_out == 0 ? "" : "; " + std::to_string(left_out) + " more not run";
}

/// Returns the largest allowed error of a pass as text. Returns "" if the outputs have different
/// limits.
std::string allowed_of(const Verdict& verdict, const operators::Operator* op) {
  if (verdict.outcome != Outcome::pass || op == nullptr || op->outputs.empty()) return "";
  const double allowed = op->outputs.front().max_abs_error;
  const auto same = [&](const operators::Output& output) {
    return output.max_abs_error == allowed;
  };
  // For float16 and bfloat16 the judge also accepts an error of one unit in the last place, so an
  // error above `max_abs_error` may pass. The tolerance is not shown in that case.
  const auto within = [&](const CaseRecord& record) {
    return record.max_abs_error.value_or(0) <= allowed;
  };
  if (!std::all_of(op->outputs.begin(), op->outputs.end(), same) ||
      !std::all_of(verdict.cases.begin(), verdict.cases.end(), within))
    return "";
  return "of " + number_text(allowed) + " allowed";
}

/// Returns the head of the text: the outcome and the summary. Other functions add the lines below,
/// which do not repeat any part of the head.
std::string head_of(const Verdict& verdict, const operators::Operator* op) {
  const std::string summary =
      is_built(verdict) ? sandbox::summarise(verdict, allowed_of(verdict, op)) : verdict.summary;
  std::string head = line_of(first_line(summary));
  if (!verdict.summary.starts_with(to_string(verdict.outcome))) head = outcome_text(verdict) + head;
  if (verdict.outcome == Outcome::pass) head += missing_of(verdict);
  return head + rest_of_detail(verdict) + "\n";
}

/// Returns whether the head already shows this failed case. A summary that a device built ends with
/// the first failed case.
bool is_in_head(const Verdict& verdict, const CaseRecord& record) {
  const auto first =
      std::find_if(verdict.cases.begin(), verdict.cases.end(),
                   [](const CaseRecord& one) { return one.outcome != Outcome::pass; });
  return verdict.outcome == Outcome::fail && &*first == &record && !record.reason.empty() &&
         verdict.summary.size() <= kLineBytes && verdict.summary.find('\n') == std::string::npos &&
         is_built(verdict);
}

/// Describes the failed cases that the first line does not describe.
std::string failed_cases(const Verdict& verdict, Format format) {
  std::vector<const CaseRecord*> failed;
  for (const CaseRecord& record : verdict.cases) {
    if (record.outcome != Outcome::pass && !is_in_head(verdict, record)) failed.push_back(&record);
  }
  const std::size_t described =
      std::min(failed.size(), format == Format::detailed ? kDetailedItems : kConciseFailedCases);
  const std::size_t named =
      std::min(failed.size(), format == Format::detailed ? described : kConciseItems);
  std::string text;
  for (std::size_t i = 0; i < described; ++i) text += failed_case(*failed[i]);
  for (std::size_t i = described; i < named; ++i) {
    text += i == described ? "- also not right: " : ", ";
    text += line_of(failed[i]->id);
    if (failed[i]->mismatches > 0) text += " (" + std::to_string(failed[i]->mismatches) + " wrong)";
  }
  if (named > described) text += "\n";
  if (failed.size() > named)
    text += "- and " + std::to_string(failed.size() - named) + " more cases did not pass\n";
  return text;
}

/// Adds text of the submission. The head says whose text it is, and each line has a mark.
void put_untrusted(std::string& text, const std::string& head, const std::string& untrusted,
                   std::size_t most) {
  if (untrusted.empty()) return;
  text += head + " (untrusted):\n" + quote_lines(escape_text(untrusted), most);
}

void put_diagnostic(std::string& text, const Verdict& verdict, Format format) {
  if (!verdict.diagnostic) return;
  const auto& found = *verdict.diagnostic;
  const std::string place =
      found.line ? "line " + std::to_string(*found.line) + ": " + found.code : "";
  if (!place.empty() && !verdict.summary.ends_with(place)) text += line_of(place) + "\n";
  if (!found.advice.empty()) text += "advice: " + line_of(found.advice) + "\n";
  std::string message = message_of(found);
  // The head shows the first line of the summary. That line ends with the message, or with a detail
  // that begins with the message.
  const std::string first = first_line(message), head = first_line(verdict.summary);
  const bool shown = head.ends_with(first) || (head.ends_with(first_line(verdict.detail)) &&
                                               verdict.detail.starts_with(first));
  if (!first.empty() && head.size() <= kLineBytes && shown)
    message = message.substr(std::min(message.size(), first.size() + 1));
  put_untrusted(text, "message", message,
                format == Format::detailed ? kDetailedOutputBytes : 3 * kLineBytes);
  if (format == Format::detailed)
    put_untrusted(text, "traceback", found.traceback, kDetailedOutputBytes);
}

/// Returns whether a specification already says that the device cannot run these cases. Then only
/// their number is shown, with a pass.
bool is_in_spec(const sandbox::SkippedCases& skip) {
  return skip.reason == sandbox::SkipReason::too_large ||
         skip.reason == sandbox::SkipReason::dtype || skip.reason == sandbox::SkipReason::hidden;
}

std::vector<std::string> skipped_lines(const Verdict& verdict, Format format) {
  std::vector<sandbox::SkippedCases> shown;
  for (const sandbox::SkippedCases& skip : verdict.skipped_cases)
    if (format == Format::detailed || !is_in_spec(skip)) shown.push_back(skip);
  return lines_of(shown);
}

void put_output(std::string& text, const char* name, const std::string& output, Format format) {
  put_untrusted(text, std::string("the submission's ") + name, output,
                format == Format::detailed ? kDetailedOutputBytes : kConciseOutputBytes);
}

}  // namespace

std::string verdict_text(const Verdict& verdict, const JobStatus& status, Format format,
                         const operators::Operator* op) {
  const std::size_t most = format == Format::detailed ? kDetailedItems : kConciseItems;
  const auto all = [](const auto&) { return true; };
  // The reason for the tier is the same in every error of a device.
  const bool with_reason = format == Format::detailed || verdict.outcome != Outcome::error;
  const auto end = [&](bool reason) {
    return "tier " + std::string(to_string(verdict.tier)) +
           (reason && !verdict.tier_reason.empty() ? " (" + line_of(verdict.tier_reason) + ")"
                                                   : "") +
           ", job " + status.job + ", " + std::to_string(status.elapsed_ms) + " ms";
  };
  // If the submission is wrong, the text shows the failure and no diagnosis of its speed.
  const bool diagnosed = verdict.profile && verdict.outcome != Outcome::fail;
  if (diagnosed && format == Format::concise) return profile_text(verdict) + end(false);
  std::string text = diagnosed && verdict.outcome == Outcome::error ? "" : head_of(verdict, op);
  if (diagnosed) text += profile_text(verdict);
  put_diagnostic(text, verdict, format);
  text += failed_cases(verdict, format);
  if (!diagnosed) text += sanitizer_text(verdict);
  const Baseline baseline = verdict.baseline.value_or(Baseline::oracle);
  if (verdict.perf)
    text += "perf " + number_text(*verdict.perf) + " (" + std::string(title_of(baseline)) +
            " latency / yours, geometric mean over the timed cases)\n";
  list(
      text, verdict.cases, most, "timed cases",
      [](const CaseRecord& record) { return record.latency.has_value(); },
      [&](const CaseRecord& record) { return timed_case(record, baseline); });
  if (verdict.kind == sandbox::JobKind::compile || verdict.kind == sandbox::JobKind::profile ||
      format == Format::detailed || is_check(verdict)) {
    list(text, verdict.kernels, most, "kernels", all, kernel_line);
  }
  put_output(text, "stdout", verdict.stdout_text, format);
  if (verdict.outcome != Outcome::pass || format == Format::detailed)
    put_output(text, "stderr", verdict.stderr_text, format);
  list(text, skipped_lines(verdict, format), most, "skipped cases", all,
       [](const std::string& skip) { return "- not run: " + line_of(skip) + "\n"; });
  list(text, verdict.hints, most, "hints", all,
       [](const sandbox::Hint& hint) { return "hint: " + line_of(hint.text) + "\n"; });
  return text + end(with_reason);
}

}  // namespace assay::tools
