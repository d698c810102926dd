// Parses HOST:PORT for `serve --http`.
#pragma once

#include <string>

#include "base/result.h"

namespace assay::server {

struct Address {
  std::string host;
  int port = 0;
  bool loopback = false;  // only this machine can reach it
};

/// Accepts "127.0.0.1:8080", "localhost:0", "[::]:8080". An error shows the form.
Result<Address> parse_address(const std::string& text);

}  // namespace assay::server
