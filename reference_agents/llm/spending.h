// What a model's tokens cost, from prices.toml, which names the source and date of every figure.
//
//   Result<PriceTable> table = PriceTable::load(data_dir / "llm/prices.toml");
//   std::optional<Price> price = table->find("anthropic:claude-sonnet-4-5-20250929");   // nothing:
//   unknown, cost 0, and say so
//
// Immutable after load, hence safe to share between threads.
//
// SpendingBudget: what a bench may spend and has spent, shared by all its models. Before a request
// its worst case is set aside, so that not even parallel requests to several models can pass the
// limit together. Thread-safe.
//
//   Purse purse({.limit_usd = 5.0, .spent_usd = 1.2});
//   if (!purse.set_aside(0.3)) return;          // limit_reached() is true from now on
//   purse.settle(0.3, 0.12);                    // set aside, spent
//
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

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

struct Price {
  double input_usd_per_million = 0;
  double output_usd_per_million = 0;
  std::string source, date;

  double cost_usd(std::int64_t input_tokens, std::int64_t output_tokens) const {
    return (input_usd_per_million * static_cast<double>(input_tokens) +
            output_usd_per_million * static_cast<double>(output_tokens)) /
           1e6;
  }
};

class PriceTable {
 public:
  /// Fails naming file, key and what is valid.
  static Result<PriceTable> load(const std::filesystem::path& file);
  static Result<PriceTable> parse(std::string_view text, const std::string& file_name);

  /// By "PROVIDER:NAME"; a date at the end of NAME is ignored.
  std::optional<Price> find(const std::string& model) const;
  std::size_t size() const { return prices_.size(); }

 private:
  std::map<std::string, Price> prices_;
};

struct Spending {
  std::optional<double> limit_usd;  // absent: no limit
  double spent_usd = 0;             // by earlier parts of the same bench
};

class SpendingBudget {
 public:
  explicit SpendingBudget(Spending spending) : spending_(spending) {}

  /// False when it does not fit, and from then on. Waits while what others have set aside could
  /// still come back.
  bool set_aside(double amount_usd);
  void settle(double set_aside_usd, double spent_usd);
  double spent_usd() const;
  bool limit_reached() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable settled_;
  Spending spending_;
  double set_aside_usd_ = 0;
  bool limit_reached_ = false;
};

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
