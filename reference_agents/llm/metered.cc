#include "reference_agents/llm/metered.h"

#include <cstdint>
#include <cstdio>

namespace assay::agents {

std::optional<double> MeteredClient::cost_of(const CompletionReply& reply) const {
  if (!inner_.is_model()) return 0;
  if (!reply.usage_known) return std::nullopt;
  if (reply.charged_usd) return reply.charged_usd;  // by the price of its time
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
  if (!purse_.set_aside(amount)) {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "the spending limit: $%.4f are spent, and the next request could cost $%.4f",
                  spent_usd(), amount);
    return fail(ErrorCode::resource_exhausted, text);
  }
  Result<CompletionReply> reply = inner_.complete(request);
  if (!reply) {
    purse_.settle(amount, 0);
    return reply;
  }
  reply->charged_usd.reset();  // a recorded reply has that of its time
  const double charged = reply->usage_known ? cost_of(*reply).value_or(0) : amount;
  purse_.settle(amount, charged);
  if (price_ || !inner_.is_model()) reply->charged_usd = charged;
  return reply;
}

}  // namespace assay::agents
