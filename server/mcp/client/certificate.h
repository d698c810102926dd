// Reads the certificate with which a server speaks TLS, also if the certificate is not valid.
//
//   const Result<CertificateFacts> facts = server_certificate("assay.example.org", 443, 5'000);
//   if (facts && facts->problem.empty()) show(facts->expires_unix_ms);
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace assay::mcp {

struct CertificateFacts {
  std::int64_t expires_unix_ms = 0;
  /// Why a client refuses the certificate: its name, its issuer or its dates. Empty: it is valid.
  std::string problem;
};

/// Connects, and reads the certificate. Sends nothing after the handshake. Errors: unavailable if
/// the server cannot be reached, or if it does not speak TLS.
Result<CertificateFacts> server_certificate(const std::string& host, int port,
                                            std::int64_t timeout_ms);

}  // namespace assay::mcp
