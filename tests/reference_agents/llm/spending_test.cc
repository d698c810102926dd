#include "reference_agents/llm/spending.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/reference_agents/core/fakes.h"

using namespace assay;
using namespace assay::agents;

TEST_CASE("the shipped table loads, and every price names source and date") {
  const Result<PriceTable> table =
      PriceTable::load(std::string(ASSAY_SOURCE_DIR) + "/reference_agents/llm/prices.toml");
  REQUIRE(table);
  CHECK(table->size() >= 20);
  const std::optional<Price> price = table->find("anthropic:claude-sonnet-4-5-20250929");
  REQUIRE(price);
  CHECK(price->cost_usd(1'000'000, 100'000) == Approx(4.5));
  CHECK(price->date.size() == 10);
  CHECK(table->find("openai:gpt-4o-2024-08-06"));
  CHECK_FALSE(table->find("openai:gpt-4o-mini-high"));
  CHECK_FALSE(table->find("openai-compatible:gpt-4o"));
  CHECK_FALSE(table->find(""));
}

TEST_CASE("the error for a broken table names the file, the key and the valid values") {
  const auto message = [](const char* text) {
    const Result<PriceTable> table = PriceTable::parse(text, "p.toml");
    return table ? std::string() : table.error().message;
  };
  CHECK(message("x = [").find("p.toml") == 0);
  CHECK(message("x = 1").find("[models]") != std::string::npos);
  CHECK(message("[models]\n\"a:b\" = 3").find("models.\"a:b\"") != std::string::npos);
  CHECK(message("[models]\n\"a:b\" = { input = 1.0 }").find("`output`") != std::string::npos);
  CHECK(message("[models]\n\"a:b\" = { input = -1, output = 1, source = \"s\" }")
            .find("not negative") != std::string::npos);
  CHECK(
      message("[models]\n\"a:b\" = { input = 1, output = 1, source = \"s\" }").find("source 's'") !=
      std::string::npos);
  CHECK(
      message(
          "[sources.s]\nurl = \"u\"\n[models]\n\"a:b\" = { input = 1, output = 1, source = \"s\" }")
          .find("`date`") != std::string::npos);
  CHECK(message("[sources.s]\nurl = \"u\"\ndate = \"2026-01-01\"\n[models]\n\"a:b\" = { input = 1, "
                "output = 1, source = \"s\" }")
            .empty());
}

using namespace assay;
using namespace assay::agents;

TEST_CASE("several models share one budget") {
  testing::FakeModel inner;  // each reply has 100 input tokens and 20 output tokens
  SpendingBudget budget({.limit_usd = 5.0, .spent_usd = 1.0});
  MeteredClient cheap(inner, Price{10'000, 0, "s", "d"}, budget);   // a reply costs 1 dollar
  MeteredClient costly(inner, Price{20'000, 0, "s", "d"}, budget);  // a reply costs 2 dollars
  CompletionRequest request;
  request.max_tokens = 1;
  REQUIRE(cheap.complete(request));
  REQUIRE(costly.complete(request));
  CHECK(budget.spent_usd() == Approx(4.0));
  request.system =
      std::string(120, 'x');  // the worst case costs 1.2 dollars for `cheap`, 2.4 for `costly`
  CHECK(costly.complete(request).error().code == ErrorCode::resource_exhausted);
  CHECK(cheap.limit_reached());
  CHECK(inner.prompts.size() == 2);
}

TEST_CASE("a reply without token counts is charged its worst case to a shared budget") {
  testing::FakeModel inner;
  inner.reply.usage_known = false;
  SpendingBudget budget({.limit_usd = 5.0, .spent_usd = 0});
  MeteredClient client(inner, Price{10'000, 0, "s", "d"}, budget);
  CompletionRequest request;
  request.system = std::string(200, 'x');
  REQUIRE(client.complete(request));
  CHECK(budget.spent_usd() == Approx(2.0));
}

TEST_CASE("set_aside waits for the amounts that other threads have set aside") {
  SpendingBudget budget({.limit_usd = 1.0, .spent_usd = 0});
  REQUIRE(budget.set_aside(0.8));
  std::thread other([&] { budget.settle(0.8, 0.1); });
  CHECK(budget.set_aside(0.8));  // fits, because only 0.1 of the first 0.8 dollars was spent
  other.join();
  CHECK_FALSE(budget.limit_reached());
  budget.settle(0.8, 0.8);
  CHECK_FALSE(budget.set_aside(0.2));
  CHECK(budget.limit_reached());
}

TEST_CASE("without a limit every amount fits and is counted") {
  SpendingBudget budget({});
  CHECK(budget.set_aside(1e9));
  budget.settle(1e9, 3);
  CHECK(budget.spent_usd() == 3);
  CHECK_FALSE(budget.limit_reached());
}

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
                   "2026-01-01"};  // 1,000 tokens cost a dollar, a reply costs 2

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

TEST_CASE("a reply without token counts is charged its worst case, but its cost is unknown") {
  FixedClient inner;
  inner.usage_known = false;
  MeteredClient client(inner, kPrice, {7.0, 0});
  const Result<CompletionReply> reply = client.complete(request_of(1'000, 2'000));
  REQUIRE(reply);
  CHECK(client.spent_usd() == Approx(3));
  CHECK_FALSE(client.cost_of(*reply));
  CHECK(reply->charged_usd.value() == Approx(3));
  REQUIRE(client.complete(request_of(1'000, 2'000)));
  CHECK_FALSE(client.complete(request_of(1'000, 2'000)));  // 6 are spent; this could cost 3 more
  CHECK(inner.calls == 2);
}

TEST_CASE("a reply that no model wrote has the known cost 0") {
  FixedClient inner;
  inner.model = false;
  inner.usage_known = false;
  inner.recorded = 7;  // the original cost of a replayed reply
  MeteredClient client(inner, std::nullopt, {});
  const Result<CompletionReply> reply = client.complete(request_of(1'000, 1'000));
  REQUIRE(reply);
  CHECK(reply->charged_usd.value() == 0);
  CHECK(client.cost_of(*reply).value() == 0);
}

TEST_CASE("an earlier reply keeps its cost when the price changes") {
  FixedClient inner;
  const MeteredClient client(inner, kPrice, {});
  CHECK(client.cost_of({"text", "stop", 1'000, 1'000, true, 0.5}).value() == 0.5);
  CHECK(client.cost_of({"text", "stop", 1'000, 1'000, true}).value() == Approx(2));
}

TEST_CASE("a request that could pass the limit is not made") {
  FixedClient inner;
  MeteredClient client(inner, kPrice, {5.0, 0});
  REQUIRE(client.complete(request_of(1'000, 2'000)));  // could cost 3 dollars, costs 2
  REQUIRE(client.complete(request_of(1'000, 2'000)));  // 2 + 3 fits into the limit
  const Result<CompletionReply> refused =
      client.complete(request_of(1'000, 2'000));  // 4 + 3 does not fit
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::resource_exhausted);
  CHECK(refused.error().message.find("$4.0000 are spent") != std::string::npos);
  CHECK(client.limit_reached());
  CHECK(inner.calls == 2);
}

TEST_CASE("earlier spending counts, and a failed request gives back its amount") {
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
  // The limit is 11 dollars. A request may cost up to 3 dollars, and costs 2. After four requests 8
  // dollars are spent, so a fifth request is allowed. After five requests 10 dollars are spent, so
  // a sixth request is refused.
  CHECK(client.spent_usd() == Approx(10));
  CHECK(client.limit_reached());
}
