// HeaderReader takes typed fields out of a frame's header and remembers the first invalid one. The
// functions below it read and write the parts that several messages share. For messages_*.cc only.
//
//   HeaderReader in(frame.header, "prepared");
//   const std::string job = in.text("job");
//   const std::vector<Argument> arguments = read_arguments(in, "arguments");
//   if (Status read = in.status(); !read) return fail(read.error());
//
// An error says for example "prepared: `job` is missing". The header may come from a hostile
// process. A wrong type or a number out of range is an error, never converted. Not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/pool/messages.h"

namespace assay::sandbox {

class HeaderReader {
 public:
  /// The longest text of a field. Texts are quoted in messages, stored and sent on, and each step
  /// makes them a little longer.
  static constexpr std::size_t kMaxTextBytes = 64U << 10;

  HeaderReader(const nlohmann::json& object, std::string where);

  std::string text(const char* name);
  /// Returns an empty string if the field is absent or null.
  std::string optional_text(const char* name);
  std::int64_t integer(const char* name, std::int64_t low, std::int64_t high);
  std::optional<std::int64_t> optional_integer(const char* name);
  bool flag(const char* name);
  /// Reads a number, "nan", "inf" or "-inf".
  double number(const char* name);
  std::optional<double> optional_number(const char* name);
  std::optional<bool> optional_flag(const char* name);
  /// The readers of lists reject one with more than `most` entries, and then return an empty list.
  std::vector<std::int64_t> integers(const char* name, std::size_t most);
  std::vector<std::string> texts(const char* name, std::size_t most);
  std::vector<nlohmann::json> list(const char* name, std::size_t most);
  /// Returns nullptr if the field is absent or null.
  const nlohmann::json* optional_object(const char* name);
  bool has(const char* name) const;

  /// Notes an error, unless there is one already.
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

inline constexpr std::int64_t kHighestInteger = std::numeric_limits<std::int64_t>::max();
inline constexpr std::size_t kMaxArguments = 256;
inline constexpr std::size_t kMaxRank = 16;
inline constexpr std::size_t kMaxKernels = 4'096;
inline constexpr std::size_t kMaxLayers = 256;
inline constexpr std::size_t kMaxSamples = 1'000'000;

std::vector<LayerReport> read_layers(HeaderReader& in);
Versions read_versions(HeaderReader& in);
std::vector<Argument> read_arguments(HeaderReader& in, const char* name);
/// Reads the kernels of a launcher's message, or of a candidate's if `launcher` is false.
std::vector<KernelReport> read_kernels(HeaderReader& in, bool launcher);
/// Returns nothing if there are no samples.
std::optional<Timing> read_timing(HeaderReader& in);
nlohmann::json to_json(const Argument& argument);
nlohmann::json to_json(const std::vector<Argument>& arguments);

/// Returns an error unless the frame has this type.
Status expect_type(const Frame& frame, const char* type);

}  // namespace assay::sandbox
