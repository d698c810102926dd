// Writes plain lines to stderr for the person who runs a command: error messages, addresses,
// progress. Lines about the work of a running server belong in the log (base/log.h) instead.
//
//   stderr_line("assay report: no such store");
//
// assay-jail and assay-launcher report their errors with this function too. The supervisor reads
// the stderr of both programs, and a logging library would slow down their start. Thread-safe.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace assay {

/// Writes `text` and a line feed to stderr in one write. A failure of the write is ignored.
inline void stderr_line(std::string_view text) {
  const std::string line = std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace assay
