#include "reference_agents/llm/metered.h"

#include <cstdint>
#include <cstdio>

namespace assay::agents {

double MeteredClient::cost_of(const CompletionReply& reply) const { return price_ ? price_->cost_usd(reply.input_tokens, reply.output_tokens) : 0; }

double MeteredClient::worst_case(const CompletionRequest& request) const {
  if (!price_) return 0;
  std::size_t bytes = request.system.size();
  for (const ChatMessage& message : request.messages) bytes += message.text.size();
  return price_->cost_usd(static_cast<std::int64_t>(bytes), request.max_tokens);
}

bool MeteredClient::set_aside(double amount) {
  std::unique_lock lock(mutex_);
  if (!spending_.limit_usd) return true;
  const double limit = *spending_.limit_usd;
  // What the others have set aside mostly comes back: wait for that before giving up.
  settled_.wait(lock, [&] { return limit_reached_ || spending_.spent_usd + amount > limit || spending_.spent_usd + set_aside_usd_ + amount <= limit; });
  if (limit_reached_ || spending_.spent_usd + amount > limit) {
    limit_reached_ = true;
    settled_.notify_all();
    return false;
  }
  set_aside_usd_ += amount;
  return true;
}

Result<CompletionReply> MeteredClient::complete(const CompletionRequest& request) {
  const double amount = worst_case(request);
  if (!set_aside(amount)) {
    char text[160];
    std::snprintf(text, sizeof(text), "the spending limit: $%.4f are spent, and the next request could cost $%.4f", spent_usd(), amount);
    return fail(ErrorCode::resource_exhausted, text);
  }
  Result<CompletionReply> reply = inner_.complete(request);
  const std::lock_guard lock(mutex_);
  if (spending_.limit_usd) set_aside_usd_ -= amount;
  if (reply) spending_.spent_usd += reply->usage_known ? cost_of(*reply) : amount;
  settled_.notify_all();
  return reply;
}

double MeteredClient::spent_usd() const {
  const std::lock_guard lock(mutex_);
  return spending_.spent_usd;
}

bool MeteredClient::limit_reached() const {
  const std::lock_guard lock(mutex_);
  return limit_reached_;
}

}  // namespace assay::agents
