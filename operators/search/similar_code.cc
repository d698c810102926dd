#include "operators/search/similar_code.h"

#include <algorithm>
#include <cmath>

#include "operators/search/code_grams.h"

namespace assay::operators {

SimilarCode::SimilarCode(const std::vector<std::string_view>& texts) : texts_(texts.size()) {
  std::vector<std::vector<std::uint64_t>> grams;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    grams.push_back(code_grams(texts[i]));
    for (const std::uint64_t gram : grams.back()) holders_[gram].push_back(i);
  }
  for (const auto& of_text : grams) weights_.push_back(weight_of(of_text));
}

double SimilarCode::weight_of(std::uint64_t gram) const {
  const auto found = holders_.find(gram);
  const std::size_t holders = found == holders_.end() ? 0 : found->second.size();
  return std::log(static_cast<double>(texts_ + 2) /
                  static_cast<double>(holders + 1));  // above 0 even if every text contains it
}

double SimilarCode::weight_of(const std::vector<std::uint64_t>& grams) const {
  double sum = 0;
  for (const std::uint64_t gram : grams) sum += weight_of(gram);
  return sum;
}

std::vector<Hit> SimilarCode::nearest(std::string_view code, std::size_t k) const {
  const std::vector<std::uint64_t> grams = code_grams(code);
  const double own = weight_of(grams);
  std::vector<double> shared(texts_, 0);
  for (const std::uint64_t gram : grams) {
    const auto found = holders_.find(gram);
    if (found == holders_.end()) continue;
    const double weight = weight_of(gram);
    for (const std::size_t index : found->second) shared[index] += weight;
  }
  std::vector<Hit> hits;
  for (std::size_t i = 0; i < texts_; ++i) {
    if (shared[i] > 0) hits.push_back({i, std::min(1.0, shared[i] / std::sqrt(own * weights_[i]))});
  }
  std::stable_sort(hits.begin(), hits.end(),
                   [](const Hit& a, const Hit& b) { return a.score > b.score; });
  if (hits.size() > k) hits.resize(k);
  return hits;
}

}  // namespace assay::operators
