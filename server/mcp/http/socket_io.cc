#include "server/mcp/http/socket_io.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/mutex.h"
#include "base/unique_fd.h"

namespace assay::mcp {
namespace {

class PlainIo final : public SocketIo {
 public:
  explicit PlainIo(int fd) : fd_(fd) {}

  IoResult read(char* buffer, std::size_t size) override {
    const ssize_t got = ::recv(fd_, buffer, size, MSG_DONTWAIT);
    if (got > 0) return {IoState::done, static_cast<std::size_t>(got)};
    return {got < 0 && try_again() ? IoState::want_read : IoState::closed, 0};
  }

  bool pending() const override { return false; }

  IoResult write(const char* data, std::size_t size) override {
    const ssize_t put = ::send(fd_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put > 0) return {IoState::done, static_cast<std::size_t>(put)};
    return {put < 0 && try_again() ? IoState::want_write : IoState::closed, 0};
  }

 private:
  static bool try_again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }
  const int fd_;
};

/// The cipher suites of TLS 1.2 that have both forward secrecy (ECDHE) and authenticated encryption
/// (AEAD). All suites of TLS 1.3 have both.
constexpr const char* kTls12Ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

struct FreeContext {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL* session) const { ::SSL_free(session); }
};

/// Returns the text of OpenSSL's last error, and clears its error queue.
std::string complaint() {
  const unsigned long code = ::ERR_peek_last_error();
  ::ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ::ERR_reason_error_string(code);
  return reason == nullptr ? "unknown error" : reason;
}

/// Selects HTTP/1.1 in the TLS handshake (ALPN). If the client does not offer HTTP/1.1, the
/// handshake fails, because that client could not parse the responses.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr std::array<unsigned char, 9> kHttp11 = {8,   'h', 't', 't', 'p',
                                                           '/', '1', '.', '1'};
  unsigned char* chosen = nullptr;
  if (::SSL_select_next_proto(&chosen, out_size, kHttp11.data(), kHttp11.size(), offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

class TlsSession final : public SocketIo {
 public:
  explicit TlsSession(std::unique_ptr<SSL, FreeSession> session) : session_(std::move(session)) {}

  IoResult read(char* buffer, std::size_t size) override {
    ::ERR_clear_error();
    const int got =
        ::SSL_read(session_.get(), buffer, static_cast<int>(std::min<std::size_t>(size, INT_MAX)));
    return result(got);
  }
  bool pending() const override { return ::SSL_pending(session_.get()) > 0; }
  IoResult write(const char* data, std::size_t size) override {
    ::ERR_clear_error();
    const int put =
        ::SSL_write(session_.get(), data, static_cast<int>(std::min<std::size_t>(size, INT_MAX)));
    return result(put);
  }
  void finish_writing() override {
    ::ERR_clear_error();
    if (!failed_ && ::SSL_is_init_finished(session_.get()) != 0) ::SSL_shutdown(session_.get());
    ::ERR_clear_error();
  }

 private:
  IoResult result(int moved) {
    if (moved > 0) return {IoState::done, static_cast<std::size_t>(moved)};
    switch (::SSL_get_error(session_.get(), moved)) {
      case SSL_ERROR_WANT_READ: return {IoState::want_read, 0};
      case SSL_ERROR_WANT_WRITE: return {IoState::want_write, 0};
      case SSL_ERROR_ZERO_RETURN: return {IoState::closed, 0};
      default: break;
    }
    failed_ = true;  // OpenSSL forbids SSL_shutdown after this
    ::ERR_clear_error();
    return {IoState::closed, 0};
  }

  const std::unique_ptr<SSL, FreeSession> session_;
  bool failed_ = false;
};

using OwnedContext = std::unique_ptr<SSL_CTX, FreeContext>;

Status readable(const std::string& what, const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd) return {};
  return fail(ErrorCode::not_found,
              "the " + what + " " + path + " cannot be read: " + std::strerror(errno));
}

Result<OwnedContext> load_context(const std::string& certificate, const std::string& key) {
  if (const Status fine = readable("certificate", certificate); !fine) return fail(fine.error());
  if (const Status fine = readable("key", key); !fine) return fail(fine.error());
  ::ERR_clear_error();
  OwnedContext context(::SSL_CTX_new(::TLS_server_method()));
  if (!context || ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
    return fail(ErrorCode::internal, "OpenSSL: " + complaint());
  if (::SSL_CTX_set_cipher_list(context.get(), kTls12Ciphers) != 1)
    return fail(ErrorCode::internal, "OpenSSL: " + complaint());
  // SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER is needed because a repeated write may pass its data at a
  // different address: the output buffer can be reallocated between the two writes.
  ::SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE);
  ::SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  // This callback makes loading an encrypted key fail. Without the callback, OpenSSL would ask for
  // the key's password on the terminal.
  ::SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return -1; });
  if (::SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1) {
    return fail(ErrorCode::invalid_argument,
                "the certificate " + certificate + " cannot be used: " + complaint() +
                    "; it must be PEM, the server's own certificate first");
  }
  if (::SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1) {
    const std::string reason = complaint();
    const bool mismatch = reason.find("mismatch") != std::string::npos;
    return fail(ErrorCode::invalid_argument,
                mismatch ? "the key " + key + " does not belong to the certificate " + certificate
                         : "the key " + key + " cannot be used: " + reason +
                               "; it must be PEM and not encrypted");
  }
  if (::SSL_CTX_check_private_key(context.get()) != 1) {
    return fail(ErrorCode::invalid_argument, "the key " + key +
                                                 " does not belong to the certificate " +
                                                 certificate + ": " + complaint());
  }
  return context;
}

class OpenSslContext final : public TlsContext {
 public:
  OpenSslContext(std::string certificate, std::string key, OwnedContext context)
      : certificate_(std::move(certificate)), key_(std::move(key)), context_(std::move(context)) {}

  std::unique_ptr<SocketIo> session(int fd) const override {
    std::unique_ptr<SSL, FreeSession> session(new_session());
    if (!session || ::SSL_set_fd(session.get(), fd) != 1) {
      ::ERR_clear_error();
      return nullptr;
    }
    ::SSL_set_accept_state(session.get());
    return std::make_unique<TlsSession>(std::move(session));
  }

  Status reload() override {
    ASSAY_TRY(context, load_context(certificate_, key_));
    // The old context lives on until its last connection ends, because a connection has a reference
    // to its context.
    const MutexLock lock(mutex_);
    context_ = std::move(context);
    return {};
  }

 private:
  SSL* new_session() const {
    const MutexLock lock(mutex_);
    return ::SSL_new(context_.get());
  }

  const std::string certificate_, key_;
  mutable Mutex mutex_;
  OwnedContext context_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<SocketIo> plain_io(int fd) { return std::make_unique<PlainIo>(fd); }

Result<std::shared_ptr<TlsContext>> TlsContext::load(const std::string& certificate,
                                                     const std::string& key) {
  ASSAY_TRY(context, load_context(certificate, key));
  return std::make_shared<OpenSslContext>(certificate, key, std::move(context));
}

}  // namespace assay::mcp
