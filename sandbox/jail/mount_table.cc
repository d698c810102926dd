#include "sandbox/jail/mount_table.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace assay::sandbox {
namespace {

constexpr std::size_t kEscapeDigits = 3;

bool is_octal(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '7'; });
}

std::string unescaped(std::string_view field) {
  std::string path;
  for (std::size_t at = 0; at < field.size(); ++at) {
    const std::string_view digits = field.substr(at + 1, kEscapeDigits);
    if (field[at] != '\\' || digits.size() < kEscapeDigits || !is_octal(digits)) {
      path += field[at];
      continue;
    }
    int code = 0;
    for (const char digit : digits) code = 8 * code + (digit - '0');
    path += static_cast<char>(code);
    at += kEscapeDigits;
  }
  return path;
}

}  // namespace

std::vector<Mount> parse_mounts(std::string_view table) {
  std::vector<Mount> mounts;
  for (std::size_t line = 0, end = 0; line < table.size(); line = end + 1) {
    end = std::min(table.find('\n', line), table.size());
    std::array<std::string_view, 4> fields;  // the first field, the source, may be empty
    std::string_view rest = table.substr(line, end - line);
    for (std::string_view& field : fields) {
      field = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(field.size() + 1, rest.size()));
    }
    const auto& [source, target, type, options] = fields;
    if (!options.empty())
      mounts.push_back({unescaped(target), std::string(type), std::string(options)});
  }
  return mounts;
}

}  // namespace assay::sandbox
