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

Result<CompletionReply> MeteredClient::complete(const CompletionRequest& request) {
  const double amount = worst_case(request);
  if (!purse_.set_aside(amount)) {
    char text[160];
    std::snprintf(text, sizeof(text), "the spending limit: $%.4f are spent, and the next request could cost $%.4f", spent_usd(), amount);
    return fail(ErrorCode::resource_exhausted, text);
  }
  Result<CompletionReply> reply = inner_.complete(request);
  const double spent = !reply ? 0 : reply->usage_known ? cost_of(*reply) : amount;
  purse_.settle(amount, spent);
  return reply;
}

}  // namespace assay::agents
