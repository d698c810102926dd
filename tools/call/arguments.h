// ArgumentReader reads the JSON arguments of one call into a struct. Each tool has such a struct.
// The struct's `parse` is called once, before the tool's handler; no other code looks at the JSON.
//
//   struct JobArguments {
//     std::string job;
//     std::int64_t wait_s = 10;
//     static Result<JobArguments> parse(const nlohmann::json& arguments) {
//       JobArguments parsed;
//       ArgumentReader reader(arguments);
//       reader.read("job", parsed.job);
//       reader.read("wait_s", parsed.wait_s);
//       return reader.result(std::move(parsed));
//     }
//   };
//
// The protocol layer has checked the arguments against the tool's input schema. If an argument is
// missing, the member keeps its default. A reader belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/mcp/core/tool.h"
#include "tools/answer/answers.h"

namespace assay::tools {

/// Returns an error such as "unknown device 'tpu'; valid: cpu, cuda:0". `key` says what is named,
/// in this example "device". A long name is cut.
Error unknown_name(const std::string& key, const std::string& name,
                   const std::vector<std::string>& valid);

class ArgumentReader {
 public:
  explicit ArgumentReader(const nlohmann::json& arguments) : arguments_(arguments) {}

  void read(const char* key, std::string& value);
  void read(const char* key, std::int64_t& value);
  void read(const char* key, double& value);
  void read(const char* key, bool& value);
  void read(const char* key, std::vector<std::string>& value);
  void read(const char* key, Format& value);
  template <class T>
  void read(const char* key, std::optional<T>& value) {
    if (!arguments_.contains(key)) return;
    read(key, value.emplace());
  }
  /// Reads the name of an enum's value into `value`. `from` converts a name to std::optional<Enum>.
  /// The error for an unknown name lists the names in `valid`.
  template <class Enum, class From>
  void read_name(const char* key, Enum& value, const From& from,
                 const std::vector<std::string>& valid) {
    std::string name;
    read(key, name);
    if (name.empty()) return;
    if (const std::optional<Enum> known = from(name))
      value = *known;
    else
      refuse(unknown_name(key, name, valid));
  }

  /// Records an error. Only the first recorded error is kept.
  void refuse(const Error& error);
  /// Returns `parsed`, or the first recorded error.
  template <class Arguments>
  Result<Arguments> result(Arguments parsed) const {
    if (error_) return fail(*error_);
    return parsed;
  }

 private:
  /// Returns the argument's value, or null if the argument is missing.
  const nlohmann::json* find(const char* key) const;
  void refuse_type(const char* key, const char* expected);

  const nlohmann::json& arguments_;
  std::optional<Error> error_;
};

template <class Arguments>
using Handler =
    std::function<mcp::ToolResult(const Arguments& arguments, mcp::RequestContext& context)>;

/// Makes `handler` the handler of a tool that answers within milliseconds.
template <class Arguments>
void set_quick_handler(mcp::Tool& tool, Handler<Arguments> handler) {
  tool.call = [handler = std::move(handler)](const nlohmann::json& arguments,
                                             mcp::RequestContext& context) {
    const Result<Arguments> parsed = Arguments::parse(arguments);
    return parsed ? handler(*parsed, context) : error_answer(parsed.error());
  };
}

/// Makes `handler` the handler of a tool that takes seconds to minutes. A client may run the call
/// as a task.
template <class Arguments>
void set_slow_handler(mcp::Tool& tool, Handler<Arguments> handler) {
  tool.task_support = mcp::TaskSupport::optional;
  tool.call = [handler = std::move(handler)](const nlohmann::json& arguments,
                                             mcp::RequestContext&) -> mcp::ToolResult {
    Result<Arguments> parsed = Arguments::parse(arguments);
    if (!parsed) return error_answer(parsed.error());
    mcp::ToolResult result;
    result.work = [handler, parsed = std::move(*parsed)](mcp::RequestContext& context) {
      return handler(parsed, context);
    };
    return result;
  };
}

}  // namespace assay::tools
