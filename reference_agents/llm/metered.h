// MeteredClient wraps another client with a price and a hard spending limit. Before a request the worst case is set aside (every byte
// of the prompt a token, every allowed token written), so that not even parallel requests can pass the limit together; a request that no
// longer fits is refused with resource_exhausted and limit_reached() becomes true. A reply without token counts uses up its worst case. What a
// provider bills for a request that it never answered is not seen here. Thread-safe.
//
//   MeteredClient client(*inner, price, {.limit_usd = 5.0, .spent_usd = 1.2});
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "reference_agents/llm/llm_client.h"
#include "reference_agents/llm/prices.h"

namespace assay::agents {

struct Spending {
  std::optional<double> limit_usd;  // absent: no limit
  double spent_usd = 0;             // by earlier parts of the same bench
};

class MeteredClient final : public LlmClient {
 public:
  /// Without a price everything costs 0; the caller says so.
  MeteredClient(LlmClient& inner, std::optional<Price> price, Spending spending) : inner_(inner), price_(std::move(price)), spending_(spending) {}

  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return inner_.label(); }
  bool is_model() const override { return inner_.is_model(); }

  /// By the reported tokens: 0 where there are none.
  double cost_of(const CompletionReply& reply) const;
  double spent_usd() const;
  bool limit_reached() const;

 private:
  double worst_case(const CompletionRequest& request) const;
  bool set_aside(double amount);

  LlmClient& inner_;
  const std::optional<Price> price_;
  mutable std::mutex mutex_;
  std::condition_variable settled_;
  Spending spending_;
  double set_aside_usd_ = 0;
  bool limit_reached_ = false;
};

}  // namespace assay::agents
