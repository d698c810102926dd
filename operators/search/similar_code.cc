#include "operators/search/similar_code.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace assay::operators {
namespace {

constexpr std::size_t kGramTokens = 5;
constexpr std::array<std::string_view, 42> kKeptNames = {
    "False", "None", "True",   "and",    "as",     "assert", "break", "class",  "continue",
    "def",   "del",  "elif",   "else",   "except", "for",    "from",  "if",     "import",
    "in",    "is",   "lambda", "not",    "or",     "pass",   "raise", "return", "try",
    "while", "with", "gl",     "gluon",  "int",    "float",  "len",   "max",    "min",
    "range", "tl",   "torch",  "triton", "tuple",  "print"};

struct Token {
  std::string_view text;
  bool variable = false;
};

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool digit(char c) { return c >= '0' && c <= '9'; }

bool kept(std::string_view name) {
  return std::find(kKeptNames.begin(), kKeptNames.end(), name) != kKeptNames.end();
}

/// Returns the position after the string that starts at `at`. An unterminated string ends at the
/// end of its line; an unterminated triple-quoted string ends at the end of the text.
std::size_t end_of_string(std::string_view code, std::size_t at, bool triple) {
  const char quote = code[at];
  for (std::size_t i = at + (triple ? 3 : 1); i < code.size(); ++i) {
    if (code[i] == '\\') {
      ++i;
    } else if (triple ? code.substr(i, 3) == code.substr(at, 3) : code[i] == quote) {
      return i + (triple ? 3 : 1);
    } else if (!triple && code[i] == '\n') {
      return i;
    }
  }
  return code.size();
}

std::vector<Token> tokens_of(std::string_view code) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < code.size();) {
    const char c = code[at];
    std::size_t end = at + 1;
    if (c == '#') {
      at = std::min(code.find('\n', at), code.size());
      continue;
    }
    if (c == '"' || c == '\'') {
      const bool triple = code.substr(at, 3) == std::string_view(c == '"' ? "\"\"\"" : "'''");
      end = end_of_string(code, at, triple);
      // A triple-quoted string is a docstring.
      if (!triple) tokens.push_back({code.substr(at, end - at)});
    } else if (starts_name(c)) {
      while (end < code.size() && (starts_name(code[end]) || digit(code[end]))) ++end;
      const std::string_view name = code.substr(at, end - at);
      const bool member = !tokens.empty() && tokens.back().text == ".";
      tokens.push_back({name, !member && !kept(name)});
    } else if (digit(c)) {
      while (end < code.size() && (starts_name(code[end]) || digit(code[end]) || code[end] == '.'))
        ++end;
      tokens.push_back({code.substr(at, end - at)});
    } else if (static_cast<unsigned char>(c) > ' ' && c != '\\') {
      tokens.push_back({code.substr(at, 1)});
    }
    at = end;
  }
  return tokens;
}

std::uint64_t mixed(std::uint64_t hash, std::string_view text) {  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  // UTF-8 never contains the byte 0xff, so it separates texts: ("ab", "c") differs from ("a",
  // "bc").
  return (hash ^ 0xffU) * 0x100000001b3U;
}

std::uint64_t hash_of(const Token* run) {
  std::array<std::string_view, kGramTokens> variables;
  std::size_t known = 0;
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (std::size_t i = 0; i < kGramTokens; ++i) {
    if (!run[i].variable) {
      hash = mixed(hash, run[i].text);
      continue;
    }
    const auto* const begin = variables.begin();
    const auto place =
        static_cast<std::size_t>(std::find(begin, begin + known, run[i].text) - begin);
    if (place == known) variables[known++] = run[i].text;
    // The replacement of a variable begins with a newline. No token begins with a newline, so the
    // replacement differs from every token.
    const std::array<char, 2> canonical = {'\n', static_cast<char>('0' + place)};
    hash = mixed(hash, {canonical.data(), canonical.size()});
  }
  return hash;
}

}  // namespace

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
  // The numerator is `texts_ + 2`, so that the weight is above 0 even if every text contains the
  // gram.
  return std::log(static_cast<double>(texts_ + 2) / static_cast<double>(holders + 1));
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

std::vector<std::uint64_t> code_grams(std::string_view code) {
  const std::vector<Token> tokens = tokens_of(code);
  std::vector<std::uint64_t> grams;
  for (std::size_t first = 0; first + kGramTokens <= tokens.size(); ++first)
    grams.push_back(hash_of(&tokens[first]));
  std::sort(grams.begin(), grams.end());
  grams.erase(std::unique(grams.begin(), grams.end()), grams.end());
  return grams;
}

}  // namespace assay::operators
