#include "operators/search/example_search.h"

#include <utility>

#include "base/try.h"
#include "operators/search/similar_code.h"

namespace assay::operators {

Result<std::unique_ptr<ExampleSearch>> ExampleSearch::load(const std::filesystem::path& folder) {
  ASSAY_TRY(examples, load_examples(folder));
  return std::make_unique<ExampleSearch>(std::move(examples));
}

Result<const FullText*> ExampleSearch::full_text() const {
  const MutexLock lock(mutex_);
  if (!full_text_) {
    ASSAY_TRY(made, FullText::make(examples_));
    full_text_ = std::move(made);
  }
  return full_text_.get();
}

const SimilarCode& ExampleSearch::similar_code() const {
  const MutexLock lock(mutex_);
  if (!similar_) {
    std::vector<std::string_view> sources;
    for (const Example& example : examples_) sources.emplace_back(example.source);
    similar_ = std::make_unique<SimilarCode>(sources);
  }
  return *similar_;
}

Result<std::vector<FoundExample>> ExampleSearch::by_words(std::string_view words,
                                                          std::size_t k) const {
  ASSAY_TRY(index, full_text());
  ASSAY_TRY(hits, index->search(words, k));
  return found(hits);
}

Result<std::vector<FoundExample>> ExampleSearch::by_code(std::string_view code,
                                                         std::size_t k) const {
  if (code_grams(code).empty())
    return fail(ErrorCode::invalid_argument,
                "code is too short to compare: give at least five tokens, e.g. a line of a kernel");
  return found(similar_code().nearest(code, k));
}

std::vector<FoundExample> ExampleSearch::found(const std::vector<Hit>& hits) const {
  std::vector<FoundExample> all;
  for (const Hit& hit : hits) all.push_back({&examples_[hit.index], hit.score});
  return all;
}

}  // namespace assay::operators
