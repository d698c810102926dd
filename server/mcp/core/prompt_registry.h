// The registered prompts: lists them, finds one, checks its arguments, gets its messages.
// Registration first, then calls from many threads.
//
//   book.add(prompt);
//   book.get(params, context)        ->  what the prompt says, or needs to know
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/core/prompt.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

/// A GetPromptResult.
nlohmann::json to_json(PromptResult result);

class PromptRegistry {
 public:
  Status add(Prompt prompt);
  bool empty() const { return prompts_.empty(); }
  const nlohmann::json& list() const { return list_; }

  /// Unknown prompts, unknown or missing arguments and values that are no strings: kInvalidParams
  /// with the valid names.
  Rpc<PromptResult> get(const nlohmann::json& params, RequestContext& context) const;

  /// The completer of an argument; null when it has none. An error when there is no such prompt or
  /// argument.
  Rpc<Completer> completer(const std::string& name, const std::string& argument) const;
  bool completes() const;

 private:
  Rpc<const Prompt*> find(const nlohmann::json& name) const;

  std::vector<std::unique_ptr<Prompt>> prompts_;
  nlohmann::json list_ = nlohmann::json::array();
};

}  // namespace assay::mcp
