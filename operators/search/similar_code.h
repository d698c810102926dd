// SimilarCode finds the texts of a corpus that share the most code with a given piece of code. It
// compares grams: hashes of runs of tokens. A gram stays the same when code is renamed, moved or
// formatted differently. A gram that many texts contain, such as `tl.program_id(0) * BLOCK`, has a
// small weight. Instances are immutable and thread-safe.
//
//   SimilarCode similar({source_a, source_b});
//   similar.nearest("y = tl.associative_scan(x, 0, _add)", 3);  // {{1, 0.42}, {0, 0.07}}
//   code_grams("y = tl.exp(x)") == code_grams("b = tl.exp(a)  # shifted");  // true
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::operators {

/// Converts source code into grams: hashes of runs of five tokens. A run contains numbers, strings,
/// keywords, `tl`, `torch` and names after a dot (`.load`) as they are. Each variable is replaced
/// by its number among the run's variables, so neither renaming a variable nor moving code changes
/// a gram. Comments, whitespace and docstrings are ignored. The input can be any bytes, even if
/// they are not Python. Returns each hash once, in ascending order. Returns nothing if there are
/// fewer than five tokens.
std::vector<std::uint64_t> code_grams(std::string_view code);

/// One search result: the index of a text in the corpus, and its score. A larger score is better.
struct Hit {
  std::size_t index = 0;
  double score = 0;
};

class SimilarCode {
 public:
  explicit SimilarCode(const std::vector<std::string_view>& texts);

  /// Returns at most `k` texts, best first. The score is the weight of the shared grams divided by
  /// the geometric mean of the weights of `code` and of the text: 0 < score <= 1.
  std::vector<Hit> nearest(std::string_view code, std::size_t k) const;

 private:
  double weight_of(std::uint64_t gram) const;
  double weight_of(const std::vector<std::uint64_t>& grams) const;

  std::size_t texts_;
  /// Maps each gram to the indices of the texts that contain it, in ascending order.
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> holders_;
  std::vector<double> weights_;  // the sum of the weights of each text's grams
};

}  // namespace assay::operators
