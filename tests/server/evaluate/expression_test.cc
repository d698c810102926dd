#include "server/evaluate/expression.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

using namespace assay;
using namespace assay::server;

namespace {

const std::vector<std::string> kNames = {"correct", "speedup"};

double value(const std::string& text, const Expression::Variables& variables = {}) {
  const Result<Expression> parsed = Expression::parse(text, kNames);
  INFO(text << ": " << (parsed ? "" : parsed.error().message));
  REQUIRE(parsed);
  return parsed->value(variables);
}

std::string refusal(const std::string& text, const ExpressionLimits& limits = {}) {
  const Result<Expression> parsed = Expression::parse(text, kNames, limits);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == ErrorCode::invalid_argument);
  return parsed.error().message;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("operators bind as in C, and powers bind to the right") {
  CHECK(value("1 + 2 * 3") == 7);
  CHECK(value("(1 + 2) * 3") == 9);
  CHECK(value("10 - 4 - 3") == 3);
  CHECK(value("16 / 4 / 2") == 2);
  CHECK(value("2 ^ 3 ^ 2") == 512);
  CHECK(value("-2 ^ 2") == -4);
  CHECK(value("2 ^ -1") == 0.5);
  CHECK(value("1 < 2 == 1") == 1);
  CHECK(value("1 || 0 && 0") == 1);
  CHECK(value("!0 + !5 + !!2") == 2);
  CHECK(value("1 != 1 || 2 >= 2") == 1);
  CHECK(value("0 ? 1 : 1 ? 2 : 3") == 2);
  CHECK(value(" 1.5e1\t+ .5\n") == 15.5);
}

TEST_CASE("variables have their values, and a missing one is 0") {
  const std::string text = "correct ? 0.3 + speedup : 0";
  CHECK(value(text, {{"correct", 1}, {"speedup", 1.5}}) == 1.8);
  CHECK(value(text, {{"correct", 0}, {"speedup", 1.5}}) == 0);
  CHECK(value("speedup") == 0);
}

TEST_CASE("functions compute what their names say") {
  CHECK(value("abs(-3) + min(1, 2) + max(1, 2)") == 6);
  CHECK(value("clip(5, 0, 1) + clip(-5, 0, 1) + clip(0.25, 0, 1)") == 1.25);
  CHECK(value("sqrt(9) + log(exp(2))") == Approx(5));
  CHECK(std::isinf(value("1 / 0")));
  CHECK(std::isnan(value("0 / 0")));
}

TEST_CASE("a formula that does not parse is refused at its position") {
  CHECK(
      refusal("1 +") ==
      "the expression is not valid at character 4; valid: a number, a variable, a function or '('");
  CHECK(refusal("(1") == "the expression is not valid at character 3; valid: ')'");
  CHECK(refusal("1 2") == "the expression is not valid at character 3; valid: an operator");
  CHECK(refusal("1 ? 2") == "the expression is not valid at character 6; valid: ':'");
  CHECK(refusal("min(1)") == "the expression is not valid at character 6; valid: ','");
  CHECK(refusal("speed") ==
        "the expression is not valid at character 1; valid: the variables correct, speedup and the "
        "functions " +
            std::string(kFunctionNames));
  for (const char* text : {"", " ", "correct = 1", "system(1)", "1; 2", "speedup[0]", "1 & 1", "."})
    CHECK_FALSE(Expression::parse(text, kNames));
}

TEST_CASE("a formula has a limited length, depth and number of operations") {
  CHECK(refusal(repeated("1", 1'001)) == "the expression is longer than 1000 bytes");
  CHECK(refusal(repeated("(", 41) + "1" + repeated(")", 41)) ==
        "the expression has more than 40 nested levels");
  CHECK(refusal(repeated("-", 900) + "1") == "the expression has more than 40 nested levels");
  CHECK(refusal("1" + repeated("+1", 300)) == "the expression has more than 400 operations");
  CHECK(value(repeated("(", 40) + "1" + repeated(")", 40)) == 1);
  CHECK(value("1" + repeated("+1", 199)) == 200);
  CHECK(refusal("1+1", {.max_operations = 2}) == "the expression has more than 2 operations");
}
