// Fuzzes the parser of reward policies, which clients send as formulas.
//
// For any bytes there must be no crash and no undefined behaviour, and a refusal must say why. A
// formula that is accepted must keep its value, bit by bit, inside parentheses, in the branch of a
// choice and as the operand of a sign, because the parser must not change what binds to what. A
// second parser, which reads sums, products and comparisons in another way, must give the same
// value.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/evaluate/expression.h"

namespace {

using namespace assay;
using namespace assay::server;

const std::vector<std::string>& names() {
  static const std::vector<std::string> known = {"correct", "speedup", "x"};
  return known;
}
const Expression::Variables& values() {
  static const Expression::Variables known = {{"correct", 1}, {"speedup", 2.5}};  // x is missing
  return known;
}

void must(bool holds) {
  if (!holds) std::abort();
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Returns the value of the formula, or nothing if it is refused.
std::optional<double> value_of(const std::string& text) {
  const Result<Expression> parsed = Expression::parse(text, names());
  if (!parsed) {
    must(parsed.error().code == ErrorCode::invalid_argument && !parsed.error().message.empty());
    return std::nullopt;
  }
  must(parsed->text() == text);
  const double value = parsed->value(values());
  must(same(value, parsed->value(values())));
  return value;
}

/// Returns the value of a formula without names, powers, `!` and choices. It computes while it
/// reads, with one function for each operator's level. Returns nothing for all other formulas.
class SmallReader {
 public:
  explicit SmallReader(std::string_view text) : text_(text) {}
  std::optional<double> value() {
    const double found = any();
    return known_ && at_ == text_.size() ? std::optional<double>(found) : std::nullopt;
  }

 private:
  bool take(std::string_view wanted) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }
  double any() {
    double left = all();
    while (known_ && take("||")) {
      const double right = all();
      left = left != 0 || right != 0 ? 1 : 0;
    }
    return left;
  }
  double all() {
    double left = equality();
    while (known_ && take("&&")) {
      const double right = equality();
      left = left != 0 && right != 0 ? 1 : 0;
    }
    return left;
  }
  double equality() {
    double left = order();
    while (known_) {
      if (take("==")) {
        const double right = order();
        left = left == right ? 1 : 0;
      } else if (take("!=")) {
        const double right = order();
        left = left != right ? 1 : 0;
      } else {
        break;
      }
    }
    return left;
  }
  double order() {
    double left = sum();
    while (known_) {
      const bool or_equal = take("<=");
      const bool less = or_equal || take("<");
      const bool at_least = !less && take(">=");
      if (!less && !at_least && !take(">")) break;
      const double right = sum();
      if (less)
        left = (or_equal ? left <= right : left < right) ? 1 : 0;
      else
        left = (at_least ? left >= right : left > right) ? 1 : 0;
    }
    return left;
  }
  double sum() {
    double left = product();
    while (known_) {
      if (take("+")) {
        const double right = product();
        left = left + right;
      } else if (take("-")) {
        const double right = product();
        left = left - right;
      } else {
        break;
      }
    }
    return left;
  }
  double product() {
    double left = operand();
    while (known_) {
      if (take("*")) {
        const double right = operand();
        left = left * right;
      } else if (take("/")) {
        const double right = operand();
        left = left / right;
      } else {
        break;
      }
    }
    return left;
  }
  double operand() {
    if (!known_) return 0;
    if (take("(")) {
      const double inner = any();
      known_ = known_ && take(")");
      return inner;
    }
    if (take("-")) return -operand();
    double found = 0;
    const char* const begin = text_.data() + at_;
    const bool is_number =
        at_ < text_.size() && ((text_[at_] >= '0' && text_[at_] <= '9') || text_[at_] == '.');
    const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), found);
    if (!is_number || problem != std::errc{}) {
      known_ = false;
      return 0;
    }
    at_ += static_cast<std::size_t>(end - begin);
    return found;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool known_ = true;
};

/// A formula around another one can reach a limit that the inner formula does not reach.
void must_be(const std::string& text, double expected) {
  const std::optional<double> found = value_of(text);
  must(!found || same(*found, expected));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::optional<double> value = value_of(text);
  if (!value) return 0;
  must(size <= ExpressionLimits{}.max_bytes);
  must_be("(" + text + ")", *value);
  must_be(" 1 ? " + text + " : 7", *value);
  must_be("0 ? 7 : " + text, *value);
  must_be("-(" + text + ")", -*value);
  if (const std::optional<double> other = SmallReader(text).value()) must(same(*value, *other));
  return 0;
}
