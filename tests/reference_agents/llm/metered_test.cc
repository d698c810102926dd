#include "reference_agents/llm/metered.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/catch.h"

using namespace assay;
using namespace assay::agents;

namespace {

class FixedClient final : public LlmClient {
 public:
  Result<CompletionReply> complete(const CompletionRequest&) override {
    ++calls;
    if (broken) return fail(ErrorCode::unavailable, "down");
    const std::int64_t tokens = usage_known ? 1'000 : 0;
    return CompletionReply{"text", "stop", tokens, tokens, usage_known, recorded};
  }
  std::string label() const override { return "fixed:model"; }
  bool is_model() const override { return model; }
  std::atomic<int> calls{0};
  bool broken = false;
  bool usage_known = true;
  bool model = true;
  std::optional<double> recorded;
};

const Price kPrice{1'000.0, 1'000.0, "test",
                   "2026-01-01"};  // a dollar per 1000 tokens: each reply costs 2

CompletionRequest request_of(std::size_t bytes, std::int64_t max_tokens) {
  return {"", {{"user", std::string(bytes, 'x')}}, {}, max_tokens};
}

}  // namespace

TEST_CASE("without a limit or a price everything goes through") {
  FixedClient inner;
  MeteredClient priced(inner, kPrice, {});
  REQUIRE(priced.complete(request_of(1'000, 1'000)));
  CHECK(priced.spent_usd() == Approx(2));
  MeteredClient unpriced(inner, std::nullopt, {1e-9, 0});
  REQUIRE(unpriced.complete(request_of(1'000, 1'000)));
  CHECK(unpriced.spent_usd() == 0);
  const Result<CompletionReply> reply = unpriced.complete(request_of(1, 1));
  REQUIRE(reply);
  CHECK_FALSE(reply->charged_usd);
  CHECK_FALSE(unpriced.cost_of(*reply));
  CHECK_FALSE(unpriced.limit_reached());
}

TEST_CASE("a reply without token counts uses up its worst case, but is not said to cost that") {
  FixedClient inner;
  inner.usage_known = false;
  MeteredClient client(inner, kPrice, {7.0, 0});
  const Result<CompletionReply> reply = client.complete(request_of(1'000, 2'000));
  REQUIRE(reply);
  CHECK(client.spent_usd() == Approx(3));
  CHECK_FALSE(client.cost_of(*reply));
  CHECK(reply->charged_usd.value() == Approx(3));
  REQUIRE(client.complete(request_of(1'000, 2'000)));
  CHECK_FALSE(client.complete(request_of(1'000, 2'000)));  // 6 + 3
  CHECK(inner.calls == 2);
}

TEST_CASE("what no model wrote costs nothing, and that is known") {
  FixedClient inner;
  inner.model = false;
  inner.usage_known = false;
  inner.recorded = 7;  // a replay's reply cost that once
  MeteredClient client(inner, std::nullopt, {});
  const Result<CompletionReply> reply = client.complete(request_of(1'000, 1'000));
  REQUIRE(reply);
  CHECK(reply->charged_usd.value() == 0);
  CHECK(client.cost_of(*reply).value() == 0);
}

TEST_CASE("an earlier reply costs what it cost, whatever the price is now") {
  FixedClient inner;
  const MeteredClient client(inner, kPrice, {});
  CHECK(client.cost_of({"text", "stop", 1'000, 1'000, true, 0.5}).value() == 0.5);
  CHECK(client.cost_of({"text", "stop", 1'000, 1'000, true}).value() == Approx(2));
}

TEST_CASE("a request that could pass the limit is not made") {
  FixedClient inner;
  MeteredClient client(inner, kPrice, {5.0, 0});
  REQUIRE(client.complete(request_of(1'000, 2'000)));  // could cost 3, costs 2
  REQUIRE(client.complete(request_of(1'000, 2'000)));  // 2 + 3 fits
  const Result<CompletionReply> refused =
      client.complete(request_of(1'000, 2'000));  // 4 + 3 does not
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::resource_exhausted);
  CHECK(refused.error().message.find("$4.0000 are spent") != std::string::npos);
  CHECK(client.limit_reached());
  CHECK(inner.calls == 2);
}

TEST_CASE("what was spent before counts, and a failed request gives back what it had set aside") {
  FixedClient inner;
  MeteredClient client(inner, kPrice, {5.0, 2.5});
  inner.broken = true;
  CHECK_FALSE(client.complete(request_of(1'000, 1'000)));
  inner.broken = false;
  CHECK(client.complete(request_of(1'000, 1'000)));
  CHECK_FALSE(client.complete(request_of(1'000, 1'000)));
  CHECK(client.spent_usd() == Approx(4.5));
}

TEST_CASE("parallel requests never pass the limit together, and use it up") {
  FixedClient inner;
  MeteredClient client(inner, kPrice, {11.0, 0});
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] { (void)client.complete(request_of(1'000, 2'000)); });
  for (std::thread& thread : threads) thread.join();
  CHECK(client.spent_usd() == Approx(10));  // a fifth of 3 fits at 8, a sixth not at 10
  CHECK(client.limit_reached());
}
