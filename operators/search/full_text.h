// Full-text search of the examples: BM25 over name, title and source, by SQLite's FTS5 in memory.
// Words are compared by their stems, so that "masking" finds "masked", and split where a name has
// an underscore.
//
//   auto index = FullText::make(examples);
//   (*index)->search("segmented scan", 3);             // {{12, 7.9}, {40, 3.1}}
//
// Thread-safe: one connection behind a lock; a search takes some tens of microseconds.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "operators/examples.h"
#include "operators/search/similar_code.h"

namespace assay::operators {

class FullText {
 public:
  static Result<std::unique_ptr<FullText>> make(const std::vector<Example>& examples);
  virtual ~FullText() = default;

  /// At most `k` examples with any word of `words`, best first. Whatever else `words` holds
  /// separates words: nothing of it is query language. Text without a word is an invalid_argument.
  virtual Result<std::vector<Hit>> search(std::string_view words, std::size_t k) const = 0;
};

}  // namespace assay::operators
