#include "server/mcp/client/certificate.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include "base/unique_fd.h"

namespace assay::mcp {
namespace {

constexpr std::int64_t kMsPerS = 1'000;

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using Handshake = std::unique_ptr<SSL, Freed<SSL_free>>;
using Addresses = std::unique_ptr<addrinfo, Freed<::freeaddrinfo>>;

/// Connects to the first address of the host that answers.
Result<UniqueFd> connected(const std::string& host, int port, std::int64_t timeout_ms) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (problem != 0)
    return fail(ErrorCode::unavailable, "no address of " + host + ": " + ::gai_strerror(problem));
  const Addresses addresses(found);
  timeval limit{};
  limit.tv_sec = timeout_ms / kMsPerS;
  limit.tv_usec = timeout_ms % kMsPerS * kMsPerS;
  std::string why;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    UniqueFd fd(::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol));
    if (!fd) continue;
    // These limits apply to connect() too.
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (::connect(fd.get(), one->ai_addr, one->ai_addrlen) == 0) return fd;
    why = std::strerror(errno);
  }
  return fail(ErrorCode::unavailable, "cannot connect to " + host + ": " + why);
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  return ::inet_pton(AF_INET, host.c_str(), parsed.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), parsed.data()) == 1;
}

/// Makes the handshake compare the certificate with the name or the address of the host.
void expect_name(SSL* handshake, const std::string& host) {
  if (is_address(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handshake), host.c_str());
    return;
  }
  SSL_set_tlsext_host_name(handshake, host.c_str());
  SSL_set1_host(handshake, host.c_str());
}

}  // namespace

Result<CertificateFacts> server_certificate(const std::string& host, int port,
                                            std::int64_t timeout_ms) {
  ASSAY_TRY(fd, connected(host, port, timeout_ms));
  const Context context(SSL_CTX_new(TLS_client_method()));
  const Handshake handshake(context ? SSL_new(context.get()) : nullptr);
  if (!handshake || SSL_CTX_set_default_verify_paths(context.get()) != 1)
    return fail(ErrorCode::internal, "OpenSSL could not be set up");
  // A handshake goes on with a certificate that is not valid, so that the caller can say why.
  SSL_set_verify(handshake.get(), SSL_VERIFY_NONE, nullptr);
  expect_name(handshake.get(), host);
  SSL_set_fd(handshake.get(), fd.get());
  const X509* certificate = nullptr;
  if (SSL_connect(handshake.get()) == 1) certificate = SSL_get0_peer_certificate(handshake.get());
  ERR_clear_error();
  if (certificate == nullptr)
    return fail(ErrorCode::unavailable, host + " did not complete a TLS handshake");
  CertificateFacts facts;
  std::tm expires{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &expires) == 1)
    facts.expires_unix_ms = static_cast<std::int64_t>(::timegm(&expires)) * kMsPerS;
  const long verified = SSL_get_verify_result(handshake.get());
  if (verified != X509_V_OK) facts.problem = X509_verify_cert_error_string(verified);
  return facts;
}

}  // namespace assay::mcp
