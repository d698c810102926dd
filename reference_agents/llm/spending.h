// Computes the cost of replies and limits spending. PriceTable holds the price of each model's
// tokens. SpendingBudget is the money that a bench can spend; all models of the bench share it.
// MeteredClient wraps another client and charges a budget.
//
//   Result<PriceTable> table = PriceTable::load(data_dir / "llm/prices.toml");
//   std::optional<Price> price = table->find("anthropic:claude-sonnet-4-5-20250929");
//   SpendingBudget budget({.limit_usd = 5.0, .spent_usd = 1.2});
//   MeteredClient client(*inner, price, budget);
//
// Before a request is sent, the cost of its worst case is set aside: each byte of the prompt counts
// as one token, and the reply has all allowed tokens. So even parallel requests cannot exceed the
// limit together. A reply without token counts is charged its worst case. A request that the
// provider bills but never answers is not counted.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

struct Price {
  double input_usd_per_million = 0;
  double output_usd_per_million = 0;
  std::string source, date;

  /// Returns true for a model that costs nothing, such as a self-hosted one.
  bool is_free() const { return input_usd_per_million == 0 && output_usd_per_million == 0; }

  double cost_usd(std::int64_t input_tokens, std::int64_t output_tokens) const {
    return (input_usd_per_million * static_cast<double>(input_tokens) +
            output_usd_per_million * static_cast<double>(output_tokens)) /
           1e6;
  }
};

/// The prices in prices.toml. That file names the source and the date of each price. A table does
/// not change after load().
class PriceTable {
 public:
  /// Reads the table from a file. An error names the file, the key and the valid values.
  static Result<PriceTable> load(const std::filesystem::path& file);
  static Result<PriceTable> parse(std::string_view text, const std::string& file_name);

  /// Returns the price of the model "PROVIDER:NAME". Ignores a date at the end of NAME. Returns
  /// nothing if the price is unknown.
  std::optional<Price> find(const std::string& model) const;
  std::size_t size() const { return prices_.size(); }

 private:
  std::map<std::string, Price> prices_;
};

struct Spending {
  std::optional<double> limit_usd;  // absent: no limit
  double spent_usd = 0;             // the amount that earlier parts of the same bench spent
};

class SpendingBudget {
 public:
  explicit SpendingBudget(Spending spending) : spending_(spending) {}

  /// Sets an amount aside before a request. If the amount does not fit beside the amounts of other
  /// threads' requests, waits until enough of them are settled, because they may cost less than was
  /// set aside. Returns false if the amount and the money already spent exceed the limit. All later
  /// calls return false too.
  bool set_aside(double amount_usd);
  /// Ends a request: releases the amount that set_aside() reserved for it, and counts the amount
  /// that the request really cost.
  void settle(double set_aside_usd, double spent_usd);
  double spent_usd() const;
  bool limit_reached() const;

 private:
  mutable Mutex mutex_;
  Condition settled_;
  Spending spending_ ASSAY_GUARDED_BY(mutex_);
  double set_aside_usd_ ASSAY_GUARDED_BY(mutex_) = 0;
  bool limit_reached_ ASSAY_GUARDED_BY(mutex_) = false;
};

class MeteredClient final : public LlmClient {
 public:
  /// Makes a client with its own budget. If there is no price, nothing is charged and costs are
  /// unknown.
  MeteredClient(LlmClient& inner, std::optional<Price> price, Spending spending)
      : inner_(inner), price_(std::move(price)), own_(std::in_place, spending), budget_(*own_) {}
  /// Makes a client that shares `budget`, which must outlive it.
  MeteredClient(LlmClient& inner, std::optional<Price> price, SpendingBudget& budget)
      : inner_(inner), price_(std::move(price)), budget_(budget) {}

  /// Asks the wrapped client and charges the budget. Errors: those of the wrapped client;
  /// resource_exhausted if the budget does not allow the request's worst case.
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return inner_.label(); }
  bool is_model() const override { return inner_.is_model(); }

  /// Returns the cost of a reply. The cost is 0 if no model wrote the reply. Returns nothing if the
  /// model has no price or the reply has no token counts.
  std::optional<double> cost_of(const CompletionReply& reply) const;
  double spent_usd() const { return budget_.spent_usd(); }
  bool limit_reached() const { return budget_.limit_reached(); }

 private:
  double worst_case(const CompletionRequest& request) const;

  LlmClient& inner_;
  const std::optional<Price> price_;
  std::optional<SpendingBudget> own_;
  SpendingBudget& budget_;
};

}  // namespace assay::agents
