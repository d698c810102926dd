// SimilarCode finds the texts of a corpus that share the most code with a given piece, by runs of
// tokens (code_grams.h). A run that many texts contain, such as `tl.program_id(0) * BLOCK`, has a
// small weight.
//
//   SimilarCode similar({source_a, source_b});
//   similar.nearest("y = tl.associative_scan(x, 0, _add)", 3);      // {{1, 0.42}, {0, 0.07}}
//
// Immutable, so thread-safe.
//
// Turns kernel source into grams, which similar code shares: hashes of runs of five tokens. A run
// keeps numbers, strings, keywords, `tl`, `torch` and names after a dot (`.load`). It replaces each
// variable by its number among the run's variables, so neither renaming nor moving code changes a
// gram. Comments, layout and docstrings are left out.
//
//   code_grams("y = tl.exp(x)\n")  ==  code_grams("b = tl.exp(a)  # shifted\n")
//
// Takes any bytes, also bytes that are not Python. A pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::operators {

/// A text's index in the corpus, and its score: larger is better.
struct Hit {
  std::size_t index = 0;
  double score = 0;
};

class SimilarCode {
 public:
  explicit SimilarCode(const std::vector<std::string_view>& texts);

  /// At most `k`, best first, 0 < score <= 1: the weight of the shared runs over the geometric mean
  /// of both texts' weights.
  std::vector<Hit> nearest(std::string_view code, std::size_t k) const;

 private:
  double weight_of(std::uint64_t gram) const;
  double weight_of(const std::vector<std::uint64_t>& grams) const;

  std::size_t texts_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> holders_;  // of each run, ascending
  std::vector<double> weights_;                                          // of each text
};

/// Hashes of the runs, ascending, each once. Empty for fewer than five tokens.
std::vector<std::uint64_t> code_grams(std::string_view code);

}  // namespace assay::operators
