// Caller: whom a request comes from, as far as a token told: a name for the log and limits, and
// scopes. What a scope permits is the application's affair; this library only carries the words.
// Immutable, so it may be shared between threads.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mcp {

struct Caller {
  std::string name;
  std::vector<std::string> scopes;

  bool allows(std::string_view scope) const {
    return std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
  }
};

/// Empty where no tokens are asked for.
inline std::string name_of(const std::shared_ptr<const Caller>& caller) {
  return caller ? caller->name : std::string();
}

}  // namespace assay::mcp
