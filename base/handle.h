// Handles name runs, jobs and artifacts across MCP calls: random, unguessable, with a prefix that
// tells their kind.
//
//   new_handle("run")  ->  "run_4kq7v0c2m9x1h5t8z3w6b0ndra"     (128 bits from getrandom(2), base
//   32)
//
// Identity of contents is SHA-256. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// `prefix` + "_" + 26 characters of Crockford base 32 (128 random bits).
std::string new_handle(std::string_view prefix);

/// True when `text` has the form that new_handle(prefix) gives. Says nothing about whether it
/// exists.
bool is_handle(std::string_view text, std::string_view prefix);

/// Lower-case hexadecimal SHA-256, 64 characters.
std::string sha256_hex(std::string_view bytes);

}  // namespace assay
