#include "sandbox/gpu/judge_choice.h"

#include <cstddef>

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("an operator keeps its judge") {
  JudgeChoice choice(3);
  const std::size_t first = choice.take("softmax").index();
  const JudgeChoice::Hold busy = choice.take("softmax");
  CHECK(busy.index() == first);
  CHECK(choice.take("softmax").index() == first);
}

TEST_CASE("operators that come while others are at work go to idle judges") {
  JudgeChoice choice(3);
  const JudgeChoice::Hold a = choice.take("a"), b = choice.take("b"), c = choice.take("c");
  CHECK(a.index() != b.index());
  CHECK(b.index() != c.index());
  CHECK(a.index() != c.index());
}

TEST_CASE("a job that is over leaves its judge to others") {
  JudgeChoice choice(2);
  const JudgeChoice::Hold a = choice.take("a");
  std::size_t idle = 0;
  {
    const JudgeChoice::Hold b = choice.take("b");
    idle = b.index();
  }
  const JudgeChoice::Hold again = choice.take("a");
  const JudgeChoice::Hold c = choice.take("c"), d = choice.take("d");
  CHECK(c.index() == idle);
  CHECK(d.index() == idle);
}

TEST_CASE("with nobody at work operators are dealt out evenly") {
  JudgeChoice choice(2);
  CHECK(choice.take("a").index() != choice.take("b").index());
}
