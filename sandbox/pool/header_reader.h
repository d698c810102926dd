// HeaderReader takes typed fields out of a frame's header and remembers the first invalid one.
//
//   HeaderReader in(frame.header, "prepared");
//   message.job = in.text("job");
//   // For example "prepared: `job` is missing".
//   if (Status read = in.status(); !read) return fail(read.error());
//
// The header may come from a hostile process: wrong types and ranges are errors, never conversions.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

class HeaderReader {
 public:
  /// The longest text of a field. Texts are quoted in messages, stored and sent on, and each time
  /// they get a little longer.
  static constexpr std::size_t kMaxTextBytes = 64U << 10;

  HeaderReader(const nlohmann::json& object, std::string where);

  std::string text(const char* name);
  /// Empty when the field is absent or null.
  std::string optional_text(const char* name);
  std::int64_t integer(const char* name, std::int64_t low, std::int64_t high);
  std::optional<std::int64_t> optional_integer(const char* name);
  bool flag(const char* name);
  /// A number, or "nan", "inf", "-inf".
  double number(const char* name);
  std::optional<double> optional_number(const char* name);
  std::optional<bool> optional_flag(const char* name);
  /// At most `most` entries.
  std::vector<std::int64_t> integers(const char* name, std::size_t most);
  std::vector<std::string> texts(const char* name, std::size_t most);
  /// Returns the entries of a list of at most `most`. Empty after an error.
  std::vector<nlohmann::json> list(const char* name, std::size_t most);
  /// Null when absent or null.
  const nlohmann::json* optional_object(const char* name);
  bool has(const char* name) const;

  void reject(const std::string& what);
  /// Takes over the error of another reader.
  void merge(const HeaderReader& other);
  Status status() const;

 private:
  const nlohmann::json* find(const char* name);
  std::optional<double> to_number(const nlohmann::json& value) const;

  const nlohmann::json& object_;
  std::string where_;
  std::string error_;
};

}  // namespace assay::sandbox
