#include "server/app/stop_on_signal.h"

#include <chrono>
#include <csignal>
#include <future>

#include "tests/catch.h"

namespace assay::server {
namespace {

constexpr std::chrono::seconds kEventTimeout{20};

struct sigaction current(int signal) {
  struct sigaction action {};
  REQUIRE(::sigaction(signal, nullptr, &action) == 0);
  return action;
}

}  // namespace

TEST_CASE("stop on signal: SIGINT and SIGTERM request the stop, and the old handlers come back") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const struct sigaction before = current(signal);
    {
      const auto stop = StopOnSignal::install();
      REQUIRE(stop);
      std::promise<void> requested;
      const std::stop_callback on_stop((*stop)->token(), [&] { requested.set_value(); });
      CHECK_FALSE((*stop)->token().stop_requested());
      REQUIRE(::raise(signal) == 0);
      CHECK(requested.get_future().wait_for(kEventTimeout) == std::future_status::ready);
    }
    CHECK(current(signal).sa_handler == before.sa_handler);
  }
}

TEST_CASE("stop on signal: the end of the object requests the stop") {
  auto stop = StopOnSignal::install();
  REQUIRE(stop);
  const std::stop_token token = (*stop)->token();
  CHECK_FALSE(token.stop_requested());
  stop->reset();
  CHECK(token.stop_requested());
}

}  // namespace assay::server
