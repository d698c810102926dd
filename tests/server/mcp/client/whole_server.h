// Defines a server with resources, a prompt and tools. One of the tools can run as a task.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "server/mcp/http/http_server.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp::test {

inline std::unique_ptr<Server> make_whole_server() {
  auto server =
      std::make_unique<Server>(ServerInfo{"whole", "", "1", ""},
                               ServerLimits{.page_size = 2, .tasks = {.poll_interval_ms = 20}});
  for (const char* name : {"a", "b", "c"}) {
    const std::string uri = std::string("doc://") + name;
    REQUIRE(server->add_resource(
        {.uri = uri, .name = name, .read = [uri](RequestContext&) -> Result<ReadResult> {
           return one_text(uri, "text/plain", "text of " + uri);
         }}));
  }
  REQUIRE(
      server->add_prompt({.name = "p",
                          .arguments = {{.name = "x", .complete = complete_from({"one", "two"})}},
                          .get = [](const Variables&, RequestContext&) -> Result<PromptResult> {
                            return PromptResult{"", {{"user", text_content("hello")}}};
                          }}));
  Tool job{"job",
           "",
           "Works.",
           object_schema({{"ms", {{"type", "integer"}}}}),
           nullptr,
           nullptr,
           [](const json& arguments, RequestContext&) {
             ToolResult later;
             later.work = [arguments](RequestContext& context) {
               ToolResult result = wait_tool(arguments, context);
               result.text += context.is_task ? " as a task" : " at once";
               return result;
             };
             return later;
           }};
  job.task_support = TaskSupport::optional;
  REQUIRE(server->add_tool(std::move(job)));
  REQUIRE(server->add_tool({"wait", "", "Waits.", object_schema({{"ms", {{"type", "integer"}}}}),
                            nullptr, nullptr, wait_tool}));
  return server;
}

/// Runs serve_http() for make_whole_server() on its own thread.
class RunningWhole {
 public:
  RunningWhole() : server_(make_whole_server()) {
    HttpOptions options;
    std::promise<int> bound;
    options.listening = [&bound](int chosen) { bound.set_value(chosen); };
    thread_ = std::thread([this, options] { serve_http(*server_, options, stop_.get_token()); });
    port = bound.get_future().get();
    url = "http://127.0.0.1:" + std::to_string(port) + "/mcp";
  }
  ~RunningWhole() {
    stop_.request_stop();
    thread_.join();
  }
  int port = 0;
  std::string url;

 private:
  std::unique_ptr<Server> server_;
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace assay::mcp::test
