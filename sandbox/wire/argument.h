// Argument describes a tensor or a scalar in a message (docs/reference/frames.md, "Tensors and
// scalars"). The inputs and the outputs of a case have the same description.
//
//   const std::vector<Argument> sent = {{.name = "y", .dtype = "float32", .nbytes = 16}};
//   const nlohmann::json header = {{"type", "compare"}, {"outputs", to_json(sent)}};
//   HeaderReader in(header, "compare");
//   const std::vector<Argument> received = read_arguments(in, "outputs");
//
// Plain structs and pure functions. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace assay::sandbox {

class HeaderReader;

/// A tensor or a scalar. If a tensor has bytes, they are in a memory file or in device memory.
struct Argument {
  std::string name = {};
  bool is_tensor = true;
  std::string dtype = {};
  std::vector<std::int64_t> shape = {}, strides = {};  // strides in elements
  // The index of the argument's descriptor in the frame. It is not set if the argument has no
  // bytes, or if the frame carries only one memory for all arguments.
  std::optional<std::int64_t> fd = {};
  std::int64_t offset = 0, nbytes = 0;  // position and number of the tensor's bytes in the memory
  std::string scalar_type = {};         // int | float | bool
  std::variant<std::int64_t, double, bool> value = {};
};

/// The most tensors and scalars in one list. Each parameter and each buffer of an imported model is
/// an argument: those of ResNet-101 are 523. The limit bounds the heap of a message with one list.
/// The limits of a header (sandbox/wire/frame.h) bound all lists of a message together, and allow
/// at least eight cases with so many tensors.
inline constexpr std::size_t kMaxArguments = 1'024;
inline constexpr std::size_t kMaxTensorRank = 16;

nlohmann::json to_json(const Argument& argument);
nlohmann::json to_json(const std::vector<Argument>& arguments);
/// Reads a list of at most kMaxArguments entries.
std::vector<Argument> read_arguments(HeaderReader& in, const char* name);

}  // namespace assay::sandbox
