// Defines helpers for the MCP tests: a server with a few tools, one for each way in which a call
// can end, and a running HTTP server.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <future>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "server/mcp/core/dispatch.h"
#include "server/mcp/core/server.h"
#include "server/mcp/http/http_server.h"
#include "tests/catch.h"

namespace assay::mcp::test {

using nlohmann::json;

/// The maximum time that a test waits for an event before it fails.
constexpr std::chrono::seconds kEventTimeout{60};

/// A number that a test can wait for. Thread-safe.
class Counter {
 public:
  /// Notifies with the mutex held, so that a test that saw the change may destroy the counter.
  void add(int change) {
    const MutexLock lock(mutex_);
    value_ += change;
    changed_.notify_all();
  }
  operator int() const {
    const MutexLock lock(mutex_);
    return value_;
  }
  /// Waits until the number is `value`. Returns false when kEventTimeout passes first.
  bool becomes(int value) const {
    MutexLock lock(mutex_);
    return changed_.wait_for(lock, kEventTimeout,
                             [&]() ASSAY_REQUIRES(mutex_) { return value_ == value; });
  }

 private:
  mutable Mutex mutex_;
  mutable Condition changed_;
  int value_ ASSAY_GUARDED_BY(mutex_) = 0;
};

/// The counters of the tool `wait`: its running calls, and its calls that ended by cancellation.
struct Traces {
  Counter waiting, cancelled;
};
inline Traces& traces() {
  static Traces value;
  return value;
}

inline json object_schema(json properties, json required = json::array()) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

/// Handles a call of the tool `wait`. It waits until the call is cancelled or `ms` milliseconds
/// have passed, and reports progress every 10 ms.
inline ToolResult wait_tool(const json& arguments, RequestContext& context) {
  const Clock& clock = system_clock();
  const std::int64_t until_ns = clock.monotonic_ns() + arguments.value("ms", 10'000) * kNsPerMs;
  traces().waiting.add(1);
  int step = 0;
  while (!context.cancelled() && clock.monotonic_ns() < until_ns) {
    context.progress(++step, 0, "waiting");
    clock.pause(std::chrono::milliseconds(10), context.stop);
  }
  traces().waiting.add(-1);
  if (context.cancelled()) traces().cancelled.add(1);
  return {false, context.cancelled() ? "cancelled" : "waited", nullptr};
}

inline std::unique_ptr<Server> make_server() {
  auto server = std::make_unique<Server>(ServerInfo{"wire", "Wire", "1.2.3", "Say hello."});
  const json add_input =
      object_schema({{"a", {{"type", "integer"}, {"minimum", 0}}},
                     {"b", {{"type", "integer"}}},
                     {"mode", {{"type", "string"}, {"enum", {"plain", "loud"}}}}},
                    {"a", "b"});
  const json add_output = object_schema({{"sum", {{"type", "integer"}}}}, {"sum"});
  const auto add = [&](Tool tool) { REQUIRE(server->add_tool(std::move(tool)).has_value()); };
  add({"add",
       "Add",
       "Adds two integers.",
       add_input,
       add_output,
       {{"readOnlyHint", true}},
       [](const json& arguments, RequestContext&) {
         const auto sum = arguments["a"].get<std::int64_t>() + arguments["b"].get<std::int64_t>();
         return ToolResult{false, "sum " + std::to_string(sum), {{"sum", sum}}};
       }});
  add({"refuse", "", "Always fails.", object_schema(json::object()), add_output, nullptr,
       [](const json&, RequestContext&) {
         return ToolResult{
             true, "no such operator; valid: vector_add", {{"error_kind", "not_found"}}};
       }});
  add({"throw", "", "Throws.", object_schema(json::object()), nullptr, nullptr,
       [](const json&, RequestContext&) -> ToolResult {
         throw std::runtime_error("secret detail");
       }});
  add({"lie", "", "Breaks its output schema.", object_schema(json::object()), add_output, nullptr,
       [](const json&, RequestContext&) {
         return ToolResult{false, "sum?", {{"sum", "three"}}};
       }});
  add({"wait", "", "Waits.", object_schema({{"ms", {{"type", "integer"}}}}), nullptr, nullptr,
       wait_tool});
  add({"chatty", "", "Prints to stdout, which must not reach the client.",
       object_schema(json::object()), nullptr, nullptr, [](const json&, RequestContext&) {
         std::printf("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"forged\"}\n");
         std::fflush(stdout);
         return ToolResult{false, "printed \xff bytes", {{"ok", true}}};
       }});
  return server;
}

/// Returns params._meta of the stateless era with `extra` merged in.
inline json meta(json extra = json::object()) {
  json out = {{kMetaVersion, kStatelessVersion}, {kMetaClientCapabilities, json::object()}};
  out.update(extra);
  return out;
}

inline json stateless_call(const json& id, const std::string& tool, json arguments = json::object(),
                           json extra_meta = json::object()) {
  return make_request(id, "tools/call",
                      {{"name", tool},
                       {"arguments", std::move(arguments)},
                       {"_meta", meta(std::move(extra_meta))}});
}

inline json legacy_call(const json& id, const std::string& tool, json arguments = json::object()) {
  return make_request(id, "tools/call", {{"name", tool}, {"arguments", std::move(arguments)}});
}

/// Returns the dispatcher's response to `message`, or null when there is none.
inline json response_to(Server& server, const json& message,
                        const TransportContext& transport = {}) {
  const auto parsed = parse_message(dump(message));
  REQUIRE(parsed);
  return server.dispatcher().handle(*parsed, transport).response.value_or(json());
}

/// The maximum time that a client waits for an answer, in milliseconds.
constexpr std::int64_t kTimeoutMs = 10'000;

/// Waits for a state that no event announces: calls `done` repeatedly until it returns true or
/// kEventTimeout is over.
template <class Done>
bool eventually(Done done) {
  const Clock& clock = system_clock();
  const std::int64_t until_ns =
      clock.monotonic_ns() + std::chrono::nanoseconds(kEventTimeout).count();
  while (!done()) {
    if (clock.monotonic_ns() >= until_ns) return false;
    clock.pause(std::chrono::milliseconds(5));
  }
  return true;
}

/// Runs serve_http() on a separate thread.
class RunningHttp {
 public:
  explicit RunningHttp(HttpOptions options = {}, std::unique_ptr<Server> server = make_server())
      : server_(std::move(server)) {
    std::promise<int> bound;
    options.listening = [&bound](int bound_port) { bound.set_value(bound_port); };
    thread_ =
        std::thread([this, options] { status = serve_http(*server_, options, stop_.get_token()); });
    port = bound.get_future().get();
  }
  ~RunningHttp() {
    stop_.request_stop();
    thread_.join();
  }
  Server& server() { return *server_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port) + "/mcp"; }

  int port = 0;
  std::atomic<int> status{-1};

 private:
  std::unique_ptr<Server> server_;
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace assay::mcp::test
