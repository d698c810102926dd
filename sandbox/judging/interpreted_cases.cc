#include "sandbox/judging/interpreted_cases.h"

#include <optional>
#include <utility>

#include "sandbox/record/case_io.h"
#include "sandbox/wire/memfd.h"

namespace assay::sandbox {

InterpretedCases::InterpretedCases(JobExecution& run, CandidatePool& pool,
                                   const CandidateJob& request, const std::string& source)
    : run_(run), candidate_(run, pool, {.request = request, .source = source}) {}

bool InterpretedCases::start() {
  if (started_) return true;
  started_ = true;
  return candidate_.start();
}

bool InterpretedCases::perform(const std::vector<std::size_t>& cases, bool last) {
  if (files_.empty()) {
    Result<std::vector<UniqueFd>> files = make_output_files(*prepared_);
    if (!files) return run_.fail_infrastructure(files.error(), "making output files");
    files_ = std::move(*files);
    done_.resize(prepared_->cases.size());
    if (!start()) return false;
  }
  std::optional<std::vector<CaseDone>> done =
      candidate_.perform(interpret_inputs(*prepared_, cases, files_), last);
  if (!done) return false;
  for (std::size_t at = 0; at < cases.size(); ++at) {
    done_[cases[at]] = std::move((*done)[at]);
    if (last) continue;
    Result<UniqueFd> copy = copy_memfd(files_[cases[at]].get(), "assay-outputs");
    if (!copy) return run_.fail_infrastructure(copy.error(), "copying outputs");
    files_[cases[at]] = std::move(*copy);
  }
  return true;
}

}  // namespace assay::sandbox
