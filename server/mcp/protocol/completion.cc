#include "server/mcp/protocol/completion.h"

#include "base/text.h"

namespace assay::mcp {
Completer complete_from(std::vector<std::string> values) {
  return [values = std::move(values)](const std::string& typed, const Variables&) {
    const std::string wanted = lower_case(typed);
    std::vector<std::string> begin, contain;
    for (const std::string& value : values) {
      const std::size_t at = lower_case(value).find(wanted);
      if (at == 0)
        begin.push_back(value);
      else if (at != std::string::npos)
        contain.push_back(value);
    }
    begin.insert(begin.end(), contain.begin(), contain.end());
    return begin;
  };
}

}  // namespace assay::mcp
