// Expression is an arithmetic formula over named numbers. It is parsed once and evaluated many
// times. It has numbers, variables, + - * / ^, comparisons, && || !, the choice `a ? b : c`,
// parentheses, and the functions of kFunctionNames. A comparison is 1 or 0, and every number but 0
// is true. There are no loops, no assignments and no other effects.
//
//   Result<Expression> parsed = Expression::parse("correct ? 2 * speedup : -1",
//                                                {"correct", "speedup"});
//   const double reward = parsed->value({{"correct", 1}, {"speedup", 2.5}});  // 5
//
// The length, the nesting and the number of operations are limited, so the cost of an evaluation
// is bounded. An Expression is immutable; threads may share it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::server {

struct ExpressionLimits {
  std::size_t max_bytes = 1'000;
  std::size_t max_operations = 400;
  int max_depth = 40;  // nested parentheses, choices and signs
};

inline constexpr const char* kFunctionNames = "abs, clip, exp, log, max, min, sqrt";

class Expression {
 public:
  using Variables = std::map<std::string, double, std::less<>>;

  /// Parses a formula. `variables` are the names that it may use. Error: invalid_argument, and the
  /// message has the position and what would be valid there.
  static Result<Expression> parse(std::string_view text, const std::vector<std::string>& variables,
                                  const ExpressionLimits& limits = {});

  /// Returns the value. A variable that is missing is 0. The value can be infinite or NaN, for
  /// example after a division by 0.
  double value(const Variables& variables) const;
  const std::string& text() const { return text_; }

  enum class Code {
    number,
    variable,
    add,
    subtract,
    multiply,
    divide,
    power,
    negate,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    unequal,
    logical_and,
    logical_or,
    logical_not,
    choose,
    abs,
    clip,
    exp,
    log,
    max,
    min,
    sqrt,
  };
  /// One step of a stack machine.
  struct Operation {
    Code code = Code::number;
    double number = 0;
    std::string variable = {};
  };

 private:
  explicit Expression(std::string text) : text_(std::move(text)) {}

  std::string text_;
  std::vector<Operation> operations_;
};

}  // namespace assay::server
