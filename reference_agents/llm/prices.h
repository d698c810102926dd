// What a model's tokens cost, from prices.toml, which names the source and date of every figure.
//
//   Result<PriceTable> table = PriceTable::load(data_dir / "llm/prices.toml");
//   std::optional<Price> price = table->find("anthropic:claude-sonnet-4-5-20250929");   // nothing:
//   unknown, cost 0, and say so
//
// Immutable after load, hence safe to share between threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

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

}  // namespace assay::agents
