// Describes a launch plan in words: each buffer, binary, operation and output is an Entry with a
// title and facts. `plan show` prints entries, `plan diff` compares them. Pure functions.
//
//   std::string text = show_plan(plan, bytes.size());
//   const BufferNames names = buffer_names(plan);  // "x", "scratch0", "constant1"
//   const std::vector<Entry> entries = operation_entries(plan, names);
//   // {0, "kernel add_kernel", {{"grid", "4x1x1"}, {"argument 0", "x"}, ...}}, ...
//
// The names in a plan are untrusted; they are escaped, on one line. The plan comes from
// decode_plan(), so its indices may be invalid; the text then says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/plan/plan.h"

namespace assay::server {

struct Entry {
  int depth = 0;  // 1: an alternative of a choice; 2: an operation of an alternative
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // label and value; each label once
  std::size_t arguments = 0;  // the number of facts at the end that are a kernel's arguments
  bool operator==(const Entry&) const = default;
};

using BufferNames = std::vector<std::string>;  // by index

/// Names the buffers: an input by its argument, any other by its kind and its number within the
/// kind.
BufferNames buffer_names(const sandbox::Plan& plan);

std::vector<Entry> buffer_entries(const sandbox::Plan& plan, const BufferNames& names);
std::vector<Entry> binary_entries(const sandbox::Plan& plan);
/// A choice is followed by its alternatives, and each alternative by its operations.
std::vector<Entry> operation_entries(const sandbox::Plan& plan, const BufferNames& names);
std::vector<Entry> output_entries(const sandbox::Plan& plan, const BufferNames& names);

/// Returns header, buffers, binaries, operations in order and outputs. `plan_bytes` is the size of
/// the plan's byte form.
std::string show_plan(const sandbox::Plan& plan, std::size_t plan_bytes);

/// Returns "version 2, target cuda:90, 31,204 bytes".
std::string plan_header(const sandbox::Plan& plan, std::size_t plan_bytes);

}  // namespace assay::server
