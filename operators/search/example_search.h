// ExampleSearch finds examples (operators/guides.h) by words or by similar code. It is thread-safe.
// The first search builds the indices. load() does not build them, because that would delay the
// start of the server.
//
//   Result<std::unique_ptr<ExampleSearch>> search = ExampleSearch::load("operators/examples");
//   Result<std::vector<FoundExample>> found = (*search)->by_words("ragged rows", 3);
//   found->front().example->title;  // "..."
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

/// Searches the examples by words. It ranks them by BM25 over name, title and source, with SQLite's
/// FTS5 in memory. It compares words by their stems, so that "masking" finds "masked", and splits
/// names at underscores. A search takes a few tens of microseconds. FullText is thread-safe: a lock
/// protects its one connection.
class FullText {
 public:
  static Result<std::unique_ptr<FullText>> make(const std::vector<Example>& examples);
  virtual ~FullText() = default;

  /// Returns at most `k` examples that contain any of `words`, best first. A word consists of
  /// letters and digits, and every other character separates words. There is no query language.
  /// Errors: invalid_argument if `words` contains no word.
  virtual Result<std::vector<Hit>> search(std::string_view words, std::size_t k) const = 0;
};

struct FoundExample {
  const Example* example = nullptr;  // valid as long as the ExampleSearch
  double score = 0;  // Larger is better. Scores of different searches cannot be compared.
};

class ExampleSearch {
 public:
  static Result<std::unique_ptr<ExampleSearch>> load(const std::filesystem::path& folder);
  explicit ExampleSearch(std::vector<Example> examples) : examples_(std::move(examples)) {}

  const std::vector<Example>& all() const { return examples_; }  // sorted by name
  Result<std::vector<FoundExample>> by_words(std::string_view words, std::size_t k) const;
  /// Errors: invalid_argument if the code has fewer than five tokens.
  Result<std::vector<FoundExample>> by_code(std::string_view code, std::size_t k) const;

 private:
  Result<const FullText*> full_text() const;
  const SimilarCode& similar_code() const;
  std::vector<FoundExample> found(const std::vector<Hit>& hits) const;

  const std::vector<Example> examples_;
  mutable Mutex mutex_;
  /// The first search builds each index. The lock protects the pointers; the indices are
  /// thread-safe.
  mutable std::unique_ptr<const FullText> full_text_ ASSAY_GUARDED_BY(mutex_);
  mutable std::unique_ptr<const SimilarCode> similar_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::operators
