#include "reference_agents/llm/prices.h"

#include "tests/catch.h"

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

TEST_CASE("a broken table names file, key and what is valid") {
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
