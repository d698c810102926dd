#include "server/mcp/core/message_counts.h"

#include <optional>

#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using Ending = MessageCounts::Ending;

std::uint64_t count_of(const MessageCounts& counts, std::string_view method,
                       std::string_view ending) {
  for (const auto& entry : counts.snapshot().messages) {
    if (entry.method == method && entry.ending == ending) return entry.count;
  }
  return 0;
}

}  // namespace

TEST_CASE("message counts: by method and outcome; all unknown methods count as one") {
  MessageCounts counts;
  counts.add("tools/call", Ending::ok, 0.002);
  counts.add("tools/call", Ending::ok, 0.003);
  counts.add("tools/call", Ending::failed, 0.003);
  for (const char* method : {"x", "y", ""}) counts.add(method, Ending::error, 0.0001);
  CHECK(count_of(counts, "tools/call", "ok") == 2);
  CHECK(count_of(counts, "tools/call", "failed") == 1);
  CHECK(count_of(counts, "other", "error") == 3);
  CHECK(counts.snapshot().messages.size() == 3);
  double seconds = 0;
  for (const auto& times : counts.snapshot().times) seconds += times.seconds;
  CHECK(seconds == Approx(0.0083));
}

TEST_CASE("message counts: a time counts in the first bucket that holds it") {
  MessageCounts counts;
  for (const double seconds : {0.0005, 0.0006, 100.0}) counts.add("ping", Ending::ok, seconds);
  counts.add("tools/call", Ending::ok, 0.0001);  // has buckets of its own
  const auto times = counts.snapshot().times;
  REQUIRE(times.size() == 2);
  CHECK(times[0].method == "ping");
  const auto buckets = times[0].buckets;
  CHECK(buckets[0].upper_bound == "0.0005");
  CHECK(buckets[0].count == 1);
  CHECK(buckets[1].count == 1);
  CHECK(buckets.back().upper_bound == "+Inf");
  CHECK(buckets.back().count == 1);
}

TEST_CASE("message counts: the dispatcher counts the messages of every transport") {
  const auto server = test::make_server();
  Dispatcher& dispatcher = server->dispatcher();
  const auto handle = [&](const nlohmann::json& message) {
    dispatcher.handle(*parse_message(dump(message)), {});
  };
  handle(test::legacy_call(1, "add", {{"a", 1}, {"b", 2}}));
  handle(test::legacy_call(2, "refuse"));
  handle(test::legacy_call(3, "no such tool"));
  handle(make_request(4, "no/such", nlohmann::json::object()));
  handle(make_notification("notifications/initialized", nlohmann::json::object()));
  const MessageCounts& counts = dispatcher.counts();
  // A client cannot add a name: calls of unknown tools are counted only by method.
  const auto calls = counts.snapshot().tool_calls;
  REQUIRE(calls.size() == 2);
  CHECK((calls[0].tool == "add" && calls[0].ending == "ok" && calls[0].count == 1));
  CHECK((calls[1].tool == "refuse" && calls[1].ending == "failed" && calls[1].count == 1));
  CHECK(count_of(counts, "tools/call", "ok") == 1);
  CHECK(count_of(counts, "tools/call", "failed") == 1);
  CHECK(count_of(counts, "tools/call", "error") == 1);
  CHECK(count_of(counts, "other", "error") == 1);
  CHECK(count_of(counts, "notifications/initialized", "accepted") == 1);
}

}  // namespace assay::mcp
