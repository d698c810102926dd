// Reads the file of `assay serve --shares-file`: the weights and limits of tokens and runs, and the
// reserve for clients that wait (docs/reference/limits.md). SIGHUP reads it again.
//
//   const Result<ShareSettings> shares = parse_shares("[token.trainer]\nweight = 0.5\n");
//   if (!shares) return fail(shares.error());
//
// Pure functions, thread-safe, except that read_shares() reads a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/runs/share_settings.h"

namespace assay::server {

inline constexpr std::int64_t kMaxSharesFileBytes = 1 << 20;

/// Error: invalid_argument if the text is no TOML, or if it has an unknown name or a value that is
/// not valid; the message names the valid ones.
Result<ShareSettings> parse_shares(std::string_view text);
/// Errors: not_found if there is no readable regular file; corrupt if the file is empty, or larger
/// than kMaxSharesFileBytes; io; those of parse_shares(), with the path.
Result<ShareSettings> read_shares(const std::string& path);

}  // namespace assay::server
