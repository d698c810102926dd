#include <algorithm>
#include <cstdint>

#include "base/handle.h"
#include "base/text.h"
#include "tools/call/arguments.h"
#include "tools/call/principal_of.h"
#include "tools/call/schema_parts.h"
#include "tools/registry.h"

namespace assay::tools {
namespace {

using nlohmann::json;

// The default is about 1,400 tokens, because PTX and launch plans have a little less than two bytes
// for each token.
constexpr std::int64_t kDefaultLimitBytes = 2'400;
constexpr std::int64_t kMaxLimitBytes = 14'000;  // about 7,500 tokens
constexpr std::int64_t kGrepChunkBytes = 1LL << 20;
constexpr std::int64_t kGrepTotalBytes = 16LL << 20;  // the most bytes that one call scans
constexpr std::size_t kGrepMatches = 100;
constexpr std::size_t kGrepLineBytes = 300;
constexpr std::size_t kFrameOfSliceBytes = 700;  // room for the rest of an answer besides the text
constexpr std::int64_t kMaxOffset = 1LL << 40;

struct ReadArtifactArguments {
  std::string artifact;
  std::int64_t offset = 0;
  std::int64_t limit = kDefaultLimitBytes;
  std::string grep;  // the text that matching lines contain; empty: read bytes

  static json schema() {
    json limit = integer_property("Bytes to read", 1, kMaxLimitBytes);
    limit["default"] = kDefaultLimitBytes;
    json offset = integer_property("First byte", 0);
    offset["default"] = 0;
    return input_object(
        {{"artifact", text_property("Artifact handle, artifact_...", 0)},
         {"offset", std::move(offset)},
         {"limit", std::move(limit)},
         {"grep", text_property("Plain substring (not a pattern) of the lines to read")}},
        {"artifact"});
  }
  static Result<ReadArtifactArguments> parse(const json& arguments) {
    ReadArtifactArguments parsed;
    ArgumentReader reader(arguments);
    reader.read("artifact", parsed.artifact);
    reader.read("offset", parsed.offset);
    reader.read("limit", parsed.limit);
    reader.read("grep", parsed.grep);
    if (!is_handle(parsed.artifact, "artifact"))
      reader.refuse({ErrorCode::invalid_argument,
                     "`artifact` is not an artifact handle; handles look like artifact_... and are "
                     "in the answers of `compile` and `profile`"});
    return reader.result(std::move(parsed));
  }
};

/// Builds the answer. The text shows the lines `shown`, which have marks; `structured` has the
/// bytes of the artifact without marks.
mcp::ToolResult answer_of(const std::string& handle, const ArtifactSlice& slice, std::string text,
                          std::string shown, std::int64_t next_offset, const std::string& what,
                          std::size_t cap) {
  mcp::ToolResult answer;
  const bool more = next_offset < slice.total_bytes;
  answer.text = "ok: " + line_of(slice.kind) + " " + line_of(slice.name) + ", " + what + " of " +
                std::to_string(slice.total_bytes) + " bytes\n" + shown;
  const std::string next =
      more ? "offset=" + std::to_string(next_offset) + " continues" : "this is the end";
  answer.text += "next: " + next;
  answer.structured = {{"status", "ok"},
                       {"artifact", handle},
                       {"kind", slice.kind},
                       {"name", slice.name},
                       {"total_bytes", slice.total_bytes},
                       {"offset", slice.offset},
                       {"next_offset", next_offset},
                       {"text", std::move(text)},
                       {"next", next}};
  return fit_answer(std::move(answer), cap);
}

mcp::ToolResult slice_answer(const Services& services, const Principal& principal,
                             const std::string& handle, std::int64_t offset, std::int64_t limit) {
  auto slice = services.artifacts.read(principal, handle, offset, limit);
  if (!slice) return error_answer(slice.error());
  const auto cap = static_cast<std::size_t>(
      limit > kDefaultLimitBytes ? services.limits.detailed_chars : services.limits.concise_chars);
  std::string text = escape_text(slice->bytes);
  const bool binary = text.size() > slice->bytes.size() + slice->bytes.size() / 10;
  // Binary data is shown as escapes such as \x1b. A token holds only half as many characters of
  // escapes as of ordinary text, so fewer characters are shown.
  const std::size_t room = binary ? cap / 2 : cap;
  std::string quoted = quote_lines(text);
  while (std::max(json_size(text), quoted.size()) + kFrameOfSliceBytes > room &&
         slice->bytes.size() > 1) {
    slice->bytes.resize(slice->bytes.size() * 3 / 4);
    text = escape_text(slice->bytes);
    quoted = quote_lines(text);
  }
  const auto end = slice->offset + static_cast<std::int64_t>(slice->bytes.size());
  const std::string what = "bytes " + std::to_string(slice->offset) + " to " + std::to_string(end);
  return answer_of(handle, *slice, std::move(text), std::move(quoted), end, what, cap);
}

struct Matches {
  std::string text;
  std::size_t count = 0;
  bool full = false;
};

void add_match(Matches& matches, std::int64_t at, std::string_view line, std::size_t most_bytes) {
  const std::string shown =
      std::to_string(at) + ": " + line_of(std::string(line), kGrepLineBytes) + "\n";
  if (matches.count >= kGrepMatches ||
      json_size(matches.text + shown) + kFrameOfSliceBytes > most_bytes) {
    matches.full = true;
    return;
  }
  matches.text += shown;
  ++matches.count;
}

/// Answers with the lines that contain `wanted`, each with its offset. The answer's `next_offset`
/// is the offset at which the scan stopped.
mcp::ToolResult grep_answer(const Services& services, const Principal& principal,
                            const std::string& handle, std::int64_t offset,
                            const std::string& wanted) {
  const auto cap = static_cast<std::size_t>(services.limits.concise_chars);
  Matches matches;
  ArtifactSlice head;
  std::string line;
  std::int64_t line_at = offset;
  std::int64_t at = offset;
  while (!matches.full && at - offset < kGrepTotalBytes) {
    auto slice = services.artifacts.read(principal, handle, at, kGrepChunkBytes);
    if (!slice) return error_answer(slice.error());
    if (at == offset)
      head = {.kind = slice->kind,
              .name = slice->name,
              .total_bytes = slice->total_bytes,
              .offset = slice->offset,
              .bytes = ""};
    if (slice->bytes.empty()) break;
    for (const char c : slice->bytes) {
      ++at;
      if (c != '\n') line += c;
      if (c != '\n' && at < slice->total_bytes &&
          line.size() < static_cast<std::size_t>(kGrepChunkBytes))
        continue;
      if (line.find(wanted) != std::string::npos) add_match(matches, line_at, line, cap);
      if (matches.full) break;
      line.clear();
      line_at = at;
    }
  }
  const std::string what = count_text(static_cast<std::int64_t>(matches.count), "line") +
                           " with '" + line_of(wanted, 60) + "', each after its offset,";
  std::string shown = matches.text;  // each line begins with its offset
  return answer_of(handle, head, std::move(matches.text), std::move(shown),
                   matches.full ? line_at : at, what, cap);
}

mcp::ToolResult read_artifact(const Services& services, const ReadArtifactArguments& arguments,
                              const mcp::RequestContext& context) {
  const Principal principal = principal_of(context);
  const std::int64_t offset = std::clamp<std::int64_t>(arguments.offset, 0, kMaxOffset);
  if (!arguments.grep.empty())
    return grep_answer(services, principal, arguments.artifact, offset, arguments.grep);
  return slice_answer(services, principal, arguments.artifact, offset,
                      std::clamp<std::int64_t>(arguments.limit, 1, kMaxLimitBytes));
}

}  // namespace

mcp::Tool read_artifact_tool(const Services& services) {
  mcp::Tool tool;
  tool.name = "read_artifact";
  tool.title = "Read an artifact";
  tool.description =
      "Reads PTX, launch plans and logs in pieces, by a handle from an earlier answer.";
  tool.input_schema = ReadArtifactArguments::schema();
  const json text = {{"type", "string"}};
  const json integer = {{"type", "integer"}};
  tool.output_schema = output_object({{"artifact", text},
                                      {"kind", text},
                                      {"name", text},
                                      {"total_bytes", integer},
                                      {"offset", integer},
                                      {"next_offset", integer},
                                      {"text", text},
                                      {"next", text}});
  tool.listed_output_schema = outline_of(tool.output_schema, {"text", "next_offset"});
  tool.annotations = annotations_of({.read_only = true, .idempotent = true});
  set_quick_handler<ReadArtifactArguments>(tool, [&services](const ReadArtifactArguments& arguments,
                                                             const mcp::RequestContext& context) {
    return read_artifact(services, arguments, context);
  });
  return tool;
}

}  // namespace assay::tools
