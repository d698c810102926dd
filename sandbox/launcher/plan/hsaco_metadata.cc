// Implements check_amd_metadata(): reads the MessagePack document that describes an AMD binary's
// kernels.
#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "sandbox/launcher/plan/plan_check.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

// The parser calls itself for each level. The metadata of a compiler has about five levels.
constexpr std::size_t kMostDepth = 64;
// The kinds of arguments that the launcher passes, and those that HIP adds and that only describe
// the launch. HIP adds others if the metadata ask for them. Three are dangerous: with
// `hidden_hostcall_buffer`, HIP's runtime calls any function in the launcher whose address a kernel
// writes. `hidden_heap_v1` is memory that keeps its contents from launch to launch. An argument of
// the kind `queue`, `image` or `sampler` is a pointer to an object of the runtime.
constexpr std::array<std::string_view, 19> kArgumentKinds = {
    "by_value",
    "global_buffer",
    "dynamic_shared_pointer",
    "hidden_none",
    "hidden_block_count_x",
    "hidden_block_count_y",
    "hidden_block_count_z",
    "hidden_group_size_x",
    "hidden_group_size_y",
    "hidden_group_size_z",
    "hidden_remainder_x",
    "hidden_remainder_y",
    "hidden_remainder_z",
    "hidden_global_offset_x",
    "hidden_global_offset_y",
    "hidden_global_offset_z",
    "hidden_grid_dims",
    "hidden_dynamic_lds_size",
    "hidden_multigrid_sync_arg",  // the barrier of a cooperative launch
};
// The keys of the whole document, since the third version of the format.
constexpr std::array<std::string_view, 4> kKeys = {"amdhsa.kernels", "amdhsa.printf",
                                                   "amdhsa.target", "amdhsa.version"};
// The number of characters of a submission's text that an error repeats.
constexpr std::size_t kShownCharacters = 40;

tl::unexpected<Error> refuse_metadata(const std::string& reason) {
  return fail(ErrorCode::invalid_argument, "device binary: " + reason);
}

/// Accepts a document that every reader understands in the same way: with few levels, and without a
/// map that has a key twice. Of two values, the driver may take the first, and json has the last.
class Unambiguous final : public nlohmann::json_sax<json> {
 public:
  bool key(std::string& name) override { return keys_.back().insert(name).second; }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool enter() {
    keys_.emplace_back();
    return keys_.size() <= kMostDepth;
  }
  bool leave() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;  // of each map or list that is open
};

/// Returns a value of a map for an error: a text or a number, and otherwise its type.
std::string shown(const json& value) {
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  const std::string text = value.is_string() ? value.get<std::string>() : value.type_name();
  return "'" + text.substr(0, kShownCharacters) + "'";
}

/// Returns the value of a map, or null.
const json& value_of(const json& map, const char* key) {
  static const json kNone;
  const auto found = map.find(key);
  return found == map.end() ? kNone : *found;
}

/// Checks that the arguments follow each other inside `room` bytes. The runtime believes their
/// offsets and sizes when it copies them.
Status check_arguments(const json& arguments, std::uint64_t room) {
  if (arguments.is_null()) return {};
  if (!arguments.is_array()) return refuse_metadata("the arguments of a kernel are no list");
  std::uint64_t end = 0;
  for (const json& argument : arguments) {
    if (!argument.is_object()) return refuse_metadata("an argument of a kernel is no map");
    const json &kind = value_of(argument, ".value_kind"), &offset = value_of(argument, ".offset"),
               &size = value_of(argument, ".size");
    if (!kind.is_string() || std::find(kArgumentKinds.begin(), kArgumentKinds.end(),
                                       kind.get_ref<const std::string&>()) == kArgumentKinds.end())
      return refuse_metadata(
          "a kernel with an argument of the kind " + shown(kind) +
          ": kernels may not call the host, and have no heap; leave out printf, assert "
          "and malloc, and let the compiler inline all functions");
    if (!offset.is_number_unsigned() || !size.is_number_unsigned() ||
        offset.get<std::uint64_t>() < end || offset.get<std::uint64_t>() > room ||
        size.get<std::uint64_t>() > room - offset.get<std::uint64_t>())
      return refuse_metadata("an argument at " + shown(offset) + " of " + shown(size) +
                             " bytes: arguments must follow each other within the " +
                             std::to_string(room) + " bytes of the kernel's arguments");
    end = offset.get<std::uint64_t>() + size.get<std::uint64_t>();
  }
  return {};
}

Status check_kernel(const json& kernel, AmdKernels& kernels) {
  if (!kernel.is_object()) return refuse_metadata("a kernel that is no map");
  if (const json& kind = value_of(kernel, ".kind"); !kind.is_null() && kind != "normal")
    return refuse_metadata(
        "a kernel of the kind " + shown(kind) +
        ", which the driver would run by itself; only kernels of the kind 'normal' may "
        "be in a binary");
  const json& symbol = value_of(kernel, ".symbol");
  if (!symbol.is_string()) return refuse_metadata("a kernel without a symbol");
  const auto bytes_of = [&](const char* key) {
    const json& value = value_of(kernel, key);
    return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
  };
  const std::uint64_t bytes = bytes_of(".kernarg_segment_size");
  if (bytes > kMostAmdArgumentBytes)
    return refuse_metadata("a kernel with " + std::to_string(bytes) +
                           " bytes of arguments; at most " + std::to_string(kMostAmdArgumentBytes) +
                           " are allowed");
  if (Status usual = check_arguments(value_of(kernel, ".args"), bytes); !usual) return usual;
  const AmdKernel told{.group_bytes = bytes_of(".group_segment_fixed_size"),
                       .private_bytes = bytes_of(".private_segment_fixed_size"),
                       .argument_bytes = bytes};
  const auto [known, fresh] = kernels.emplace(symbol.get<std::string>(), told);
  if (!fresh && known->second != told)
    return refuse_metadata("the kernel " + shown(symbol) + " has two descriptions");
  return {};
}

}  // namespace

Status check_amd_metadata(std::string_view metadata, AmdKernels& kernels) {
  // The driver reads one value, and no bytes behind it.
  constexpr bool kWhole = false;
  Unambiguous reader;
  if (!json::sax_parse(metadata.begin(), metadata.end(), &reader, json::input_format_t::msgpack,
                       kWhole))
    return refuse_metadata("the metadata are no MessagePack, have a key twice, or have more than " +
                           std::to_string(kMostDepth) + " levels");
  const json document = json::from_msgpack(metadata.begin(), metadata.end(), kWhole,
                                           /*allow_exceptions=*/false);
  if (!document.is_object()) return refuse_metadata("the metadata are no map");
  // With other keys, the runtime would take the document for one of an older format, and look at
  // other lists.
  for (const auto& [key, value] : document.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
      return refuse_metadata("the metadata have the key " + shown(key) +
                             ", which compilers do not write");
  }
  const json& described = value_of(document, "amdhsa.kernels");
  if (described.is_null()) return {};
  if (!described.is_array()) return refuse_metadata("the kernels in the metadata are no list");
  for (const json& kernel : described) {
    if (Status usual = check_kernel(kernel, kernels); !usual) return usual;
  }
  return {};
}

}  // namespace assay::sandbox
