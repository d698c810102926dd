#include "reference_agents/llm/spending_budget.h"

#include <thread>

#include "reference_agents/llm/metered.h"
#include "tests/catch.h"
#include "tests/reference_agents/core/fakes.h"

using namespace assay;
using namespace assay::agents;

TEST_CASE("one purse over several models: what one spends the others lack") {
  testing::FakeModel inner;  // 100 tokens in, 20 out
  SpendingBudget purse({.limit_usd = 5.0, .spent_usd = 1.0});
  MeteredClient cheap(inner, Price{10'000, 0, "s", "d"}, purse);   // a dollar a reply
  MeteredClient costly(inner, Price{20'000, 0, "s", "d"}, purse);  // two
  CompletionRequest request;
  request.max_tokens = 1;
  REQUIRE(cheap.complete(request));
  REQUIRE(costly.complete(request));
  CHECK(purse.spent_usd() == Approx(4.0));
  request.system =
      std::string(120, 'x');  // a worst case of 1.2 dollars for the one, of 2.4 for the other
  CHECK(costly.complete(request).error().code == ErrorCode::resource_exhausted);
  CHECK(cheap.limit_reached());
  CHECK(inner.prompts.size() == 2);
}

TEST_CASE("a reply that does not say its tokens uses up its worst case") {
  testing::FakeModel inner;
  inner.reply.usage_known = false;
  SpendingBudget purse({.limit_usd = 5.0, .spent_usd = 0});
  MeteredClient client(inner, Price{10'000, 0, "s", "d"}, purse);
  CompletionRequest request;
  request.system = std::string(200, 'x');
  REQUIRE(client.complete(request));
  CHECK(purse.spent_usd() == Approx(2.0));
}

TEST_CASE("what another has set aside may come back, and is waited for") {
  SpendingBudget purse({.limit_usd = 1.0, .spent_usd = 0});
  REQUIRE(purse.set_aside(0.8));
  std::thread other([&] { purse.settle(0.8, 0.1); });
  CHECK(purse.set_aside(0.8));  // 0.1 are spent: it fits
  other.join();
  CHECK_FALSE(purse.limit_reached());
  purse.settle(0.8, 0.8);
  CHECK_FALSE(purse.set_aside(0.2));
  CHECK(purse.limit_reached());
}

TEST_CASE("without a limit everything fits, and is counted") {
  SpendingBudget purse({});
  CHECK(purse.set_aside(1e9));
  purse.settle(1e9, 3);
  CHECK(purse.spent_usd() == 3);
  CHECK_FALSE(purse.limit_reached());
}
