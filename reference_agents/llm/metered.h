// MeteredClient wraps another client with a price and a purse (spending_budget.h). Before a request
// the worst case is set aside (every byte of the prompt a token, every allowed token written); a
// request that no longer fits is refused with resource_exhausted and limit_reached() becomes true.
// A reply without token counts uses up its worst case. What a provider bills for a request that it
// never answered is not seen here. Thread-safe.
//
//   MeteredClient client(*inner, price, {.limit_usd = 5.0, .spent_usd = 1.2});   // a purse of its
//   own MeteredClient one(*openai, price, purse), other(*anthropic, price2, purse);  // one limit
//   over both
#pragma once

#include <optional>
#include <utility>

#include "reference_agents/llm/llm_client.h"
#include "reference_agents/llm/prices.h"
#include "reference_agents/llm/spending_budget.h"

namespace assay::agents {

class MeteredClient final : public LlmClient {
 public:
  /// Without a price nothing is charged, and no cost is known.
  MeteredClient(LlmClient& inner, std::optional<Price> price, Spending spending)
      : inner_(inner), price_(std::move(price)), own_(std::in_place, spending), purse_(*own_) {}
  /// `purse` outlives the client.
  MeteredClient(LlmClient& inner, std::optional<Price> price, SpendingBudget& purse)
      : inner_(inner), price_(std::move(price)), purse_(purse) {}

  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return inner_.label(); }
  bool is_model() const override { return inner_.is_model(); }

  /// What the reply cost: 0 where no model wrote it. Nothing where that is not known: the model has
  /// no price, or the reply no token counts.
  std::optional<double> cost_of(const CompletionReply& reply) const;
  double spent_usd() const { return purse_.spent_usd(); }
  bool limit_reached() const { return purse_.limit_reached(); }

 private:
  double worst_case(const CompletionRequest& request) const;

  LlmClient& inner_;
  const std::optional<Price> price_;
  std::optional<SpendingBudget> own_;
  SpendingBudget& purse_;
};

}  // namespace assay::agents
