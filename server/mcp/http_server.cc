// Streamable HTTP over cpp-httplib. The library's known weaknesses (0.11.4) are closed here: a chunked body may be endless, any number of headers
// is accepted, SO_REUSEPORT lets two servers share a port, the backlog is 5, an exception's text goes to the client, and bodies of
// "application/json" are compressed at the slowest setting.
// CPPHTTPLIB_OPENSSL_SUPPORT comes from CMake: as in http_client.cc: the library's classes differ without it
#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "server/mcp/dispatch.h"
#include "server/mcp/http_endpoint.h"
#include "server/mcp/http_peer.h"
#include "server/mcp/server.h"
#include "server/mcp/worker_pool.h"

namespace assay::mcp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPortInUse = 71;
constexpr int kBacklog = 1024;
constexpr std::size_t kMaxWaitingConnections = 4096;
constexpr std::size_t kMaxHeaderBytes = 32 << 10;
constexpr std::int64_t kDrainBytes = 16LL << 20;  // of an oversize body, so that the client reads our answer before the connection resets
constexpr std::chrono::seconds kMaxBodyTime{120};
constexpr std::chrono::seconds kKeepAliveComment{10};
constexpr time_t kIdleConnectionSeconds = 30;
constexpr time_t kWriteTimeoutSeconds = 10;
constexpr std::size_t kRequestsPerConnection = 1'000'000;
constexpr std::chrono::milliseconds kStopPoll{50};
// The parameter keeps the library from recognising a type that it would compress.
constexpr const char* kJsonType = "application/json; charset=utf-8";

/// One thread per open connection, started when needed. Newer versions of the library want a bool from enqueue.
class ConnectionThreads final : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(int threads) : pool_(std::make_unique<WorkerPool>(static_cast<std::size_t>(threads), kMaxWaitingConnections)) {}
  using EnqueueResult = decltype(std::declval<httplib::TaskQueue&>().enqueue(std::function<void()>()));
  EnqueueResult enqueue(std::function<void()> work) override { return static_cast<EnqueueResult>(pool_->submit(std::move(work))); }
  void shutdown() override { pool_.reset(); }

 private:
  std::unique_ptr<WorkerPool> pool_;
};

HeaderLookup lookup(const httplib::Request& request) {
  return [&request](const char* name) -> std::optional<std::string> {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? std::nullopt : std::optional(found->second);
  };
}

void write_reply(httplib::Response& response, const Reply& reply) {
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  if (!reply.close) {
    if (!reply.body.empty()) response.set_content(reply.body, kJsonType);
    return;
  }
  // A provider that fails after its last byte makes the library close the connection: there is no other way to ask for that.
  response.set_header("Connection", "close");
  response.set_content_provider(reply.body.size(), kJsonType, [body = reply.body](std::size_t, std::size_t, httplib::DataSink& sink) {
    sink.write(body.data(), body.size());
    return false;
  });
}

/// Server-sent events of one request. A handler may report progress from several threads.
class EventStream {
 public:
  explicit EventStream(httplib::DataSink& sink) : sink_(sink) {}

  void send(const nlohmann::json& message) { write("data: " + dump(message) + "\n\n"); }

  /// Also keeps a silent stream alive: handlers ask this while they wait.
  bool closed() {
    if (Clock::now() - last_write_.load() > kKeepAliveComment) write(": waiting\n\n");
    const std::lock_guard lock(mutex_);
    return !sink_.is_writable();
  }

 private:
  void write(const std::string& text) {
    const std::lock_guard lock(mutex_);
    sink_.write(text.data(), text.size());
    last_write_ = Clock::now();
  }

  httplib::DataSink& sink_;
  std::mutex mutex_;
  std::atomic<Clock::time_point> last_write_{Clock::now()};
};

class HttpServer {
 public:
  HttpServer(Server& server, const HttpOptions& options) : dispatcher_(server.dispatcher()), options_(options) { configure(); }

  /// The bound port, or -1 with errno as the library left it.
  int bind() {
    errno = 0;
    const int port = options_.port == 0 ? http_.bind_to_any_port(options_.host) : (http_.bind_to_port(options_.host, options_.port) ? options_.port : -1);
    if (port > 0) ::listen(listening_fd_, kBacklog);  // again, with a backlog that survives a burst of clients
    return port;
  }

  void run(int port, const std::function<bool()>& stop) {
    std::atomic<bool> over{false};
    std::thread watcher([&] {
      while (!over && !(stop && http_.is_running() && stop())) std::this_thread::sleep_for(kStopPoll);
      if (over) return;
      stopping_ = true;
      http_.stop();
      while (!over) {
        dispatcher_.cancel_all();
        stop_reading(port);
        std::this_thread::sleep_for(kStopPoll);
      }
    });
    http_.listen_after_bind();
    over = true;
    watcher.join();
  }

 private:
  void configure() {
    http_.new_task_queue = [this] { return new ConnectionThreads(options_.threads); };
    http_.set_socket_options([this](int fd) {
      const int yes = 1;
      ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
      listening_fd_ = fd;
    });
    http_.set_tcp_nodelay(true);
    http_.set_keep_alive_max_count(kRequestsPerConnection);
    http_.set_keep_alive_timeout(kIdleConnectionSeconds);
    http_.set_read_timeout(static_cast<time_t>(options_.read_timeout_ms / 1000), static_cast<time_t>(options_.read_timeout_ms % 1000 * 1000));
    http_.set_write_timeout(kWriteTimeoutSeconds);
    http_.set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr exception) {
      try {
        std::rethrow_exception(exception);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "mcp: http handler threw: %s\n", error.what());
      } catch (...) {
        std::fprintf(stderr, "mcp: http handler threw something that is no std::exception\n");
      }
      write_reply(response, error_reply(500, kInternalError, "internal error; the server's log has the details", true));
    });
    http_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) { return before_body(request, response); });
    http_.Post("/mcp",
               [this](const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& reader) { post(request, response, reader); });
  }

  /// Everything that can be decided without the body. Handled means answered.
  httplib::Server::HandlerResponse before_body(const httplib::Request& request, httplib::Response& response) const {
    using enum httplib::Server::HandlerResponse;
    const HeaderLookup header = lookup(request);
    const auto count = [&request](const char* name) { return request.headers.count(name); };
    const bool has_body = count("Content-Length") + count("Transfer-Encoding") > 0;
    const auto answer = [&](Reply reply) {
      reply.close = reply.close || has_body;
      write_reply(response, reply);
      return Handled;
    };
    std::size_t bytes = 0;
    for (const auto& [name, value] : request.headers) bytes += name.size() + value.size();
    if (request.headers.size() > static_cast<std::size_t>(options_.max_headers) + kLibraryHeaders || bytes > kMaxHeaderBytes) {
      return answer(error_reply(431, kInvalidRequest,
                                "too many headers: the limit is " + std::to_string(options_.max_headers) + " and " + std::to_string(kMaxHeaderBytes) + " bytes",
                                true));
    }
    if (auto refusal = refuse_client(header, options_)) return answer(std::move(*refusal));
    if (request.path == "/healthz" && request.method == "GET") return answer({200, R"({"status":"ok"})", {}, false});
    if (request.path != "/mcp") return answer(error_reply(404, kInvalidRequest, "not found; valid: POST /mcp, GET /healthz"));
    if (request.method != "POST") {
      Reply reply = error_reply(405, kInvalidRequest, "use POST");
      reply.headers.emplace_back("Allow", "POST");
      return answer(std::move(reply));
    }
    if (request.has_header("Range")) return answer(error_reply(400, kInvalidRequest, "Range does not apply here"));
    if (auto refusal = refuse_headers(header, count, options_)) return answer(std::move(*refusal));
    return Unhandled;
  }

  void post(const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& reader) {
    std::string body;
    std::int64_t size = 0;
    const auto deadline = Clock::now() + kMaxBodyTime;
    const bool complete = reader([&](const char* data, std::size_t length) {
      size += static_cast<std::int64_t>(length);
      if (size <= options_.max_body_bytes) body.append(data, length);
      return size <= options_.max_body_bytes + kDrainBytes && Clock::now() < deadline;
    });
    if (size > options_.max_body_bytes) {
      return write_reply(response,
                         error_reply(413, kInvalidRequest, "the body is larger than the limit of " + std::to_string(options_.max_body_bytes) + " bytes", true));
    }
    if (!complete) return write_reply(response, error_reply(400, kInvalidRequest, "the body ended early or came too slowly", true));

    Interpretation meaning = interpret(body, lookup(request), dispatcher_, options_);
    if (!meaning.call) return write_reply(response, meaning.reply);
    if (meaning.call->stream) return stream(std::move(*meaning.call), response);
    Call& call = *meaning.call;
    HangUp hung_up(request.remote_addr, request.remote_port, request.local_port);
    call.exchange.hung_up = [this, &hung_up] { return stopping_.load() || hung_up(); };
    write_reply(response, reply_to(call.message, dispatcher_.handle(call.message, call.exchange)));
  }

  void stream(Call call, httplib::Response& response) {
    if (streams_.fetch_add(1) >= options_.threads * 3 / 4) {  // the rest of the threads stay free for short requests
      --streams_;
      Reply reply = error_reply(503, kInternalError, "too many open streams; retry when some have ended");
      reply.headers.emplace_back("Retry-After", "1");
      return write_reply(response, reply);
    }
    response.set_header("X-Accel-Buffering", "no");
    response.set_header("Cache-Control", "no-cache");
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, shared = std::make_shared<Call>(std::move(call))](std::size_t, httplib::DataSink& sink) {
          EventStream events(sink);
          Exchange exchange = shared->exchange;
          exchange.notify = [&events](const nlohmann::json& notification) { events.send(notification); };
          exchange.hung_up = [this, &events] { return stopping_.load() || events.closed(); };
          const Outcome outcome = dispatcher_.handle(shared->message, exchange);
          if (outcome.response && !outcome.cancelled) events.send(*outcome.response);
          sink.done();
          return true;
        },
        [this](bool) { --streams_; });
  }

  // The library adds these to each request: REMOTE_ADDR, REMOTE_PORT, LOCAL_ADDR, LOCAL_PORT.
  static constexpr std::size_t kLibraryHeaders = 4;

  Dispatcher& dispatcher_;
  const HttpOptions options_;
  httplib::Server http_;
  int listening_fd_ = -1;
  std::atomic<bool> stopping_{false};
  std::atomic<int> streams_{0};
};

}  // namespace

int serve_http(Server& server, const HttpOptions& options, const std::function<bool()>& stop) {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  HttpServer http(server, options);
  const int port = http.bind();
  if (port <= 0) {
    const int error_number = errno;
    std::fprintf(stderr, "assay: cannot listen on %s:%d: %s; choose another HOST:PORT, or port 0 for any free one\n", options.host.c_str(), options.port,
                 error_number == 0 ? "the address cannot be bound" : std::strerror(error_number));
    return kPortInUse;
  }
  if (options.listening) options.listening(port);
  http.run(port, stop);
  return 0;
}

}  // namespace assay::mcp
