#include "server/evaluate/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text.h"

namespace assay::server {
namespace {

using Code = Expression::Code;

struct FunctionRow {
  std::string_view name;
  Code code;
  std::size_t arguments;
};

constexpr std::array kFunctions = {
    FunctionRow{"abs", Code::abs, 1},   FunctionRow{"clip", Code::clip, 3},
    FunctionRow{"exp", Code::exp, 1},   FunctionRow{"log", Code::log, 1},
    FunctionRow{"max", Code::max, 2},   FunctionRow{"min", Code::min, 2},
    FunctionRow{"sqrt", Code::sqrt, 1},
};

struct BinaryRow {
  std::string_view text;
  Code code;
  int level;  // a higher level binds more tightly
};

// Longer texts come before their beginnings.
constexpr std::array kBinary = {
    BinaryRow{"||", Code::logical_or, 1}, BinaryRow{"&&", Code::logical_and, 2},
    BinaryRow{"==", Code::equal, 3},      BinaryRow{"!=", Code::unequal, 3},
    BinaryRow{"<=", Code::less_equal, 4}, BinaryRow{">=", Code::greater_equal, 4},
    BinaryRow{"<", Code::less, 4},        BinaryRow{">", Code::greater, 4},
    BinaryRow{"+", Code::add, 5},         BinaryRow{"-", Code::subtract, 5},
    BinaryRow{"*", Code::multiply, 6},    BinaryRow{"/", Code::divide, 6},
};

std::size_t operands_of(Code code) {
  switch (code) {
    case Code::number:
    case Code::variable: return 0;
    case Code::negate:
    case Code::logical_not:
    case Code::abs:
    case Code::exp:
    case Code::log:
    case Code::sqrt: return 1;
    case Code::choose:
    case Code::clip: return 3;
    default: return 2;
  }
}

double truth(bool value) { return value ? 1 : 0; }

double computed(Code code, const double* operand) {
  const double a = operand[0], b = operand[1], c = operand[2];
  switch (code) {
    case Code::add: return a + b;
    case Code::subtract: return a - b;
    case Code::multiply: return a * b;
    case Code::divide: return a / b;
    case Code::power: return std::pow(a, b);
    case Code::negate: return -a;
    case Code::less: return truth(a < b);
    case Code::less_equal: return truth(a <= b);
    case Code::greater: return truth(a > b);
    case Code::greater_equal: return truth(a >= b);
    case Code::equal: return truth(a == b);
    case Code::unequal: return truth(a != b);
    case Code::logical_and: return truth(a != 0 && b != 0);
    case Code::logical_or: return truth(a != 0 || b != 0);
    case Code::logical_not: return truth(a == 0);
    case Code::choose: return a != 0 ? b : c;
    case Code::abs: return std::fabs(a);
    case Code::clip: return std::min(std::max(a, b), c);
    case Code::exp: return std::exp(a);
    case Code::log: return std::log(a);
    case Code::max: return std::max(a, b);
    case Code::min: return std::min(a, b);
    case Code::sqrt: return std::sqrt(a);
    case Code::number:
    case Code::variable: break;
  }
  return 0;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const std::vector<std::string>& variables,
                   const ExpressionLimits& limits, std::vector<Expression::Operation>& out)
      : text_(text), variables_(variables), limits_(limits), out_(out) {}

  Status parse() {
    choice(0);
    if (!error_ && !at_end()) refuse("an operator");
    if (!error_ && out_.size() > limits_.max_operations)
      error_ = "has more than " + std::to_string(limits_.max_operations) + " operations";
    if (error_) return fail(ErrorCode::invalid_argument, "the expression " + *error_);
    return {};
  }

 private:
  void refuse(const std::string& valid) {
    if (!error_)
      error_ = "is not valid at character " + std::to_string(at_ + 1) + "; valid: " + valid;
  }
  bool at_end() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
    return at_ >= text_.size();
  }
  bool take(std::string_view wanted) {
    if (at_end() || text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }
  void expect(std::string_view wanted) {
    if (!error_ && !take(wanted)) refuse("'" + std::string(wanted) + "'");
  }
  void emit(Code code) {
    out_.push_back({.code = code});
    // The limit is checked here too, so that a long text does not first fill the memory.
    if (out_.size() > limits_.max_operations && !error_)
      error_ = "has more than " + std::to_string(limits_.max_operations) + " operations";
  }
  /// Returns false if the formula is nested too deeply.
  bool enter(int depth) {
    if (depth > limits_.max_depth && !error_)
      error_ = "has more than " + std::to_string(limits_.max_depth) + " nested levels";
    return !error_;
  }

  void choice(int depth) {
    if (!enter(depth)) return;
    binary(1, depth);
    if (error_ || !take("?")) return;
    choice(depth + 1);
    expect(":");
    choice(depth + 1);
    emit(Code::choose);
  }

  void binary(int level, int depth) {
    unary(depth);
    while (!error_ && !at_end()) {
      const auto* const row = std::find_if(kBinary.begin(), kBinary.end(), [&](const auto& one) {
        return text_.substr(at_, one.text.size()) == one.text;
      });
      if (row == kBinary.end() || row->level < level) return;
      at_ += row->text.size();
      binary(row->level + 1, depth);
      emit(row->code);
    }
  }

  void unary(int depth) {
    if (!enter(depth)) return;
    if (take("-")) {
      unary(depth + 1);
      return emit(Code::negate);
    }
    if (take("+")) return unary(depth + 1);
    if (!at_end() && text_.substr(at_, 2) != "!=" && take("!")) {
      unary(depth + 1);
      return emit(Code::logical_not);
    }
    primary(depth);
    if (error_ || !take("^")) return;
    unary(depth + 1);
    emit(Code::power);
  }

  void primary(int depth) {
    if (at_end()) return refuse("a number, a variable, a function or '('");
    if (take("(")) {
      choice(depth + 1);
      return expect(")");
    }
    const char first = text_[at_];
    if (is_digit(first) || first == '.') return number();
    if (is_letter(first)) return name(depth);
    refuse("a number, a variable, a function or '('");
  }

  void number() {
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (problem != std::errc{}) return refuse("a number");
    at_ += static_cast<std::size_t>(end - begin);
    emit(Code::number);
    out_.back().number = value;
  }

  void name(int depth) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    const auto* const row = std::find_if(kFunctions.begin(), kFunctions.end(),
                                         [&](const auto& one) { return one.name == word; });
    if (row != kFunctions.end()) return call(*row, depth);
    if (std::find(variables_.begin(), variables_.end(), word) == variables_.end()) {
      at_ = begin;
      return refuse("the variables " + join(variables_) + " and the functions " + kFunctionNames);
    }
    emit(Code::variable);
    out_.back().variable = word;
  }

  void call(const FunctionRow& row, int depth) {
    expect("(");
    for (std::size_t i = 0; i < row.arguments && !error_; ++i) {
      if (i > 0) expect(",");
      choice(depth + 1);
    }
    expect(")");
    emit(row.code);
  }

  const std::string_view text_;
  const std::vector<std::string>& variables_;
  const ExpressionLimits& limits_;
  std::vector<Expression::Operation>& out_;
  std::size_t at_ = 0;
  std::optional<std::string> error_;
};

}  // namespace

Result<Expression> Expression::parse(std::string_view text,
                                     const std::vector<std::string>& variables,
                                     const ExpressionLimits& limits) {
  if (text.size() > limits.max_bytes)
    return fail(ErrorCode::invalid_argument,
                "the expression is longer than " + std::to_string(limits.max_bytes) + " bytes");
  Expression expression{std::string(text)};
  ASSAY_RETURN_IF_ERROR(
      ExpressionParser(expression.text_, variables, limits, expression.operations_).parse());
  return expression;
}

double Expression::value(const Variables& variables) const {
  std::vector<double> stack(operations_.size() + 3, 0);  // an operation reads up to 3 operands
  std::size_t size = 0;
  for (const Operation& operation : operations_) {
    if (operation.code == Code::number) {
      stack[size++] = operation.number;
    } else if (operation.code == Code::variable) {
      const auto found = variables.find(operation.variable);
      stack[size++] = found == variables.end() ? 0 : found->second;
    } else {
      size -= operands_of(operation.code);
      stack[size] = computed(operation.code, &stack[size]);
      ++size;
    }
  }
  return size == 0 ? 0 : stack[0];
}

}  // namespace assay::server
