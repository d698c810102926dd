// ExampleSearch finds examples (operators/guides.h) by words or by similar code.
//
//   auto search = ExampleSearch::load("operators/examples");
//   auto found = (*search)->by_words("ragged rows", 3);
//   if (found) for (const FoundExample& one : *found) show(one.example->source);
//
// Thread-safe. The first search makes the indices, not load(), so that a server's start does not
// wait for them.
//
// FullText searches the examples by words: BM25 over name, title and source, with SQLite's FTS5 in
// memory. It compares words by their stems, so that "masking" finds "masked", and splits names at
// underscores.
//
//   auto index = FullText::make(examples);
//   (*index)->search("segmented scan", 3);             // {{12, 7.9}, {40, 3.1}}
//
// Thread-safe: one connection with a lock. A search takes some tens of microseconds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "operators/guides.h"
#include "operators/search/similar_code.h"

namespace assay::operators {

class FullText {
 public:
  static Result<std::unique_ptr<FullText>> make(const std::vector<Example>& examples);
  virtual ~FullText() = default;

  /// At most `k` examples with any word of `words`, best first. Every other character of `words`
  /// separates words; there is no query language. Error: invalid_argument, there is no word.
  virtual Result<std::vector<Hit>> search(std::string_view words, std::size_t k) const = 0;
};

struct FoundExample {
  const Example* example = nullptr;  // lives as long as the search
  double score = 0;                  // larger is better; comparable within one answer only
};

class ExampleSearch {
 public:
  static Result<std::unique_ptr<ExampleSearch>> load(const std::filesystem::path& folder);
  explicit ExampleSearch(std::vector<Example> examples) : examples_(std::move(examples)) {}

  const std::vector<Example>& all() const { return examples_; }  // by name
  Result<std::vector<FoundExample>> by_words(std::string_view words, std::size_t k) const;
  /// invalid_argument: the code has fewer than five tokens.
  Result<std::vector<FoundExample>> by_code(std::string_view code, std::size_t k) const;

 private:
  Result<const FullText*> full_text() const;
  const SimilarCode& similar_code() const;
  std::vector<FoundExample> found(const std::vector<Hit>& hits) const;

  const std::vector<Example> examples_;
  mutable Mutex mutex_;
  /// Made by the first search; the indices themselves are thread-safe.
  mutable std::unique_ptr<const FullText> full_text_ ASSAY_GUARDED_BY(mutex_);
  mutable std::unique_ptr<const SimilarCode> similar_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::operators
