// Makes handles and content hashes. Handles name runs, jobs and artifacts across MCP calls. A
// handle is random, so it cannot be guessed; its prefix names the kind of object. The content of a
// source or of a file is identified by its SHA-256. Thread-safe.
//
//   new_handle("run");  // "run_4kq7v0c2m9x1h5t8z3w6b0ndra", 128 bits from getrandom(2) in base 32
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// Returns `prefix` + "_" + 26 characters of Crockford base 32 (128 random bits). Aborts the
/// process if the kernel gives no random bits, because the handle could then be guessed.
std::string new_handle(std::string_view prefix);

/// Returns true if `text` has the form of a handle with this prefix. Does not check whether an
/// object with this handle exists.
bool is_handle(std::string_view text, std::string_view prefix);

/// Returns `digits` random hexadecimal digits, an even number of at most 32.
std::string random_hex(std::size_t digits);

/// Returns the SHA-256 of `bytes` as 64 lower-case hexadecimal characters.
std::string sha256_hex(std::string_view bytes);

}  // namespace assay
