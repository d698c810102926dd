// HeaderReader reads typed fields from a frame's header and remembers the first invalid field. The
// parsers of all messages use it, in the supervisor and in the launcher.
//
//   HeaderReader in(frame.header, "prepared");
//   const std::string job = in.text("job");
//   const std::int64_t bytes = in.integer("output_bytes", 0, kHighestInteger);
//   Status read = in.status();  // an error says for example "prepared: `job` is missing"
//
// The header may come from a hostile process. A wrong type or a number out of range is an error.
// Only number() converts values. For an invalid field the readers return an empty value or the
// lowest valid number. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

inline constexpr std::int64_t kLowestInteger = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kHighestInteger = std::numeric_limits<std::int64_t>::max();

class HeaderReader {
 public:
  /// The maximum length of a text field. Texts are quoted in messages, stored and passed on, and
  /// each of these steps makes the text slightly longer.
  static constexpr std::size_t kMaxTextBytes = 64U << 10;
  /// The maximum length of a name, such as that of a kernel. An instance of a template has a long
  /// name, because the name contains the template's arguments.
  static constexpr std::size_t kMaxNameBytes = 8U << 10;

  /// The caller owns `object`. Each error message begins with `where`.
  HeaderReader(const nlohmann::json& object, std::string where);

  std::string text(const char* name);
  /// Returns the text, or an empty string if the field is absent or null.
  std::string optional_text(const char* name);
  /// Reads a name, which answers show in the middle of a line. Rejects a text with more than
  /// kMaxNameBytes bytes, and one with control characters or line breaks.
  std::string line(const char* name);
  /// Returns the name, or an empty string if the field is absent or null.
  std::string optional_line(const char* name);
  std::int64_t integer(const char* name, std::int64_t low, std::int64_t high);
  /// Reads a size or an offset in bytes, from 0 to kHighestInteger.
  std::uint64_t bytes(const char* name);
  std::optional<std::int64_t> optional_integer(const char* name);
  bool flag(const char* name);
  std::optional<bool> optional_flag(const char* name);
  /// Reads a number. Also accepts "nan", "inf" and "-inf", and converts true to 1 and false to 0.
  double number(const char* name);
  std::optional<double> optional_number(const char* name);
  /// The functions below read lists. They reject a list with more than `most` entries, and then
  /// return an empty list. integers() also rejects a list with an entry below `low`.
  std::vector<std::int64_t> integers(const char* name, std::size_t most,
                                     std::int64_t low = kLowestInteger);
  std::vector<double> numbers(const char* name, std::size_t most);
  std::vector<std::string> texts(const char* name, std::size_t most);
  std::vector<nlohmann::json> list(const char* name, std::size_t most);
  /// Returns the object. Records an error and returns nullptr if the field is absent or not an
  /// object.
  const nlohmann::json* object(const char* name);
  /// Returns the object. Returns nullptr, without an error, if the field is absent or null.
  const nlohmann::json* optional_object(const char* name);
  bool has(const char* name) const;

  /// Records an error, unless an earlier error is already recorded.
  void reject(const std::string& what);
  /// Records the error of `other`, if it has one, unless an earlier error is already recorded.
  void merge(const HeaderReader& other);
  Status status() const;

 private:
  const nlohmann::json* find(const char* name);
  void reject_field(const char* name, const std::string& what);

  const nlohmann::json& object_;
  std::string where_;
  std::string error_;
};

/// Limits for lists that occur in several messages.
inline constexpr std::size_t kMaxKernels = 4'096;
inline constexpr std::size_t kMaxSamples = 1'000'000;

/// Returns an error unless the frame has this type.
Status expect_type(const Frame& frame, const char* type);

}  // namespace assay::sandbox
