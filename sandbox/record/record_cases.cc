#include "sandbox/record/record_cases.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace assay::sandbox {
namespace {

// Triton compiles a kernel separately for integers that are 1 or a multiple of this number.
constexpr std::int64_t kDivisor = 16;

char class_of(std::int64_t value) { return value == 1 ? '1' : value % kDivisor == 0 ? 'd' : 'n'; }

/// Returns a text that is equal for two cases if Triton specialises their arguments in the same
/// way.
std::string specialisation(const PreparedCase& one) {
  std::string text;
  for (const Argument& argument : one.arguments) {
    text += argument.dtype + argument.scalar_type + ':';
    for (const std::int64_t extent : argument.shape) text += class_of(extent);
    for (const std::int64_t stride : argument.strides) text += class_of(stride);
    if (const auto* number = std::get_if<std::int64_t>(&argument.value);
        number != nullptr && !argument.is_tensor)
      text += class_of(*number);
  }
  return text;
}

struct Part {
  const std::vector<std::size_t>& cases;
  JobExecution run;
  std::optional<CandidateResults> results;
};

/// Records one part of the cases. An exception (no memory, no thread) becomes an error of this part
/// only.
std::optional<CandidateResults> recorded(const PartRecorder& record_part, JobExecution& run,
                                         const std::vector<std::size_t>& part) {
  try {
    return record_part(run, part);
  } catch (const std::exception& error) {
    run.fail(ErrorKind::internal_error, std::string("recording failed: ") + error.what());
    return std::nullopt;
  }
}

/// Returns the results of all parts in the order of `cases`. If several candidates compiled the
/// same kernel, its artifact is kept once.
CandidateResults merge(std::vector<std::pair<std::vector<std::size_t>, CandidateResults>> parts,
                       const std::vector<std::size_t>& cases) {
  CandidateResults all;
  std::map<std::size_t, CaseDone> done;
  for (auto& [indices, results] : parts) {
    for (std::size_t i = 0; i < indices.size(); ++i) done[indices[i]] = std::move(results.cases[i]);
    for (Artifact& artifact : results.artifacts) {
      const bool known =
          std::any_of(all.artifacts.begin(), all.artifacts.end(), [&](const Artifact& other) {
            return other.kind == artifact.kind && other.name == artifact.name &&
                   other.bytes == artifact.bytes;
          });
      if (!known) all.artifacts.push_back(std::move(artifact));
    }
  }
  for (const std::size_t i : cases) all.cases.push_back(std::move(done.at(i)));
  return all;
}

/// Appends the output `more` of another candidate, unless it is equal to `text`. The texts are
/// equal, for example, if the submission prints only during its import.
void append_output(std::string& text, const std::string& more) {
  if (more != text) text += more;
}

using Parts = std::vector<std::vector<std::size_t>>;

/// The candidates of one recording. Each candidate gets a part of the cases: first the public cases
/// of the part, then its hidden cases.
class Recording {
 public:
  Recording(JobExecution& run, CandidatePool& pool, const RecordRequest& request)
      : run_(run), pool_(pool), request_(request) {
    const RecordOptions& options = request.options;
    job_.mode = CandidateMode::record;
    job_.entry = run.job().entry;
    job_.adapter = run.job().adapter;
    job_.dialect = run.job().dialect;
    job_.language = options.language;
    job_.target = request.target;
    job_.artifacts = options.artifacts;
    job_.alternatives = options.alternatives;
    for (const std::size_t i : request.cases)
      (is_hidden(run.job(), request.prepared.cases[i].id) ? hidden_ : open_).push_back(i);
  }

  std::optional<CandidateResults> perform() {
    std::optional<CandidateResults> results = perform_both();
    keep_output();
    return results;
  }

 private:
  /// Divides the cases among candidates. The caller holds a slot.
  void divide() {
    // Each candidate compiles configurations of an autotuner for a limited time. So if all
    // configurations are recorded, the number of candidates does not depend on other jobs.
    const int most = std::max(request_.options.candidates, 1);
    const int parts = job_.alternatives ? most : pool_.recorders_for(most);
    for (const std::vector<std::size_t>& part :
         deal_cases(request_.prepared.cases, request_.cases, static_cast<std::size_t>(parts))) {
      std::vector<std::size_t>&open = open_parts_.emplace_back(),
      &hidden = hidden_parts_.emplace_back();
      for (const std::size_t i : part)
        (is_hidden(run_.job(), request_.prepared.cases[i].id) ? hidden : open).push_back(i);
    }
    // There are never more parts than cases.
    const std::size_t full = std::min(static_cast<std::size_t>(most), request_.cases.size());
    const std::int64_t wall_ms =
        recording_wall_ms(run_.job().limits.run_wall_ms, full, open_parts_.size());
    for (std::size_t i = 0; i < open_parts_.size(); ++i)
      candidates_.push_back(
          std::make_unique<CandidateRun>(run_, pool_,
                                         CandidateTask{.request = job_,
                                                       .source = request_.source,
                                                       .announced_cases = open_.size(),
                                                       .run_wall_ms = wall_ms}));
  }

  std::optional<CandidateResults> perform_both() {
    if (!begin_work()) return std::nullopt;
    divide();
    std::optional<CandidateResults> open = perform(open_parts_, open_, true, hidden_.empty());
    slot_.reset();  // because before_hidden() waits for a judge and for the GPU
    if (!open || hidden_.empty()) return open;
    if (request_.options.before_hidden && !request_.options.before_hidden(open->cases))
      return std::nullopt;
    if (!begin_work()) return std::nullopt;
    run_.tell_hidden();
    std::optional<CandidateResults> hidden = perform(hidden_parts_, hidden_, false, true);
    if (!hidden) return std::nullopt;
    std::map<std::size_t, CaseDone> done;
    for (std::size_t i = 0; i < open_.size(); ++i) done[open_[i]] = std::move(open->cases[i]);
    for (std::size_t i = 0; i < hidden_.size(); ++i) done[hidden_[i]] = std::move(hidden->cases[i]);
    hidden->cases.clear();
    for (const std::size_t i : request_.cases) hidden->cases.push_back(std::move(done.at(i)));
    return hidden;
  }

  /// Waits until the candidates may work. Returns false if the verdict has become an error.
  bool begin_work() {
    Result<FifoSemaphore::Slot> slot = pool_.begin_work(Deadline::after_ms(0));
    if (!slot) {
      run_.enter(Stage::queue);
      slot = pool_.begin_work(run_.deadline(kForeverMs));
    }
    if (!slot) return run_.fail_infrastructure(slot.error(), "waiting for a recording slot");
    slot_.emplace(std::move(*slot));
    return true;
  }

  std::optional<CandidateResults> perform(const Parts& parts, const std::vector<std::size_t>& cases,
                                          bool starts, bool last) {
    std::map<const std::vector<std::size_t>*, CandidateRun*> of;
    for (std::size_t i = 0; i < parts.size(); ++i) of[&parts[i]] = candidates_[i].get();
    return record_parts(
        run_, parts, cases,
        [&](JobExecution& run,
            const std::vector<std::size_t>& part) -> std::optional<CandidateResults> {
          CandidateRun& candidate = *of.at(&part);
          candidate.report_to(run);
          if (starts && !candidate.start()) return std::nullopt;
          std::optional<std::vector<CaseDone>> done = candidate.perform(
              record_inputs(request_.prepared, part, request_.options.language), last);
          if (!done) return std::nullopt;
          return CandidateResults{std::move(*done), candidate.take_artifacts()};
        });
  }

  /// Ends all candidates, and adds their output to the verdict.
  void keep_output() {
    for (std::unique_ptr<CandidateRun>& candidate : candidates_) {
      JobExecution printing = run_.auxiliary();
      candidate->report_to(printing);
      candidate.reset();
      append_output(run_.verdict().stdout_text, printing.verdict().stdout_text);
      append_output(run_.verdict().stderr_text, printing.verdict().stderr_text);
    }
  }

  JobExecution& run_;
  CandidatePool& pool_;
  const RecordRequest& request_;
  std::optional<FifoSemaphore::Slot> slot_;  // held while the candidates work
  CandidateJob job_;
  Parts open_parts_, hidden_parts_;         // one element for each candidate
  std::vector<std::size_t> open_, hidden_;  // indices of the request's public and hidden cases
  std::vector<std::unique_ptr<CandidateRun>> candidates_;
};

}  // namespace

std::vector<std::size_t> all_cases(const PreparedJob& prepared) {
  std::vector<std::size_t> all(prepared.cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<std::vector<std::size_t>> deal_cases(const std::vector<PreparedCase>& prepared,
                                                 const std::vector<std::size_t>& cases,
                                                 std::size_t parts) {
  // Cases with the same specialisation stay together. The specialisations are in the order in which
  // they first occur.
  std::vector<std::string> kinds;
  for (const std::size_t i : cases) kinds.push_back(specialisation(prepared[i]));
  std::vector<std::size_t> order(cases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto first_of_kind = [&](std::size_t at) {
    return std::find(kinds.begin(), kinds.end(), kinds[at]) - kinds.begin();
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(first_of_kind(a), a) < std::pair(first_of_kind(b), b);
  });
  parts = std::clamp<std::size_t>(parts, 1, std::max<std::size_t>(cases.size(), 1));
  std::vector<std::vector<std::size_t>> dealt(parts);
  for (std::size_t at = 0; at < order.size(); ++at)
    dealt[at * parts / order.size()].push_back(cases[order[at]]);
  for (std::vector<std::size_t>& part : dealt) std::sort(part.begin(), part.end());
  return dealt;
}

std::int64_t recording_wall_ms(std::int64_t limit_ms, std::size_t most, std::size_t parts) {
  return limit_ms * static_cast<std::int64_t>(1 + (most > parts ? most - parts : 0));
}

std::optional<CandidateResults> record_cases(JobExecution& run, CandidatePool& pool,
                                             const RecordRequest& request) {
  return Recording(run, pool, request).perform();
}

std::optional<CandidateResults> record_parts(JobExecution& run,
                                             const std::vector<std::vector<std::size_t>>& dealt,
                                             const std::vector<std::size_t>& cases,
                                             const PartRecorder& record_part) {
  std::vector<Part> others;
  for (std::size_t i = 1; i < dealt.size(); ++i)
    others.push_back({dealt[i], run.auxiliary(), std::nullopt});
  std::vector<std::future<void>> recording;
  for (Part& other : others)
    recording.push_back(std::async(std::launch::async, [&] {
      other.results = recorded(record_part, other.run, other.cases);
    }));
  std::optional<CandidateResults> first = recorded(record_part, run, dealt.front());
  for (std::future<void>& one : recording) one.get();

  std::vector<std::pair<std::vector<std::size_t>, CandidateResults>> parts;
  if (first) parts.emplace_back(dealt.front(), std::move(*first));
  for (Part& other : others) {
    Verdict verdict = other.run.finish();
    if (other.results) {
      parts.emplace_back(other.cases, std::move(*other.results));
    } else if (!run.failed()) {
      run.verdict().diagnostic = std::move(verdict.diagnostic);
      run.fail(verdict.error_kind, verdict.stage, verdict.detail);
    }
  }
  if (run.failed()) return std::nullopt;
  run.case_done(cases.size(), cases.size());
  return merge(std::move(parts), cases);
}

std::optional<CandidateResults> stored_plans(JobExecution& run, const PreparedJob& prepared) {
  CandidateResults results;
  for (const PreparedCase& one : prepared.cases) {
    const auto found = run.job().plans.find(one.id);
    if (found == run.job().plans.end()) {
      run.fail(ErrorKind::invalid_plan, "case '" + one.id + "' has no stored plan");
      return std::nullopt;
    }
    CaseDone done;
    done.id = one.id;
    done.plan = found->second;
    results.cases.push_back(std::move(done));
  }
  return results;
}

}  // namespace assay::sandbox
