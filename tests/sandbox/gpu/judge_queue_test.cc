#include "sandbox/gpu/judge_queue.h"

#include <chrono>
#include <cstddef>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using Turn = JudgeQueue::Turn;

namespace {

constexpr std::chrono::milliseconds kNoPatience{0};
constexpr std::chrono::hours kEndlessPatience{24};

Deadline without_waiting() { return Deadline::after_ms(0); }
Deadline within_a_minute() { return Deadline::after_ms(60'000); }

/// Takes a turn for a job of the operator. Fails if the job would have to wait.
Turn turn_of(JudgeQueue& queue, const std::string& operator_name) {
  Result<Turn> turn = queue.wait_for_judge({operator_name, ""}, without_waiting());
  REQUIRE(turn);
  return std::move(*turn);
}

/// Returns the judge that a job of the operator gets. The job ends at once, so the judge stays
/// free.
std::size_t judge_of(JudgeQueue& queue, const std::string& operator_name) {
  Turn turn = turn_of(queue, operator_name);
  turn.prepared(true);
  return turn.judge();
}

}  // namespace

TEST_CASE("an operator keeps its judge") {
  JudgeQueue queue({.judges = 3, .loaders = 3});
  const std::size_t first = judge_of(queue, "softmax");
  Turn busy = turn_of(queue, "softmax");
  CHECK(busy.judge() == first);
  busy.prepared(true);
  CHECK(judge_of(queue, "softmax") == first);
}

TEST_CASE("operators that come while others are at work go to idle judges") {
  JudgeQueue queue({.judges = 3, .loaders = 3});
  const Turn a = turn_of(queue, "a"), b = turn_of(queue, "b"), c = turn_of(queue, "c");
  CHECK(a.judge() != b.judge());
  CHECK(b.judge() != c.judge());
  CHECK(a.judge() != c.judge());
}

TEST_CASE("a job that has ended leaves its judge to others") {
  JudgeQueue queue({.judges = 2, .loaders = 2});
  Turn a = turn_of(queue, "a");
  a.prepared(true);
  const std::size_t idle = judge_of(queue, "b");
  Turn again = turn_of(queue, "a");
  again.prepared(true);
  Turn c = turn_of(queue, "c");
  c.prepared(true);
  const Turn d = turn_of(queue, "d");
  CHECK(c.judge() == idle);
  CHECK(d.judge() == idle);
}

TEST_CASE("operators are assigned to judges evenly while no job is at work") {
  JudgeQueue queue({.judges = 2, .loaders = 2});
  CHECK(judge_of(queue, "a") != judge_of(queue, "b"));
}

TEST_CASE("one job at a time has its inputs made by a judge") {
  JudgeQueue queue({.judges = 1, .loaders = 1});
  Turn first = turn_of(queue, "softmax");
  const Result<Turn> refused = queue.wait_for_judge({"softmax", ""}, without_waiting());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::resource_exhausted);
  first.prepared(true);
  CHECK(queue.wait_for_judge({"softmax", ""}, without_waiting()));
}

TEST_CASE("a job that fails before its inputs are made leaves the judge to others") {
  JudgeQueue queue({.judges = 1, .loaders = 1});
  { const Turn failed = turn_of(queue, "softmax"); }
  CHECK(queue.wait_for_judge({"softmax", ""}, without_waiting()));
}

TEST_CASE("jobs get a busy judge in the order of their arrival") {
  JudgeQueue queue({.judges = 1, .loaders = 1});
  std::optional<Turn> held(turn_of(queue, "softmax"));
  std::string order;  // only the holder of the turn writes it
  const auto wait = [&](char name) {
    const Result<Turn> turn = queue.wait_for_judge({"softmax", ""}, within_a_minute());
    if (turn) order += name;
  };
  std::future<void> b = std::async(std::launch::async, wait, 'b');
  REQUIRE(queue.wait_for_waiters(1, within_a_minute()));
  std::future<void> c = std::async(std::launch::async, wait, 'c');
  REQUIRE(queue.wait_for_waiters(2, within_a_minute()));
  held.reset();
  b.get();
  c.get();
  CHECK(order == "bc");
}

TEST_CASE("a judge that is free takes a job whose own judge stays busy") {
  JudgeQueue queue({.judges = 2, .loaders = 2, .patience = kNoPatience});
  judge_of(queue, "softmax");
  const Turn slow = turn_of(queue, "softmax");
  const Result<Turn> other = queue.wait_for_judge({"softmax", ""}, within_a_minute());
  REQUIRE(other);
  CHECK(other->judge() != slow.judge());
}

TEST_CASE("a job of a busy judge goes to the free judge that has the fewest jobs") {
  JudgeQueue queue({.judges = 3, .loaders = 3, .patience = kNoPatience});
  Turn first = turn_of(queue, "first"), second = turn_of(queue, "second");
  first.prepared(true);
  second.prepared(true);
  judge_of(queue, "slow");
  const Turn slow = turn_of(queue, "slow");
  std::optional<Turn> third(turn_of(queue, "first"));
  third->prepared(true);
  // The judge of "slow" is busy. The judge of "first" has two jobs, and the judge of "second" has
  // one. So the next job goes to the judge of "second".
  const Result<Turn> other = queue.wait_for_judge({"slow", ""}, within_a_minute());
  REQUIRE(other);
  CHECK(other->judge() == second.judge());
}

TEST_CASE("a job waits for its own judge at first, although another one is free") {
  JudgeQueue queue({.judges = 2, .loaders = 2, .patience = kEndlessPatience});
  std::optional<Turn> busy(turn_of(queue, "softmax"));
  const std::size_t home = busy->judge();
  std::future<std::optional<std::size_t>> next =
      std::async(std::launch::async, [&]() -> std::optional<std::size_t> {
        const Result<Turn> turn = queue.wait_for_judge({"softmax", ""}, within_a_minute());
        return turn ? std::optional(turn->judge()) : std::nullopt;
      });
  REQUIRE(queue.wait_for_waiters(1, within_a_minute()));
  busy.reset();
  CHECK(next.get() == home);
}

TEST_CASE("a cancelled job stops waiting for a judge, and others move up") {
  JudgeQueue queue({.judges = 1, .loaders = 1});
  std::optional<Turn> held(turn_of(queue, "softmax"));
  std::stop_source stop;
  std::future<std::optional<ErrorCode>> cancelled =
      std::async(std::launch::async, [&]() -> std::optional<ErrorCode> {
        const Result<Turn> turn =
            queue.wait_for_judge({"softmax", ""}, Deadline::after_ms(60'000, stop.get_token()));
        return turn ? std::nullopt : std::optional(turn.error().code);
      });
  REQUIRE(queue.wait_for_waiters(1, within_a_minute()));
  stop.request_stop();
  CHECK(cancelled.get() == ErrorCode::cancelled);
  held.reset();
  CHECK(queue.wait_for_judge({"softmax", ""}, without_waiting()));
}

TEST_CASE("the jobs of a new operator wait for the first one, and other judges stay free") {
  JudgeQueue queue({.judges = 2, .loaders = 2, .patience = kNoPatience});
  Turn first = turn_of(queue, "slow");
  CHECK_FALSE(queue.wait_for_judge({"slow", ""}, without_waiting()));
  CHECK(judge_of(queue, "fast") != first.judge());
  first.prepared(true);
  const Turn second = turn_of(queue, "slow");
  CHECK(queue.wait_for_judge({"slow", ""}, within_a_minute()));
}

TEST_CASE("an operator whose inputs could not be made is loaded by the next job alone") {
  JudgeQueue queue({.judges = 2, .loaders = 2, .patience = kNoPatience});
  Turn first = turn_of(queue, "broken");
  first.prepared(false);
  Turn second = turn_of(queue, "broken");
  CHECK_FALSE(queue.wait_for_judge({"broken", ""}, without_waiting()));
  second.prepared(true);
  CHECK(queue.wait_for_judge({"broken", ""}, without_waiting()));
}

TEST_CASE("new operators leave a judge to known operators") {
  JudgeQueue queue({.judges = 2, .loaders = 1, .patience = kNoPatience});
  judge_of(queue, "known");
  std::optional<Turn> loading(turn_of(queue, "new"));
  CHECK_FALSE(queue.wait_for_judge({"newer", ""}, without_waiting()));
  std::future<bool> newer = std::async(std::launch::async, [&] {
    return queue.wait_for_judge({"newer", ""}, within_a_minute()).has_value();
  });
  REQUIRE(queue.wait_for_waiters(1, within_a_minute()));
  // A job that may not start does not keep a free judge from others.
  CHECK(judge_of(queue, "known") != loading->judge());
  loading.reset();
  CHECK(newer.get());
}

TEST_CASE("operators that share code are loaded by one judge, one after the other") {
  JudgeQueue queue({.judges = 3, .loaders = 3, .patience = kNoPatience});
  Result<Turn> first = queue.wait_for_judge({"add", "file"}, without_waiting());
  REQUIRE(first);
  CHECK_FALSE(queue.wait_for_judge({"add_2", "file"}, without_waiting()));
  CHECK(queue.wait_for_judge({"add_3", "other file"}, without_waiting()));
  first->prepared(true);
  Result<Turn> second = queue.wait_for_judge({"add_2", "file"}, without_waiting());
  REQUIRE(second);
  CHECK(second->judge() == first->judge());
}

TEST_CASE("a new operator waits for the judge that has compiled its code") {
  JudgeQueue queue({.judges = 2, .loaders = 2, .patience = kNoPatience});
  Result<Turn> first = queue.wait_for_judge({"add", "file"}, without_waiting());
  REQUIRE(first);
  CHECK(first->loads());
  first->add_time(kEndlessPatience);  // no job waits longer than the loading took
  first->prepared(true);
  const std::size_t home = first->judge();
  std::optional<Turn> busy(*queue.wait_for_judge({"add", "file"}, without_waiting()));
  CHECK(busy->judge() == home);
  CHECK_FALSE(busy->loads());
  std::future<std::optional<std::size_t>> next =
      std::async(std::launch::async, [&]() -> std::optional<std::size_t> {
        const Result<Turn> turn = queue.wait_for_judge({"add_2", "file"}, within_a_minute());
        return turn ? std::optional(turn->judge()) : std::nullopt;
      });
  REQUIRE(queue.wait_for_waiters(1, within_a_minute()));
  busy.reset();
  CHECK(next.get() == home);
}

TEST_CASE("an operator that loads fast is loaded by a second judge if its home is busy") {
  JudgeQueue queue({.judges = 3, .loaders = 2, .patience = kNoPatience});
  judge_of(queue, "fast");
  const Turn busy = turn_of(queue, "fast");
  Result<Turn> second = queue.wait_for_judge({"fast", ""}, within_a_minute());
  REQUIRE(second);
  CHECK(second->loads());
  CHECK(second->judge() != busy.judge());
  // One judge at a time loads an operator, although a third one is free.
  CHECK_FALSE(queue.wait_for_judge({"fast", ""}, without_waiting()));
  second->prepared(true);
  const Result<Turn> third = queue.wait_for_judge({"fast", ""}, within_a_minute());
  REQUIRE(third);
  CHECK_FALSE(third->loads());  // two judges have loaded it
}

TEST_CASE("the judge that loads an operator becomes the home of its code") {
  JudgeQueue queue({.judges = 2, .loaders = 2, .patience = kNoPatience});
  judge_of(queue, "a");  // both judges are the home of one operator each
  judge_of(queue, "b");
  std::optional<Turn> a(turn_of(queue, "a"));
  // The code of "add" belongs to the same judge as "a", because that judge was the first one free.
  Result<Turn> first = queue.wait_for_judge({"add", "file"}, within_a_minute());
  REQUIRE(first);
  first->prepared(true);
  CHECK(first->judge() != a->judge());
  Result<Turn> second = queue.wait_for_judge({"add_2", "file"}, without_waiting());
  REQUIRE(second);
  CHECK(second->judge() == first->judge());
}

TEST_CASE("a turn may be long if it loads its operator, or if the last turn was long") {
  JudgeQueue queue({.judges = 1, .loaders = 1});
  const auto take = [&](std::chrono::milliseconds time) {
    Turn turn = turn_of(queue, "slow");
    turn.add_time(time);
    turn.prepared(true);
    return turn.is_long();
  };
  CHECK(take(std::chrono::seconds(35)));
  CHECK(take(JudgeQueue::kLongTurn + std::chrono::milliseconds(1)));  // the first one was long
  CHECK(take(JudgeQueue::kLongTurn));
  CHECK_FALSE(take(std::chrono::seconds(35)));
  CHECK(take(std::chrono::milliseconds(5)));
  CHECK_FALSE(turn_of(queue, "slow").loads());
}

TEST_CASE("a job that reserves its judge waits for the end of a load, and keeps loads away") {
  JudgeQueue queue({.judges = 1, .loaders = 1});
  Turn known = turn_of(queue, "known");
  known.prepared(true);
  Turn loads = turn_of(queue, "slow");
  REQUIRE(loads.loads());
  REQUIRE(known.reserve(without_waiting()));  // the load has not begun
  REQUIRE(known.reserve(without_waiting()));  // it has the reservation already
  CHECK(loads.begin_load(without_waiting()).error().code == ErrorCode::resource_exhausted);
  known.end_reservation();
  REQUIRE(loads.begin_load(without_waiting()));
  CHECK(known.reserve(without_waiting()).error().code == ErrorCode::resource_exhausted);
  std::stop_source stop;
  stop.request_stop();
  CHECK(known.reserve(Deadline::after_ms(60'000, stop.get_token())).error().code ==
        ErrorCode::cancelled);
  REQUIRE(loads.reserve(without_waiting()));  // its own load does not keep it away
  loads.prepared(true);
  CHECK(known.reserve(without_waiting()));
}

TEST_CASE("new reservations do not overtake a load that waits for the old ones") {
  JudgeQueue queue({.judges = 1, .loaders = 1});
  Turn old = turn_of(queue, "known");
  old.prepared(true);
  Turn later = turn_of(queue, "known");
  later.prepared(true);
  REQUIRE(old.reserve(without_waiting()));
  Turn loads = turn_of(queue, "slow");
  CHECK_FALSE(loads.begin_load(without_waiting()));
  CHECK_FALSE(later.reserve(without_waiting()));
  { const Turn ended = std::move(old); }  // the end of a turn ends its reservation
  REQUIRE(loads.begin_load(without_waiting()));
  { const Turn failed = std::move(loads); }  // the end of a turn ends its load
  CHECK(later.reserve(without_waiting()));
}
