// Describes a launch plan in words. Each buffer, binary, operation and output of the plan becomes
// an Entry with a title and facts. `plan show` prints the entries. `plan diff` compares them. Pure
// functions.
//
//   std::string text = show_plan(plan, bytes.size());
//   const BufferNames names = buffer_names(plan);  // "x", "scratch0", "constant1"
//   const std::vector<Entry> entries = operation_entries(plan, names);
//   // {0, "kernel add_kernel", {{"grid", "4x1x1"}, {"argument 0", "x"}, ...}}, ...
//
// The names in a plan are untrusted. They are escaped, so that no name contains a line break. The
// plan need not have passed check_plan(), so its indices may be invalid. The text marks invalid
// indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/plan/plan.h"

namespace assay::server {

struct Entry {
  /// The level of indentation. It is 1 for an alternative (an autotuner configuration) of a choice,
  /// 2 for an operation of an alternative, and 0 for every other entry.
  int depth = 0;
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // label and value; labels are unique
  /// The number of facts that are a kernel's arguments. These are the last facts of the list.
  std::size_t arguments = 0;
  bool operator==(const Entry&) const = default;
};

using BufferNames = std::vector<std::string>;  // the names of the buffers, by index

/// Returns the names of the buffers. The name of an input is that of its argument. The name of any
/// other buffer is its kind with a number, such as "scratch0".
BufferNames buffer_names(const sandbox::Plan& plan);

std::vector<Entry> buffer_entries(const sandbox::Plan& plan, const BufferNames& names);
std::vector<Entry> binary_entries(const sandbox::Plan& plan);
/// Returns the operations in order. Each choice is followed by its alternatives, and each
/// alternative is followed by its operations.
std::vector<Entry> operation_entries(const sandbox::Plan& plan, const BufferNames& names);
std::vector<Entry> output_entries(const sandbox::Plan& plan, const BufferNames& names);

/// Returns text about the header, buffers, binaries, operations in order, and outputs. `plan_bytes`
/// is the size of the encoded plan.
std::string show_plan(const sandbox::Plan& plan, std::size_t plan_bytes);

/// Returns text such as "version 2, target cuda:90, 31,204 bytes".
std::string plan_header(const sandbox::Plan& plan, std::size_t plan_bytes);

}  // namespace assay::server
