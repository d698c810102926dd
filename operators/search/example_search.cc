#include "operators/search/example_search.h"

#include <utility>

#include "operators/search/code_grams.h"

namespace assay::operators {

Result<std::unique_ptr<ExampleSearch>> ExampleSearch::load(const std::filesystem::path& folder) {
  Result<std::vector<Example>> examples = load_examples(folder);
  if (!examples) return fail(examples.error());
  return std::make_unique<ExampleSearch>(std::move(*examples));
}

Result<std::vector<FoundExample>> ExampleSearch::by_words(std::string_view words,
                                                          std::size_t k) const {
  {
    const std::lock_guard lock(making_);
    if (!full_text_) {
      Result<std::unique_ptr<FullText>> made = FullText::make(examples_);
      if (!made) return fail(made.error());
      full_text_ = std::move(*made);
    }
  }
  const Result<std::vector<Hit>> hits = full_text_->search(words, k);
  if (!hits) return fail(hits.error());
  return found(*hits);
}

Result<std::vector<FoundExample>> ExampleSearch::by_code(std::string_view code,
                                                         std::size_t k) const {
  if (code_grams(code).empty())
    return fail(ErrorCode::invalid_argument,
                "code is too short to compare: give at least five tokens, e.g. a line of a kernel");
  {
    const std::lock_guard lock(making_);
    if (!similar_) {
      std::vector<std::string_view> sources;
      for (const Example& example : examples_) sources.emplace_back(example.source);
      similar_ = std::make_unique<SimilarCode>(sources);
    }
  }
  return found(similar_->nearest(code, k));
}

std::vector<FoundExample> ExampleSearch::found(const std::vector<Hit>& hits) const {
  std::vector<FoundExample> all;
  for (const Hit& hit : hits) all.push_back({&examples_[hit.index], hit.score});
  return all;
}

}  // namespace assay::operators
