// The registered tools with their compiled schemas: lists them, finds them, and calls one with everything that a call needs around it
// (arguments checked, exceptions caught, result checked). Registration first, then calls from many threads at once.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/schema.h"
#include "server/mcp/server.h"

namespace assay::mcp {

class Toolbox {
 public:
  Status add(Tool tool);

  /// The `tools` array of tools/list, in the order of registration.
  const nlohmann::json& list() const { return list_; }
  bool has(const std::string& name) const { return find(name) != nullptr; }
  std::string names() const;

  /// A CallToolResult. Bad arguments and handler exceptions are results with isError; an Error (`internal`) means that the tool broke its own
  /// output schema, and is logged. A failed call's structured part is passed on only where it conforms: some clients check it even then.
  Result<nlohmann::json> call(const std::string& name, nlohmann::json arguments, RequestContext& context) const;

 private:
  struct Entry {
    Tool tool;
    Schema input;
    std::optional<Schema> output;
  };
  const Entry* find(const std::string& name) const;

  std::vector<std::unique_ptr<Entry>> entries_;
  nlohmann::json list_ = nlohmann::json::array();
};

}  // namespace assay::mcp
