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
#include <memory>
#include <string_view>
#include <vector>

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

}  // namespace assay::operators
