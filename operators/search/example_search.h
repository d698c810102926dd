// Finds examples (operators/examples.h) by words or by code like a given piece.
//
//   auto search = ExampleSearch::load("operators/examples");
//   for (const FoundExample& found : *(*search)->by_words("ragged rows", 3))
//   show(found.example->source);
//
// Thread-safe. Both indices are made by the first search, not by load(): a server's start does not
// wait for them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "operators/examples.h"
#include "operators/search/full_text.h"
#include "operators/search/similar_code.h"

namespace assay::operators {

struct FoundExample {
  const Example* example = nullptr;  // lives as long as the search
  double score = 0;                  // the larger the better; comparable within one answer only
};

class ExampleSearch {
 public:
  static Result<std::unique_ptr<ExampleSearch>> load(const std::filesystem::path& folder);
  explicit ExampleSearch(std::vector<Example> examples) : examples_(std::move(examples)) {}

  const std::vector<Example>& all() const { return examples_; }  // by name
  Result<std::vector<FoundExample>> by_words(std::string_view words, std::size_t k) const;
  /// Code of less than five tokens is an invalid_argument.
  Result<std::vector<FoundExample>> by_code(std::string_view code, std::size_t k) const;

 private:
  std::vector<FoundExample> found(const std::vector<Hit>& hits) const;

  const std::vector<Example> examples_;
  mutable std::mutex making_;
  mutable std::unique_ptr<FullText> full_text_;
  mutable std::unique_ptr<SimilarCode> similar_;
};

}  // namespace assay::operators
