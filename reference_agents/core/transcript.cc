#include "reference_agents/core/transcript.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <system_error>

#include "base/files.h"
#include "base/handle.h"
#include "reference_agents/llm/json_fields.h"

namespace assay::agents {
namespace {

using nlohmann::json;

constexpr std::size_t kReadChunk = 65'536;
/// An upper bound for the average size of a token, in bytes, in a reply that is escaped as JSON.
/// Tokens of code are shorter.
constexpr std::int64_t kMostBytesPerToken = 8;
constexpr std::int64_t kReplyLineBytes = 4'096;  // the size of a reply's line without its text

Result<std::string> read_all(int fd, const std::string& path) {
  std::string bytes;
  std::array<char, kReadChunk> chunk{};
  while (true) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read " + path);
    if (got == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

/// Returns the first part of the id of a charged call, such as "attempt_4kq7" of "attempt_4kq7.2",
/// or "" if the line has none.
std::string prefix_in(const json& line) {
  const json* arguments = field(line, "arguments");
  if (arguments == nullptr) return "";
  const std::string id = string_field(*arguments, kCallId);
  const std::size_t end = id.rfind('.');
  return end == std::string::npos ? "" : id.substr(0, end);
}

/// Returns true if a call of an earlier part has these arguments. The calls of older versions have
/// no id.
bool is_same_call(const json& earlier, const json& arguments) {
  if (!earlier.is_object() || earlier.contains(kCallId)) return earlier == arguments;
  json without_id = arguments;
  if (without_id.is_object()) without_id.erase(kCallId);
  return earlier == without_id;
}

}  // namespace

std::optional<CompletionReply> reply_of(const json& line) {
  if (string_field(line, "kind") != "reply") return std::nullopt;
  CompletionReply reply;
  reply.text = string_field(line, "text");
  reply.id = string_field(line, "id");
  reply.stop_reason = string_field(line, "stop_reason");
  reply.end = reply_end_from(reply.stop_reason);
  reply.input_tokens = integer_field(line, "input_tokens");
  reply.output_tokens = integer_field(line, "output_tokens");
  const json* known = field(line, "usage_known");
  reply.usage_known = known != nullptr && known->is_boolean() && known->get<bool>();
  const json* refused = field(line, "prompt_refused");
  reply.prompt_refused = refused != nullptr && refused->is_boolean() && refused->get<bool>();
  if (const json* charged = field(line, "charged_usd"); charged != nullptr && charged->is_number())
    reply.charged_usd = charged->get<double>();
  return reply;
}

Result<Transcript> Transcript::open(const std::filesystem::path& file, const Clock& clock) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error)
    return fail(ErrorCode::io, "mkdir " + file.parent_path().string() + ": " + error.message());
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd) return fail_errno("open " + file.string());
  const Result<std::string> bytes = read_all(fd.get(), file.string());
  if (!bytes) return fail(bytes.error());
  const std::size_t last_end = bytes->rfind('\n');
  const std::size_t whole = last_end == std::string::npos ? 0 : last_end + 1;
  if (whole != bytes->size() && ::ftruncate(fd.get(), static_cast<off_t>(whole)) != 0)
    return fail_errno("ftruncate " + file.string());
  Transcript transcript(std::move(fd), file.string(), clock);
  for (std::size_t at = 0; at < whole;) {
    const std::size_t end = bytes->find('\n', at);
    json line = json::parse(bytes->substr(at, end - at), nullptr, false);
    if (!line.is_object())
      return fail(ErrorCode::corrupt, file.string() + ": a line is not a JSON object");
    if (std::optional<CompletionReply> reply = reply_of(line))
      transcript.earlier_replies_.push_back(std::move(*reply));
    if (transcript.call_prefix_.empty()) transcript.call_prefix_ = prefix_in(line);
    transcript.earlier_.push_back(std::move(line));
    at = end + 1;
  }
  if (transcript.call_prefix_.empty()) transcript.call_prefix_ = new_handle("attempt");
  return transcript;
}

tl::unexpected<Error> Transcript::other_than(const std::string& expected) const {
  const json& found = earlier_.front();
  return fail(ErrorCode::corrupt,
              path_ + ": an earlier part of this attempt has '" + string_field(found, "kind") +
                  " " + string_field(found, "tool") + "' where this part takes the step '" +
                  expected + "'; start the bench in another --out");
}

void Transcript::drop_notes() {
  while (!earlier_.empty() && string_field(earlier_.front(), "kind") == "note")
    earlier_.pop_front();
}

Result<std::optional<CompletionReply>> Transcript::replay_reply() {
  for (drop_notes(); !earlier_.empty(); drop_notes()) {
    if (string_field(earlier_.front(), "kind") != "prompt") return other_than("prompt");
    earlier_.pop_front();
    drop_notes();
    if (earlier_.empty()) break;
    std::optional<CompletionReply> reply = reply_of(earlier_.front());
    if (!reply) continue;  // the earlier part was interrupted in a request and then repeated it
    earlier_.pop_front();
    return reply;
  }
  return std::optional<CompletionReply>();
}

Result<std::optional<mcp::ToolResult>> Transcript::replay_tool(const std::string& tool,
                                                               const json& arguments) {
  for (drop_notes(); !earlier_.empty(); drop_notes()) {
    const json& call = earlier_.front();
    const json* given = field(call, "arguments");
    const bool same = string_field(call, "kind") == "tool_call" &&
                      string_field(call, "tool") == tool && given != nullptr &&
                      is_same_call(*given, arguments);
    if (!same) return other_than("tool_call " + tool);
    earlier_.pop_front();
    drop_notes();
    if (earlier_.empty()) break;
    if (string_field(earlier_.front(), "kind") != "tool_result")
      continue;  // the earlier part was interrupted in a call and then repeated it
    const json line = std::move(earlier_.front());
    earlier_.pop_front();
    mcp::ToolResult result;
    const json* is_error = field(line, "is_error");
    result.is_error = is_error != nullptr && is_error->is_boolean() && is_error->get<bool>();
    result.text = string_field(line, "text");
    if (const json* structured = field(line, "structured")) result.structured = *structured;
    return std::optional<mcp::ToolResult>(std::move(result));
  }
  return std::optional<mcp::ToolResult>();
}

Status Transcript::append(json line) {
  line["at_unix_ms"] = clock_->unix_ms();
  return append_line(fd_.get(), path_, line.dump(-1, ' ', false, json::error_handler_t::replace));
}

Status Transcript::prompt(const CompletionRequest& request) {
  json messages = json::array();
  for (const ChatMessage& message : request.messages)
    messages.push_back({{"role", message.role}, {"text", message.text}});
  json line = {{"kind", "prompt"},
               {"system", request.system},
               {"messages", std::move(messages)},
               {"max_tokens", request.max_tokens}};
  if (!request.attempt.empty()) line["turn"] = request.turn;
  if (request.temperature) line["temperature"] = *request.temperature;
  if (Status written = append(std::move(line)); !written) return written;
  // Disk space for the reply is reserved before the request is sent. So a full disk causes an error
  // before the reply costs money.
  return reserve_space(fd_.get(), path_, request.max_tokens * kMostBytesPerToken + kReplyLineBytes);
}

Status Transcript::reply(const CompletionReply& reply) {
  json line = {{"kind", "reply"},
               {"text", reply.text},
               {"stop_reason", reply.stop_reason},
               {"input_tokens", reply.input_tokens},
               {"output_tokens", reply.output_tokens},
               {"usage_known", reply.usage_known}};
  if (!reply.id.empty()) line["id"] = reply.id;
  if (reply.charged_usd) line["charged_usd"] = *reply.charged_usd;
  if (reply.prompt_refused) line["prompt_refused"] = true;
  if (Status written = append(std::move(line)); !written) return written;
  // A reply costs money, so it must survive a crash.
  if (::fdatasync(fd_.get()) != 0) return fail_errno("fdatasync " + path_);
  return release_space(fd_.get(), path_);
}

Status Transcript::tool_call(const std::string& tool, const json& arguments) {
  return append({{"kind", "tool_call"}, {"tool", tool}, {"arguments", arguments}});
}

Status Transcript::tool_result(const std::string& tool, bool is_error, const std::string& text,
                               const json& structured) {
  return append({{"kind", "tool_result"},
                 {"tool", tool},
                 {"is_error", is_error},
                 {"text", text},
                 {"structured", structured}});
}

Status Transcript::note(const std::string& text) {
  return append({{"kind", "note"}, {"text", text}});
}

}  // namespace assay::agents
