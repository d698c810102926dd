#include "sandbox/gpu/judge_assignment.h"

#include <cstddef>

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("an operator keeps its judge") {
  JudgeAssignment choice(3);
  const std::size_t first = choice.take("softmax").index();
  const JudgeAssignment::Hold busy = choice.take("softmax");
  CHECK(busy.index() == first);
  CHECK(choice.take("softmax").index() == first);
}

TEST_CASE("operators that come while others are at work go to idle judges") {
  JudgeAssignment choice(3);
  const JudgeAssignment::Hold a = choice.take("a"), b = choice.take("b"), c = choice.take("c");
  CHECK(a.index() != b.index());
  CHECK(b.index() != c.index());
  CHECK(a.index() != c.index());
}

TEST_CASE("a job that is over leaves its judge to others") {
  JudgeAssignment choice(2);
  const JudgeAssignment::Hold a = choice.take("a");
  std::size_t idle = 0;
  {
    const JudgeAssignment::Hold b = choice.take("b");
    idle = b.index();
  }
  const JudgeAssignment::Hold again = choice.take("a");
  const JudgeAssignment::Hold c = choice.take("c"), d = choice.take("d");
  CHECK(c.index() == idle);
  CHECK(d.index() == idle);
}

TEST_CASE("with nobody at work operators are dealt out evenly") {
  JudgeAssignment choice(2);
  CHECK(choice.take("a").index() != choice.take("b").index());
}
