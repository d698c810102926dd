// Implements Streamable HTTP. A request takes these steps:
//
// - The listener (listener.h) accepts and watches the connections.
// - serve() parses the head of each request (http_request.h).
// - answer() answers the requests that need no body.
// - post() reads the body, interprets it (http_endpoint.h) and runs the call.
//
// If the call sends messages while it runs, the answer is an event stream (http_streams.h).
// http_session.h implements the sessions of the legacy, session-based era.
#include "server/mcp/http/http_server.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stop_token>

#include "base/clock.h"
#include "base/log.h"
#include "server/mcp/core/dispatch.h"
#include "server/mcp/core/server.h"
#include "server/mcp/core/share_limiter.h"
#include "server/mcp/http/body_reader.h"
#include "server/mcp/http/connection.h"
#include "server/mcp/http/http_admission.h"
#include "server/mcp/http/http_application.h"
#include "server/mcp/http/http_challenge.h"
#include "server/mcp/http/http_cors.h"
#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_limits.h"
#include "server/mcp/http/http_metrics.h"
#include "server/mcp/http/http_pages.h"
#include "server/mcp/http/http_request.h"
#include "server/mcp/http/http_response.h"
#include "server/mcp/http/http_session.h"
#include "server/mcp/http/http_streams.h"
#include "server/mcp/http/listener.h"
#include "server/mcp/http/socket_io.h"

namespace assay::mcp {
namespace {

constexpr int kPortInUse = 71;
/// The time that a worker waits for the next request on its connection. A short wait costs less
/// than returning the connection to the listener and fetching it again.
constexpr std::chrono::milliseconds kLinger{10};
/// The number of pipelined requests of one connection that a worker answers before it serves other
/// connections. The limit applies only if no other worker is free.
constexpr int kRequestsPerTurn = 4;
constexpr std::int64_t kSweepMs = 10'000;

class HttpServer {
 public:
  HttpServer(mcp::Server& server, const HttpOptions& options)
      : dispatcher_(server.dispatcher()),
        options_(options),
        clock_(dispatcher_.clock()),
        admission_(options_, clock_),
        head_limits_(head_limits(options)),
        calls_({options.max_calls, options.principal_calls}),
        uploads_(options_),
        sessions_(dispatcher_, options.sessions),
        streams_(dispatcher_,
                 [this](const Connection& connection, std::stop_source gone) {
                   listener_.watch_hang_up(connection, std::move(gone));
                 },
                 {options.max_listeners, options.principal_listeners}),
        listener_(
            listener_limits(options),
            [this](int fd) { return options_.tls ? options_.tls->session(fd) : plain_io(fd); },
            [this](Connection& connection) { return serve(connection); },
            options.tls ? "" : closing_reply(busy_reply("too many connections")), clock_) {}

  Status bind() { return listener_.bind(options_.host, options_.port); }
  int port() const { return listener_.port(); }

  void run(const std::stop_token& stop) {
    listener_.run(
        stop, [this] { tick(); },
        [this] {
          stopping_.request_stop();
          dispatcher_.end();
          streams_.end();
        });
  }

 private:
  void take_over_new_limits() {
    const auto newer = newer_limits(options_.live_limits.get(), limits_number_);
    if (!newer) return;
    admission_.set_rate_limit(newer->rate);
    calls_.set_places(newer->calls);
    uploads_.set_places(newer->uploads);
    streams_.set_listeners(newer->listeners);
  }

  /// Takes over new limits, keeps streams alive, and every kSweepMs gives back what has expired.
  void tick() {
    take_over_new_limits();
    streams_.keep_alive();
    if (clock_.monotonic_ns() < next_sweep_ns_) return;
    next_sweep_ns_ = in_ms(kSweepMs);
    sessions_.end_idle();
    dispatcher_.forget_expired();
    admission_.forget_paused();
  }

  /// Returns the time that the clock will show in `ms` milliseconds.
  std::int64_t in_ms(std::int64_t ms) const { return clock_.monotonic_ns() + ms * kNsPerMs; }

  /// Answers the requests that have arrived on a connection. Returns what the listener must do next
  /// with the connection.
  Next serve(Connection& connection) {
    int answered = 0;
    while (true) {
      const ParsedHead head = parse_head(connection.input(), head_limits_);
      if (head.state == ParsedHead::State::refused) {
        metrics_.count_response(head.status);
        observe_refused_head(connection, head);
        connection.write(
            closing_reply(error_reply(head.status, kInvalidRequest, head.reason, true)));
        return Next::drain;
      }
      if (head.state == ParsedHead::State::complete) {
        connection.consume(head.size);
        if (!serve_request(connection, head.request))
          return connection.broken() ? Next::close : Next::drain;
        if (++answered < kRequestsPerTurn || listener_.has_spare_workers()) continue;
        connection.mid_head = false;
        connection.deadline_ns = in_ms(options_.idle_timeout_ms);
        return Next::again;
      }
      // The next request has hardly ever arrived yet. To wait first saves a read that finds
      // nothing.
      if (answered > 0 && connection.input().empty() && listener_.has_spare_workers())
        connection.wait_readable(kLinger);
      const IoState got = connection.fill();
      if (got == IoState::done) continue;
      if (got == IoState::closed) return Next::close;
      if (answered > 0 || (!connection.mid_head && !connection.input().empty())) {
        connection.mid_head = !connection.input().empty();
        connection.deadline_ns =
            in_ms(connection.mid_head ? options_.header_timeout_ms : options_.idle_timeout_ms);
      }  // else: the deadline stays, so that a client cannot extend the deadline byte by byte
      return Next::wait;
    }
  }

  /// A request that is being answered: its head, its client, and the writer of its response.
  struct Exchange {
    const HttpRequest& request;
    const HeaderLookup header;
    const std::int64_t body_deadline_ns;
    ResponseWriter& response;
    std::shared_ptr<const Caller> caller = nullptr;  // null: the server has no tokens
  };

  /// Answers a request whose head has been parsed and removed from the connection's input. Returns
  /// false if the connection cannot be used for another request.
  bool serve_request(Connection& connection, const HttpRequest& request) {
    ResponseWriter response(connection, request,
                            std::chrono::seconds(options_.idle_timeout_ms / 1000), metrics_);
    Exchange exchange{request, request.lookup(), in_ms(options_.body_timeout_ms), response};
    const std::int64_t start_unix_ms = options_.request_ended ? clock_.unix_ms() : 0;
    const std::int64_t start_ns = options_.request_ended ? clock_.monotonic_ns() : 0;
    try {
      answer(exchange);
    } catch (const std::exception& error) {
      log::error("an HTTP handler threw an exception", {{"error", error.what()}});
      response.fail();
    } catch (...) {
      log::error("an HTTP handler threw something that is no std::exception");
      response.fail();
    }
    if (options_.request_ended)
      options_.request_ended({.address = connection.remote().host,
                              .principal = name_of(exchange.caller),
                              .method = request.method,
                              .path = request.path,
                              .status = response.status(),
                              .refusal = refusal_of(response.refusal(), response.status()),
                              .bytes = response.bytes(),
                              .start_unix_ms = start_unix_ms,
                              .duration_ns = clock_.monotonic_ns() - start_ns});
    return connection.flush() && response.connection_usable() && !stopping_.stop_requested();
  }

  /// Observes a request whose head is malformed or too large.
  void observe_refused_head(const Connection& connection, const ParsedHead& head) const {
    if (options_.request_ended)
      options_.request_ended({.address = connection.remote().host,
                              .status = head.status,
                              .refusal = refusal_of(Refusal::none, head.status),
                              .start_unix_ms = clock_.unix_ms()});
  }

  /// Answers a request that needs no body. Passes any other request on to post().
  void answer(Exchange& exchange) {
    const HttpRequest& request = exchange.request;
    const bool has_body = request.has_body();
    const bool get = request.method == "GET" || request.method == "HEAD";
    const bool messages = request.path == "/mcp" || request.path == "/mcp/";
    const auto reply = [&](Reply answer) {
      answer.close = answer.close || has_body;
      exchange.response.reply(answer);
    };
    add_cors_headers(exchange.header, options_, exchange.response);
    if (options_.application && options_.application->owns(request.path))
      return answer_application(exchange);
    auto document = open_document(request, options_);
    using Access = HttpPages::Access;
    const Access page = HttpPages::access(options_.pages, request);
    const bool guarded = messages || request.path == "/metrics" || request.path == "/whoami" ||
                         page == Access::guarded || page == Access::events;
    Admission::Decision decision =
        admission_.decide(exchange.header, exchange.response.connection().remote().host,
                          !document && guarded ? Admission::Path::protocol : Admission::Path::open);
    exchange.caller = std::move(decision.caller);
    if (decision.refusal) return reply(std::move(*decision.refusal));
    if (document) return reply(std::move(*document));
    if (request.path == "/healthz" && get)
      return reply(health_reply(options_.draining && options_.draining()));
    if (request.path == "/metrics" && get && !has_body)
      return reply({.body = metrics_text(), .content_type = MetricsText::kContentType});
    if (request.path == "/whoami" && get && !has_body)
      return reply({.body = describe_token(exchange.caller)});
    if (page == Access::events && request.method == "GET")
      return streams_.send_page_events(*options_.pages, name_of(exchange.caller),
                                       exchange.response);
    if (page == Access::open || page == Access::guarded)
      return reply(options_.pages->reply(request.path, name_of(exchange.caller)));
    if (!messages)
      return reply(
          error_reply(404, kInvalidRequest,
                      "not found; valid: POST /mcp, GET /healthz, GET /metrics, GET /whoami"));
    if (request.method == "POST") return post(exchange);
    if (exchange.header(kHeaderSession) && !has_body) {
      if (request.method == "GET") return resume(exchange);
      if (request.method == "DELETE")
        return reply(sessions_.end(*exchange.header(kHeaderSession), name_of(exchange.caller))
                         ? Reply{.status = 204}
                         : unknown_session());
    }
    Reply refusal = error_reply(405, kInvalidRequest, "use POST");
    refusal.headers.emplace_back("Allow", "POST");
    reply(std::move(refusal));
  }

  /// Returns the body of a request, or the reply that refuses it.
  tl::expected<std::string, Reply> read_body(const Exchange& exchange) {
    const auto framing = check_body_headers(exchange.request, options_);
    if (!framing) return tl::unexpected<Reply>(framing.error());
    // A proxy could see the end of a chunked body at a different position. Therefore the server
    // never parses the bytes after such a body as a request.
    if (framing->chunked) exchange.response.give_up_connection();
    return uploads_.read(exchange.response.connection(), exchange.request, *framing,
                         name_of(exchange.caller), exchange.body_deadline_ns);
  }

  /// Answers a request for a path of the application.
  void answer_application(Exchange& exchange) {
    HttpApplication& application = *options_.application;
    const HttpRequest& request = exchange.request;
    ResponseWriter& response = exchange.response;
    const auto refuse = [&](Reply refusal) {
      refusal.close = refusal.close || request.has_body();
      response.reply(refusal);
    };
    if (auto preflight = preflight_reply(request, options_)) return refuse(std::move(*preflight));
    Admission::Decision decision = admission_.decide(
        exchange.header, response.connection().remote().host, Admission::Path::protocol);
    exchange.caller = std::move(decision.caller);
    if (decision.refusal) return refuse(application.refused(*decision.refusal));
    if (const auto refusal = application.refusal_of_head(request)) return refuse(*refusal);
    auto body = request.has_body() ? read_body(exchange) : tl::expected<std::string, Reply>();
    if (!body) return refuse(application.refused(body.error()));
    const ShareLimiter::Pass place = calls_.enter(name_of(exchange.caller));
    if (!place)
      return refuse(application.refused(busy_reply(place.refusal(), "calls are running")));
    const std::stop_source gone;
    listener_.watch_hang_up(response.connection(), gone);
    const std::stop_callback at_stop(stopping_.get_token(), [&gone] { gone.request_stop(); });
    const ApplicationAnswer answer =
        application.answer({.request = request,
                            .body = std::move(*body),
                            .caller = exchange.caller,
                            .traceparent = exchange.header("traceparent").value_or(""),
                            .gone = gone.get_token()});
    if (answer.stream) return streams_.answer_events(response, answer.stream);
    response.reply(answer.reply);
  }

  void post(Exchange& exchange) {
    ResponseWriter& response = exchange.response;
    auto body = read_body(exchange);
    if (!body) return response.reply(body.error());
    Interpretation meaning = interpret(*body, exchange.header, dispatcher_, options_);
    std::string().swap(*body);  // the call may take long and does not need the text
    if (!meaning.call) return response.reply(meaning.reply);
    TransportContext& transport = meaning.call->transport;
    transport.caller = exchange.caller;
    transport.address = response.connection().remote().host;
    transport.traceparent = exchange.header("traceparent").value_or("");
    run(*meaning.call, exchange);
  }

  void run(Call& call, Exchange& exchange) {
    ResponseWriter& response = exchange.response;
    const bool reaches_tool = call.resolved.reaches_tool();
    const ShareLimiter::Pass place =
        reaches_tool ? calls_.enter(call.transport.principal()) : ShareLimiter::Pass();
    if (reaches_tool && !place)
      return response.reply(busy_reply(place.refusal(), "calls are running"));
    // The scope is checked before an event stream begins, because a stream has the status 200.
    if (auto refusal = refuse_scope(call, options_)) return response.reply(*refusal);
    std::shared_ptr<HttpSession> session;
    if (!call.resolved.stateless) {
      if (const auto refusal = sessions_.enter(call, exchange.header, session))
        return response.reply(*refusal);
    }
    if (call.stream) return streams_.answer_call(call, session, response);
    if (call.resolved.stateless && call.resolved.execution != ExecutionClass::at_once) {
      const std::stop_source gone;
      call.transport.hung_up = gone.get_token();
      listener_.watch_hang_up(response.connection(), gone);
    }
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
    response.reply(reply);
  }

  std::string metrics_text() const {
    MetricsText text;
    metrics_.write(text, dispatcher_.counts());
    text.gauge("assay_http_connections", "Open connections.", listener_.open_connections());
    text.gauge("assay_http_workers_busy", "Requests that are worked on or wait for a thread.",
               listener_.busy_workers());
    text.gauge("assay_calls_running", "Tool calls that run, streams included.", calls_.inside());
    text.gauge("assay_streams_open", "Event streams, of calls and of listeners.", streams_.open());
    text.gauge("assay_listeners_open", "Event streams that belong to no call.",
               streams_.listening());
    text.gauge("assay_sessions_open", "Legacy sessions.", static_cast<double>(sessions_.size()));
    text.gauge("assay_uploads_running", "Bodies that are being received.", uploads_.running());
    text.gauge("assay_upload_bytes", "Bytes of these bodies that have arrived.", uploads_.bytes());
    if (options_.more_metrics) options_.more_metrics(text);
    return text.text();
  }

  /// Answers a GET of /mcp with an event stream.
  void resume(Exchange& exchange) {
    const auto wanted = sessions_.listen(exchange.header, name_of(exchange.caller));
    if (!wanted) return exchange.response.reply(wanted.error());
    streams_.resume(wanted->session, wanted->place, exchange.response);
  }

  Dispatcher& dispatcher_;
  const HttpOptions options_;
  const Clock& clock_;
  Admission admission_;
  const HeadLimits head_limits_;
  HttpMetrics metrics_;
  const std::stop_source stopping_;
  std::int64_t next_sweep_ns_ = 0, limits_number_ = 0;
  ShareLimiter calls_;
  Uploads uploads_;
  HttpSessions sessions_;
  HttpStreams streams_;
  Listener listener_;  // the last member: its workers use all members above
};

}  // namespace

int serve_http(Server& server, const HttpOptions& options, const std::stop_token& stop) {
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
