#include "server/mcp/protocol/pagination.h"

#include <algorithm>
#include <optional>

#include "base/base64.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDigits = 9;

std::string cursor_at(const std::string& key, std::size_t offset) {
  return base64_encode(key + ":" + std::to_string(offset));
}

/// The offset that a cursor stands for; nothing when it is not one of ours for this list.
std::optional<std::size_t> offset_of(const std::string& cursor, const std::string& key,
                                     std::size_t size, std::size_t page_size) {
  const auto text = base64_decode(cursor);
  if (!text || text->compare(0, key.size() + 1, key + ":") != 0) return std::nullopt;
  const std::string digits = text->substr(key.size() + 1);
  if (digits.empty() || digits.size() > kMaxDigits ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const std::size_t offset = std::stoul(digits);
  if (offset == 0 || offset >= size || offset % page_size != 0 || cursor_at(key, offset) != cursor)
    return std::nullopt;
  return offset;
}

}  // namespace

Rpc<json> list_page(const json& all, const std::string& key, const json& params,
                    std::size_t page_size) {
  std::size_t begin = 0;
  if (const auto cursor = params.find("cursor"); cursor != params.end() && !cursor->is_null()) {
    const auto offset = cursor->is_string()
                            ? offset_of(cursor->get<std::string>(), key, all.size(), page_size)
                            : std::nullopt;
    if (!offset)
      return refuse_rpc(kInvalidParams,
                        "params.cursor is no cursor of this list; pass on a nextCursor as it came, "
                        "or ask without one");
    begin = *offset;
  }
  if (begin == 0 && all.size() <= page_size) return json{{key, all}};
  const std::size_t end = std::min(all.size(), begin + page_size);
  json page = {{key, json::array()}};
  for (std::size_t i = begin; i < end; ++i) page[key].push_back(all[i]);
  if (end < all.size()) page["nextCursor"] = cursor_at(key, end);
  return page;
}

}  // namespace assay::mcp
