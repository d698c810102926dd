#include "reference_agents/llm/spending.h"

#include <toml++/toml.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace assay::agents {
namespace {

/// Removes a date from the end of a model's name: "name-20250929" and "name-2025-09-29" become
/// "name".
std::string without_date(const std::string& model) {
  const auto digits_at = [&](std::size_t at, std::size_t count) {
    return at + count <= model.size() && model.find_first_not_of("0123456789", at) >= at + count;
  };
  const std::size_t size = model.size();
  if (size > 9 && model[size - 9] == '-' && digits_at(size - 8, 8))
    return model.substr(0, size - 9);
  const bool dashed =
      size > 11 && model[size - 11] == '-' && model[size - 6] == '-' && model[size - 3] == '-';
  if (dashed && digits_at(size - 10, 4) && digits_at(size - 5, 2) && digits_at(size - 2, 2))
    return model.substr(0, size - 11);
  return model;
}

tl::unexpected<Error> broken(const std::string& file, const std::string& what) {
  return fail(ErrorCode::corrupt, file + ": " + what);
}

}  // namespace

Result<PriceTable> PriceTable::load(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail_errno("open " + file.string());
  return parse(std::string(std::istreambuf_iterator<char>(stream), {}), file.string());
}

Result<PriceTable> PriceTable::parse(std::string_view text, const std::string& file_name) {
  toml::table root;
  try {
    root = toml::parse(text, file_name);
  } catch (const toml::parse_error& error) {
    return broken(file_name, std::string(error.description()) + " at line " +
                                 std::to_string(error.source().begin.line));
  }
  const toml::table* models = root["models"].as_table();
  if (models == nullptr) return broken(file_name, "table [models] is missing");
  PriceTable table;
  for (const auto& [key, node] : *models) {
    const std::string name(key.str());
    const toml::table* entry = node.as_table();
    if (entry == nullptr)
      return broken(file_name, "models.\"" + name + "\" is not a table { input, output, source }");
    const std::optional<double> input = (*entry)["input"].value<double>();
    const std::optional<double> output = (*entry)["output"].value<double>();
    const std::string source = (*entry)["source"].value_or(std::string());
    if (!input || !output || *input < 0 || *output < 0) {
      return broken(file_name,
                    "models.\"" + name +
                        "\" needs `input` and `output`, dollars per million tokens, not negative");
    }
    const toml::table* cited = root["sources"][source].as_table();
    if (cited == nullptr)
      return broken(file_name,
                    "models.\"" + name + "\": source '" + source + "' is not one of [sources.*]");
    Price price;
    price.input_usd_per_million = *input;
    price.output_usd_per_million = *output;
    price.source = (*cited)["url"].value_or(std::string());
    price.date = (*cited)["date"].value_or(std::string());
    if (price.source.empty() || price.date.empty())
      return broken(file_name, "sources." + source + " needs `url` and `date`");
    table.prices_.emplace(name, std::move(price));
  }
  return table;
}

std::optional<Price> PriceTable::find(const std::string& model) const {
  auto found = prices_.find(model);
  if (found == prices_.end()) found = prices_.find(without_date(model));
  return found == prices_.end() ? std::nullopt : std::optional<Price>(found->second);
}

bool SpendingBudget::set_aside(double amount_usd) {
  MutexLock lock(mutex_);
  if (!spending_.limit_usd) return true;
  const double limit = *spending_.limit_usd;
  // Other threads have set aside the highest cost of their requests, which mostly cost less. So if
  // the amount does not fit, this call waits until the other threads have settled.
  settled_.wait(lock, [&]() ASSAY_REQUIRES(mutex_) {
    return limit_reached_ || spending_.spent_usd + amount_usd > limit ||
           spending_.spent_usd + set_aside_usd_ + amount_usd <= limit;
  });
  if (limit_reached_ || spending_.spent_usd + amount_usd > limit) {
    limit_reached_ = true;
    settled_.notify_all();
    return false;
  }
  set_aside_usd_ += amount_usd;
  return true;
}

void SpendingBudget::settle(double set_aside_usd, double spent_usd) {
  const MutexLock lock(mutex_);
  if (spending_.limit_usd) set_aside_usd_ -= set_aside_usd;
  spending_.spent_usd += spent_usd;
  settled_.notify_all();
}

double SpendingBudget::spent_usd() const {
  const MutexLock lock(mutex_);
  return spending_.spent_usd;
}

bool SpendingBudget::limit_reached() const {
  const MutexLock lock(mutex_);
  return limit_reached_;
}

std::optional<double> MeteredClient::cost_of(const CompletionReply& reply) const {
  if (!inner_.is_model() || (price_ && price_->is_free())) return 0;
  if (!reply.usage_known) return std::nullopt;
  // If an amount is stored with the reply, it has priority over the current price, because it was
  // computed with the price at the time of the reply.
  if (reply.charged_usd) return reply.charged_usd;
  if (!price_) return std::nullopt;
  return price_->cost_usd(reply.input_tokens, reply.output_tokens);
}

double MeteredClient::worst_case(const CompletionRequest& request) const {
  if (!price_) return 0;
  std::size_t bytes = request.system.size();
  for (const ChatMessage& message : request.messages) bytes += message.text.size();
  return price_->cost_usd(static_cast<std::int64_t>(bytes), request.max_tokens);
}

Result<CompletionReply> MeteredClient::complete(const CompletionRequest& request) {
  const double amount = worst_case(request);
  if (!budget_.set_aside(amount)) {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "spending limit reached: $%.4f are spent, and the next request could cost $%.4f",
                  spent_usd(), amount);
    return fail(ErrorCode::resource_exhausted, text);
  }
  Result<CompletionReply> reply = inner_.complete(request);
  if (!reply) {
    budget_.settle(amount, 0);
    return reply;
  }
  reply->charged_usd.reset();  // a recorded reply contains the charge of its first use
  const double charged = reply->usage_known ? cost_of(*reply).value_or(0) : amount;
  budget_.settle(amount, charged);
  if (price_ || !inner_.is_model()) reply->charged_usd = charged;
  return reply;
}

}  // namespace assay::agents
