// Tests TLS over real sockets, with certificates that the test makes. tests/e2e/test_http_tls.py
// covers unusable files and clients of other libraries.
#include "server/mcp/http/socket_io.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <filesystem>

#include "server/mcp/http/http_server.h"
#include "tests/server/mcp/fixture.h"
#include "tests/server/mcp/http/raw_http.h"

namespace assay::mcp {
namespace {

using namespace test;

/// A new folder with a key and the key's certificate. The destructor removes the folder.
class SelfSigned {
 public:
  SelfSigned() {
    char name[] = "/tmp/assay_tls_XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    folder_ = name;
    const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                    ::EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&::X509_free)> made(::X509_new(), ::X509_free);
    REQUIRE((key && made));
    ::ASN1_INTEGER_set(::X509_get_serialNumber(made.get()), 1);
    ::X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
    ::X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    ::X509_set_pubkey(made.get(), key.get());
    REQUIRE(::X509_sign(made.get(), key.get(), ::EVP_sha256()) > 0);
    std::FILE* file = std::fopen(certificate().c_str(), "w");
    REQUIRE((file != nullptr && ::PEM_write_X509(file, made.get()) == 1));
    std::fclose(file);
    file = std::fopen(this->key().c_str(), "w");
    REQUIRE((file != nullptr &&
             ::PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1));
    std::fclose(file);
  }
  SelfSigned(const SelfSigned&) = delete;
  SelfSigned& operator=(const SelfSigned&) = delete;
  ~SelfSigned() { std::filesystem::remove_all(folder_); }
  std::string certificate() const { return folder_ + "/cert.pem"; }
  std::string key() const { return folder_ + "/key.pem"; }

 private:
  std::string folder_;
};

/// A TLS client that accepts any certificate.
class TlsClient {
 public:
  explicit TlsClient(int port)
      : fd_(connect_to(port)),
        context_(::SSL_CTX_new(::TLS_client_method())),
        session_(::SSL_new(context_)) {
    ::SSL_set_fd(session_, fd_.get());
    REQUIRE(::SSL_connect(session_) == 1);
  }
  ~TlsClient() {
    ::SSL_free(session_);
    ::SSL_CTX_free(context_);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;
  void send(const std::string& text) {
    REQUIRE(::SSL_write(session_, text.data(), static_cast<int>(text.size())) ==
            static_cast<int>(text.size()));
  }
  std::string receive(const std::string& until) {
    std::string text;
    char chunk[4096];
    while (text.find(until) == std::string::npos) {
      const int got = ::SSL_read(session_, chunk, sizeof(chunk));
      if (got <= 0) break;
      text.append(chunk, static_cast<std::size_t>(got));
    }
    return text;
  }
  /// Sends the closing message of TLS, then closes the socket.
  void close() {
    ::SSL_shutdown(session_);
    fd_.reset();
  }

 private:
  UniqueFd fd_;
  SSL_CTX* context_;
  SSL* session_;
};

HttpOptions with_tls() {
  const SelfSigned files;
  auto tls = TlsContext::load(files.certificate(), files.key());
  if (!tls) FAIL(tls.error().message);
  HttpOptions options;
  options.tls = *tls;
  return options;
}

}  // namespace

TEST_CASE("tls: requests one after the other, small and larger than a record") {
  RunningHttp server(with_tls());
  TlsClient client(server.port);
  for (int i = 0; i < 3; ++i) {
    client.send(raw_post("", kPing));
    CHECK(client.receive("\"result\":{}}").rfind("HTTP/1.1 200", 0) == 0);
    // The head is in one TLS record, and the body is in several records.
    const std::string large = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":")" +
                              std::string(300'000, 'x') + "\"}}";
    const std::string request = raw_post("", large);
    client.send(request.substr(0, request.size() - large.size()));
    client.send(large);
    CHECK(client.receive("\"result\":{}}").rfind("HTTP/1.1 200", 0) == 0);
  }
}

TEST_CASE("tls: many requests in one record are all answered") {
  RunningHttp server(with_tls());
  TlsClient client(server.port);
  std::string many;
  for (int i = 0; i < 50; ++i) many += raw_post("", kPing);
  client.send(many + raw_post("", R"({"jsonrpc":"2.0","id":"last","method":"ping"})"));
  const std::string text = client.receive("\"id\":\"last\",\"jsonrpc\":\"2.0\",\"result\":{}}");
  std::size_t answers = 0;
  for (std::size_t at = text.find("HTTP/1.1 200"); at != std::string::npos;
       at = text.find("HTTP/1.1 200", at + 1))
    ++answers;
  CHECK(answers == 51);
}

TEST_CASE("tls: a stream, and hanging up cancels its call") {
  RunningHttp server(with_tls());
  for (const bool stream : {true, false}) {
    const int cancelled = traces().cancelled;
    TlsClient client(server.port);
    client.send(
        raw_post(stateless_headers("wait"),
                 dump(stateless_call(1, "wait", json::object(),
                                     stream ? json{{"progressToken", 1}} : json::object()))));
    if (stream)
      CHECK(client.receive("notifications/progress").find("text/event-stream") !=
            std::string::npos);
    REQUIRE(traces().waiting.becomes(1));
    // The server does not read the closing message of TLS. But it must notice the end of the stream
    // after this message.
    client.close();
    CHECK(traces().cancelled.becomes(cancelled + 1));
  }
}

TEST_CASE("tls: handshakes that never end hold no thread and are cut off") {
  HttpOptions options = with_tls();
  options.header_timeout_ms = 1000;
  RunningHttp server(options);
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(connect_to(server.port));
    if (i % 2 == 0)
      send_text(silent.back().get(),
                std::string("\x16\x03\x01\x02\x00\x01\x00", 7));  // the start of a ClientHello
  }
  TlsClient client(server.port);
  client.send(raw_post("", kPing));
  CHECK(client.receive("\"result\":{}}").rfind("HTTP/1.1 200", 0) == 0);
  for (const UniqueFd& fd : silent) CHECK(receive(fd.get(), "", 10'000).empty());
}

TEST_CASE("tls: unusable files are refused with a reason") {
  const SelfSigned one, two;
  CHECK(TlsContext::load(one.certificate(), one.key()));
  const auto mismatch = TlsContext::load(one.certificate(), two.key());
  REQUIRE_FALSE(mismatch);
  CHECK(mismatch.error().message.find("does not belong to") != std::string::npos);
  CHECK(TlsContext::load(one.key(), one.key()).error().code == ErrorCode::invalid_argument);
  CHECK(TlsContext::load(one.certificate(), one.certificate()).error().code ==
        ErrorCode::invalid_argument);
  CHECK(TlsContext::load("/no/such.pem", one.key()).error().code == ErrorCode::not_found);
}

TEST_CASE("tls: a reload that fails keeps the certificate") {
  const SelfSigned one, two;
  const auto tls = TlsContext::load(one.certificate(), one.key());
  REQUIRE(tls);
  CHECK((*tls)->reload());
  std::filesystem::copy_file(two.key(), one.key(),
                             std::filesystem::copy_options::overwrite_existing);
  CHECK((*tls)->reload().error().code == ErrorCode::invalid_argument);
  std::filesystem::remove(one.key());
  CHECK((*tls)->reload().error().code == ErrorCode::not_found);
  HttpOptions options;
  options.tls = *tls;
  RunningHttp server(options);
  TlsClient client(server.port);  // the handshake still succeeds
  client.send(raw_post("", kPing));
  CHECK(client.receive("\"result\":{}}").rfind("HTTP/1.1 200", 0) == 0);
}

}  // namespace assay::mcp
