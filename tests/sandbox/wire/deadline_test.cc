#include "sandbox/wire/deadline.h"

#include <array>
#include <thread>

#include "sandbox/wire/frame.h"
#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

std::array<pollfd, 1> readable(const assay::UniqueFd& fd) { return {{{fd.get(), POLLIN, 0}}}; }

}  // namespace

TEST_CASE("a poll ends when a descriptor is ready, at the deadline and at a stop request") {
  auto sockets = make_socket_pair();
  REQUIRE(sockets);
  std::stop_source stop;
  auto entries = readable(sockets->ours);
  CHECK(poll_until(entries, Deadline::after_ms(10, stop.get_token())) == 0);

  REQUIRE(
      send_frame(sockets->theirs.get(), {{"type", "done"}}, "", {}, Deadline::after_ms(60'000)));
  CHECK(poll_until(entries, Deadline::after_ms(60'000, stop.get_token())) == 1);
  CHECK((entries[0].revents & POLLIN) != 0);
  REQUIRE(receive_frame(sockets->ours.get(), Deadline::after_ms(60'000)));

  std::jthread requester([&] { stop.request_stop(); });
  const Deadline deadline = Deadline::after_ms(60'000, stop.get_token());
  CHECK(poll_until(entries, deadline) == 0);
  CHECK(deadline.cancelled());
  CHECK_FALSE(deadline.expired());
  CHECK(poll_until(entries, deadline) == 0);  // a stop request before the poll also ends the poll
}

TEST_CASE("a deadline counts down and never below zero") {
  CHECK(Deadline::after_ms(-5).expired());
  CHECK(Deadline::after_ms(-5).remaining_ms() == 0);
  const Deadline later = Deadline::after_ms(60'000);
  CHECK_FALSE(later.over());
  CHECK(later.remaining_ms() > 59'000);
  CHECK(later.remaining_ms() <= 60'000);
  CHECK_FALSE(Deadline::never().over());
}
