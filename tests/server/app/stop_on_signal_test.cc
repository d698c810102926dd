#include "server/app/stop_on_signal.h"

#include <chrono>
#include <csignal>
#include <future>
#include <stdexcept>

#include "base/mutex.h"
#include "tests/catch.h"

namespace assay::server {
namespace {

constexpr std::chrono::seconds kEventTimeout{60};

struct sigaction current(int signal) {
  struct sigaction action {};
  REQUIRE(::sigaction(signal, nullptr, &action) == 0);
  return action;
}

/// Waits until a stop of the token is requested. Returns false if that takes too long.
bool is_requested(const std::stop_token& token) {
  std::promise<void> requested;
  const std::stop_callback on_stop(token, [&] { requested.set_value(); });
  return requested.get_future().wait_for(kEventTimeout) == std::future_status::ready;
}

}  // namespace

TEST_CASE(
    "stop on signal: the first signal asks for an orderly end, the second for an end at once, and "
    "the old handlers come back") {
  for (const int first : {SIGINT, SIGTERM}) {
    for (const int second : {SIGINT, SIGTERM}) {
      const struct sigaction before_first = current(first);
      const struct sigaction before_second = current(second);
      {
        const auto stop = StopOnSignal::install();
        REQUIRE(stop);
        CHECK_FALSE((*stop)->orderly().stop_requested());
        REQUIRE(::raise(first) == 0);
        CHECK(is_requested((*stop)->orderly()));
        CHECK_FALSE((*stop)->at_once().stop_requested());
        REQUIRE(::raise(second) == 0);
        CHECK(is_requested((*stop)->at_once()));
      }
      CHECK(current(first).sa_handler == before_first.sa_handler);
      CHECK(current(second).sa_handler == before_second.sa_handler);
    }
  }
}

TEST_CASE("stop on signal: SIGHUP calls the function each time, and stops nothing") {
  const struct sigaction before = current(SIGHUP);
  {
    Mutex mutex;
    Condition changed;
    int calls = 0;
    const auto stop = StopOnSignal::install([&] {
      const MutexLock lock(mutex);
      ++calls;
      changed.notify_all();
    });
    REQUIRE(stop);
    for (int expected = 1; expected <= 2; ++expected) {
      REQUIRE(::raise(SIGHUP) == 0);
      MutexLock lock(mutex);
      CHECK(changed.wait_for(lock, kEventTimeout, [&] { return calls == expected; }));
    }
    CHECK_FALSE((*stop)->orderly().stop_requested());
    REQUIRE(::raise(SIGTERM) == 0);
    CHECK(is_requested((*stop)->orderly()));
    CHECK_FALSE((*stop)->at_once().stop_requested());
  }
  CHECK(current(SIGHUP).sa_handler == before.sa_handler);
}

TEST_CASE("stop on signal: an exception of the function ends nothing") {
  std::promise<void> called_again;
  int calls = 0;
  const auto stop = StopOnSignal::install([&] {
    if (++calls == 1) throw std::runtime_error("a file cannot be read");
    if (calls == 2) throw 2;
    called_again.set_value();
  });
  REQUIRE(stop);
  for (int i = 0; i < 3; ++i) REQUIRE(::raise(SIGHUP) == 0);
  CHECK(called_again.get_future().wait_for(kEventTimeout) == std::future_status::ready);
  CHECK_FALSE((*stop)->orderly().stop_requested());
}

TEST_CASE("stop on signal: without a function, SIGHUP keeps its handler") {
  const struct sigaction before = current(SIGHUP);
  const auto stop = StopOnSignal::install();
  REQUIRE(stop);
  CHECK(current(SIGHUP).sa_handler == before.sa_handler);
}

TEST_CASE("stop on signal: the end of the object requests both stops") {
  auto stop = StopOnSignal::install();
  REQUIRE(stop);
  const std::stop_token orderly = (*stop)->orderly();
  const std::stop_token at_once = (*stop)->at_once();
  CHECK_FALSE(orderly.stop_requested());
  stop->reset();
  CHECK(orderly.stop_requested());
  CHECK(at_once.stop_requested());
}

}  // namespace assay::server
