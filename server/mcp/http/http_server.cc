// Streamable HTTP. The listener (listener.h) accepts and watches connections, the guard
// (http_head.h) refuses what two parsers could read differently, and cpp-httplib reads and writes
// one request at a time. What the library (0.11.4) lacks is closed here or in front of it: a
// chunked body may be endless, an exception's text goes to the client, bodies of "application/json"
// are compressed at the slowest setting, and a thread is held by every open connection. Streams are
// http_streams.h, legacy sessions http_session.h.
#include "server/mcp/http/http_server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>

#include "base/concurrency_limiter.h"
#include "base/log.h"
#include "server/mcp/core/dispatch.h"
#include "server/mcp/core/server.h"
#include "server/mcp/http/connection.h"
#include "server/mcp/http/http_admission.h"
#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_head.h"
#include "server/mcp/http/http_library.h"
#include "server/mcp/http/http_metrics.h"
#include "server/mcp/http/http_session.h"
#include "server/mcp/http/http_streams.h"
#include "server/mcp/http/listener.h"
#include "server/mcp/http/tls.h"

namespace assay::mcp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPortInUse = 71;
/// A worker stays with its connection for so long, since handing it back and getting it again costs
/// more than the next request.
constexpr std::chrono::milliseconds kLinger{10};
/// Where workers are scarce, a client that sends requests without waiting for answers gets so many
/// answered before the others have their turn.
constexpr int kRequestsPerTurn = 4;

class HttpServer final : private httplib::Server {
 public:
  HttpServer(mcp::Server& server, const HttpOptions& options)
      : dispatcher_(server.dispatcher()),
        options_(options),
        admission_(options_),
        head_limits_{static_cast<std::size_t>(options.max_header_bytes),
                     static_cast<std::size_t>(options.max_headers)},
        calls_(options.max_calls),
        uploads_(options.max_uploads),
        sessions_(dispatcher_, options.sessions),
        streams_(dispatcher_, stopping_, options.max_streams),
        listener_(
            listener_limits(options),
            [this](int fd) { return options_.tls ? options_.tls->session(fd) : plain_io(fd); },
            [this](Connection& connection) { return serve(connection); },
            options.tls ? "" : raw_reply(busy_reply("too many connections"))) {
    configure();
  }

  Status bind() { return listener_.bind(options_.host, options_.port); }
  int port() const { return listener_.port(); }

  void run(const std::function<bool()>& stop) {
    listener_.run([&stop] { return stop && stop(); },
                  [this] {
                    stopping_ = true;
                    dispatcher_.end();
                  });
  }

 private:
  static ListenerLimits listener_limits(const HttpOptions& options) {
    ListenerLimits limits;
    limits.threads = options.threads;
    limits.max_connections = options.max_connections;
    limits.backlog = options.backlog;
    limits.first_request_timeout = std::chrono::milliseconds(options.header_timeout_ms);
    limits.write_timeout = std::chrono::milliseconds(options.write_timeout_ms);
    return limits;
  }

  void configure() {
    svr_sock_ = 0;  // the library never binds; this says that it is not shutting down
    set_keep_alive_timeout(static_cast<time_t>(options_.idle_timeout_ms / 1000));
    set_exception_handler([](const httplib::Request&, httplib::Response& response,
                             std::exception_ptr exception) {
      try {
        std::rethrow_exception(exception);
      } catch (const std::exception& error) {
        log::error("an HTTP handler threw an exception", {{"error", error.what()}});
      } catch (...) {
        log::error("an HTTP handler threw something that is no std::exception");
      }
      write_reply(response, error_reply(500, kInternalError,
                                        "internal error; the server's log has the details", true));
    });
    set_logger([this](const httplib::Request&, const httplib::Response& response) {
      metrics_.count_response(response.status);
    });
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return before_body(request, response);
    });
    Post("/mcp", [this](const httplib::Request& request, httplib::Response& response,
                        const httplib::ContentReader& reader) { post(request, response, reader); });
    Get("/mcp", [this](const httplib::Request& request, httplib::Response& response) {
      resume(request, response);
    });
    Delete("/mcp", [this](const httplib::Request& request, httplib::Response& response) {
      const bool ended =
          sessions_.end(lookup(request)(kHeaderSession).value_or(""), name_of(caller_));
      write_reply(response, ended ? Reply{204, "", {}, false} : unknown_session());
    });
  }

  /// A connection's turn: answers the requests that have arrived, then says whether to wait for
  /// more.
  Next serve(Connection& connection) {
    int answered = 0;
    while (true) {
      const HeadCheck head = check_head(connection.input(), head_limits_);
      if (head.state == HeadCheck::State::refused) {
        metrics_.count_response(head.status);
        connection.write(raw_reply(error_reply(head.status, kInvalidRequest, head.reason, true)));
        return Next::drain;
      }
      if (head.state == HeadCheck::State::complete) {
        if (!serve_request(connection)) return connection.broken() ? Next::close : Next::drain;
        if (++answered < kRequestsPerTurn || listener_.has_spare_workers()) continue;
        connection.mid_head = false;
        connection.deadline = Clock::now() + std::chrono::milliseconds(options_.idle_timeout_ms);
        return Next::again;
      }
      const IoState got = connection.fill();
      if (got == IoState::done) continue;
      if (got == IoState::closed) return Next::close;
      if (answered > 0 && connection.input().empty() && listener_.has_spare_workers() &&
          connection.wait_readable(kLinger))
        continue;
      if (answered > 0 || (!connection.mid_head && !connection.input().empty())) {
        connection.mid_head = !connection.input().empty();
        connection.deadline = Clock::now() + std::chrono::milliseconds(
                                                 connection.mid_head ? options_.header_timeout_ms
                                                                     : options_.idle_timeout_ms);
      }  // else the deadline stands: a client gets no more time by sending one more byte
      return Next::wait;
    }
  }

  using Setup = const std::function<void(httplib::Request&)>&;
  using Process = bool (httplib::Server::*)(httplib::Stream&, bool, bool&, Setup);
  template <class... More>
  using NewerProcess = bool (httplib::Server::*)(httplib::Stream&, const std::string&, int,
                                                 const std::string&, int, bool, bool&, Setup,
                                                 More...);

  /// The library's way to handle one request of a stream, up to version 0.16.
  bool process(Process method, RequestStream& stream, bool& closed) {
    return (this->*method)(stream, stopping_, closed, nullptr);
  }
  /// The same since then. A web socket is never asked for.
  template <class... More>
  bool process(NewerProcess<More...> method, RequestStream& stream, bool& closed) {
    const Connection& connection = *current_;
    return (this->*method)(stream, connection.remote().host, connection.remote().port,
                           connection.local().host, connection.local().port, stopping_, closed,
                           nullptr, More{}...);
  }

  /// False when the connection cannot be used again.
  bool serve_request(Connection& connection) {
    RequestStream stream(
        connection, Clock::now() + std::chrono::milliseconds(options_.body_timeout_ms),
        static_cast<std::size_t>(options_.max_header_bytes + options_.max_body_bytes * 5 / 4));
    bool closed = false;
    current_ = &connection;
    routed_ = false;
    const bool complete = process(&HttpServer::process_request, stream, closed);
    current_ = nullptr;
    caller_ = nullptr;
    return connection.flush() && complete && routed_ && !closed && !connection.close_after &&
           !stopping_;
  }

  /// Everything that can be decided without the body. Handled means answered.
  httplib::Server::HandlerResponse before_body(const httplib::Request& request,
                                               httplib::Response& response) {
    using enum httplib::Server::HandlerResponse;
    routed_ = true;
    const HeaderLookup header = lookup(request);
    const auto count = [&request](const char* name) { return request.headers.count(name); };
    const bool has_body = count("Content-Length") + count("Transfer-Encoding") > 0;
    const auto answer = [&](Reply reply) {
      reply.close = reply.close || has_body;
      write_reply(response, reply);
      return Handled;
    };
    Admission::Decision decision = admission_.decide(
        header, request.remote_addr,
        request.path == "/healthz" ? Admission::Path::open : Admission::Path::protocol);
    if (decision.refusal) return answer(std::move(*decision.refusal));
    caller_ = std::move(decision.caller);
    if (request.path == "/healthz" && request.method == "GET")
      return answer({200, R"({"status":"ok"})", {}, false});
    if (request.path == "/metrics" && request.method == "GET" && !has_body) {
      response.set_content(metrics_text(), MetricsText::kContentType);
      return Handled;
    }
    if (request.path != "/mcp")
      return answer(error_reply(404, kInvalidRequest,
                                "not found; valid: POST /mcp, GET /healthz, GET /metrics"));
    const bool of_session = (request.method == "GET" || request.method == "DELETE") &&
                            header(kHeaderSession) && !has_body;
    if (of_session) return Unhandled;
    if (request.method != "POST") {
      Reply reply = error_reply(405, kInvalidRequest, "use POST");
      reply.headers.emplace_back("Allow", "POST");
      return answer(std::move(reply));
    }
    if (auto refusal = refuse_headers(header, count, options_)) return answer(std::move(*refusal));
    return Unhandled;
  }

  /// The body, or in `refusal` why it was not read.
  std::string read_body(const httplib::Request& request, const httplib::ContentReader& reader,
                        std::optional<Reply>& refusal) {
    Connection& connection = *current_;
    const bool chunked = request.has_header("Transfer-Encoding");
    // The library's idea of where a chunked body ends is too generous for another request to
    // follow.
    connection.close_after = connection.close_after || chunked;
    const bool arrived = !chunked && connection.input().size() >=
                                         std::stoull(request.get_header_value("Content-Length"));
    const ConcurrencyLimiter::Pass upload =
        arrived ? ConcurrencyLimiter::Pass()
                : uploads_.enter();  // given back before the call begins
    std::string body;
    if (!arrived && !upload) {
      refusal = busy_reply("too many requests are being received");
      return body;
    }
    std::int64_t size = 0;
    const bool complete = reader([&](const char* data, std::size_t length) {
      size += static_cast<std::int64_t>(length);
      if (size <= options_.max_body_bytes) body.append(data, length);
      return size <= options_.max_body_bytes;
    });
    if (size > options_.max_body_bytes)
      refusal = error_reply(413, kInvalidRequest,
                            "the body is larger than the limit of " +
                                std::to_string(options_.max_body_bytes) + " bytes",
                            true);
    else if (!complete)
      refusal = error_reply(400, kInvalidRequest, "the body ended early or came too slowly", true);
    return body;
  }

  void post(const httplib::Request& request, httplib::Response& response,
            const httplib::ContentReader& reader) {
    Connection& connection = *current_;
    std::optional<Reply> refusal;
    const std::string body = read_body(request, reader, refusal);
    if (refusal) return write_reply(response, *refusal);
    const HeaderLookup header = lookup(request);
    Interpretation meaning = interpret(body, header, dispatcher_, options_);
    if (!meaning.call) return write_reply(response, meaning.reply);
    Call& call = *meaning.call;
    call.transport.caller = std::move(caller_);
    const bool reaches_tool = call.resolved.reaches_tool();
    auto place = std::make_shared<ConcurrencyLimiter::Pass>(
        reaches_tool ? calls_.enter() : ConcurrencyLimiter::Pass());
    if (reaches_tool && !*place)
      return write_reply(response, busy_reply("too many calls are running"));
    std::shared_ptr<HttpSession> session;
    if (!call.resolved.stateless) {
      refusal = sessions_.enter(call, header, session);
      if (refusal) return write_reply(response, *refusal);
    }
    if (call.stream)
      return streams_.answer_call(std::move(call), std::move(session), std::move(place), connection,
                                  response);
    call.transport.hung_up = [this, &connection] {
      return stopping_.load() || connection.hung_up();
    };
    std::optional<HttpSession::Use> use;
    if (session) use.emplace(session);
    const Outcome outcome = dispatcher_.handle(call.resolved, call.transport);
    Reply reply = reply_to(outcome);
    if (session && outcome.response && call.resolved.message.method == "initialize") {
      if (outcome.response->contains("result"))
        reply.headers.emplace_back(kHeaderSession, session->client.id());
      else
        sessions_.end(session->client.id(), session->principal);
    }
    write_reply(response, reply);
  }

  std::string metrics_text() const {
    MetricsText text;
    metrics_.write(text, dispatcher_.counts());
    text.gauge("assay_http_connections", "Open connections.", listener_.open_connections());
    text.gauge("assay_http_workers_busy", "Requests that are worked on or wait for a thread.",
               listener_.busy_workers());
    text.gauge("assay_calls_running", "Tool calls that run, streams included.", calls_.inside());
    text.gauge("assay_streams_open", "Event streams.", streams_.open());
    text.gauge("assay_sessions_open", "Legacy sessions.", static_cast<double>(sessions_.size()));
    text.gauge("assay_uploads_running", "Bodies that are being received.", uploads_.inside());
    if (options_.more_metrics) options_.more_metrics(text);
    return text.text();
  }

  /// GET: what belongs to no request, or with Last-Event-ID the rest of a stream that broke.
  void resume(const httplib::Request& request, httplib::Response& response) {
    const HeaderLookup header = lookup(request);
    auto session = sessions_.find(header(kHeaderSession).value_or(""), name_of(caller_));
    if (!session) return write_reply(response, unknown_session());
    if (!accepts(header("Accept").value_or(""), "text/event-stream"))
      return write_reply(response, error_reply(406, kInvalidRequest, "accept text/event-stream"));
    EventLog::Place place{0, session->standalone_delivered};
    if (const auto last = header("Last-Event-ID")) {
      const auto found = session->log.find(*last);
      if (!found)
        return write_reply(response, error_reply(400, kInvalidRequest,
                                                 "Last-Event-ID is no event of this session"));
      place = *found;
    }
    streams_.resume(std::move(session), place, *current_, response);
  }

  /// Whose request this thread handles: the library passes nothing on from one handler to the next.
  static inline thread_local Connection* current_ = nullptr;
  static inline thread_local std::shared_ptr<const Caller> caller_ = nullptr;
  static inline thread_local bool routed_ =
      false;  // else the library refused the request by itself, and may not have read all of it

  Dispatcher& dispatcher_;
  const HttpOptions options_;
  Admission admission_;
  const HeadLimits head_limits_;
  HttpMetrics metrics_;
  std::atomic<bool> stopping_{false};
  ConcurrencyLimiter calls_, uploads_;
  HttpSessions sessions_;
  HttpStreams streams_;
  Listener listener_;  // last: its workers use all of the above
};

}  // namespace

int serve_http(Server& server, const HttpOptions& options, const std::function<bool()>& stop) {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  HttpServer http(server, options);
  if (const Status bound = http.bind(); !bound) {
    std::fprintf(
        stderr,
        "assay: cannot listen on %s:%d: %s; choose another HOST:PORT, or port 0 for any free one\n",
        options.host.c_str(), options.port, bound.error().message.c_str());
    return kPortInUse;
  }
  if (options.listening) options.listening(http.port());
  http.run(stop);
  return 0;
}

}  // namespace assay::mcp
