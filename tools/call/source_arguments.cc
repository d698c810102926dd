#include "tools/call/source_arguments.h"

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/text_edits.h"
#include "sandbox/job/job.h"
#include "tools/model/source_folder.h"

namespace assay::tools {
namespace {

constexpr const char* kCudaSuffix = ".cu";
constexpr std::int64_t kSourceBytes = sandbox::Limits{}.source_bytes;

tl::unexpected<Error> invalid(const std::string& message) {
  return fail(ErrorCode::invalid_argument, message);
}

/// Returns a property without a length, because source_text() limits the lengths.
nlohmann::json text(const std::string& description) {
  return {{"type", "string"}, {"description", description}};
}

Status check_size(const char* name, std::size_t bytes) {
  if (static_cast<std::int64_t>(bytes) <= kSourceBytes) return {};
  return invalid(std::string(name) + " has " + std::to_string(bytes) + " bytes; the limit is " +
                 std::to_string(kSourceBytes) + " (source_bytes)");
}

Result<std::string> edited(const std::string& source, const std::string& edits) {
  ASSAY_RETURN_IF_ERROR(check_size("edits", edits.size()));
  ASSAY_TRY(parsed, parse_edits(edits));
  if (parsed.size() > kMostEdits)
    return invalid("there are " + std::to_string(parsed.size()) + " edits; the limit is " +
                   std::to_string(kMostEdits) + " (kMostEdits); send the whole source as `code`");
  return apply_edits(source, parsed);
}

/// Returns the source of an earlier call, with the edits.
Result<SourceText> earlier_source(const Services& services, const SourceArguments& arguments,
                                  const Principal& principal) {
  auto earlier = services.jobs.source(principal, *arguments.source);
  if (!earlier) return fail(earlier.error().code, "`source`: " + earlier.error().message);
  SourceText found;
  found.text = std::move(earlier->text);
  found.language = std::move(earlier->language);
  if (!arguments.edits) return found;
  auto changed = edited(found.text, *arguments.edits);
  if (!changed)
    return fail(changed.error().code,
                "`edits`: " + changed.error().message +
                    ". No edit was applied, and nothing was charged; `source` stays valid");
  found.text = std::move(*changed);
  return found;
}

Result<SourceText> file_source(const Services& services, const std::string& path) {
  if (services.source_folder == nullptr)
    return fail(ErrorCode::unsupported,
                "this server reads no files; a server on stdio with --source-folder does");
  SourceText found;
  ASSAY_TRY(bytes, services.source_folder->read(path, kSourceBytes));
  found.text = std::move(bytes);
  if (std::filesystem::path(path).extension() == kCudaSuffix) found.language = sandbox::kCudaCpp;
  return found;
}

}  // namespace

nlohmann::json SourceArguments::properties(const Services& services, const std::string& code,
                                           bool shows_form) {
  nlohmann::json all = {
      {"code", text(code)},
      {"source", text("Or: job of an earlier call")},
      {"edits",
       text(shows_form
                ? "Changes `source`: <<<<<<< SEARCH\nold lines\n=======\nnew lines\n>>>>>>> REPLACE"
                : "Changes `source`; form: see `compile`")}};
  if (services.source_folder != nullptr) all["path"] = text("Or: a file");
  return all;
}

SourceArguments SourceArguments::read(ArgumentReader& reader) {
  SourceArguments parsed;
  reader.read("code", parsed.code);
  reader.read("source", parsed.source);
  reader.read("edits", parsed.edits);
  reader.read("path", parsed.path);
  const int given =
      int{parsed.code.has_value()} + int{parsed.source.has_value()} + int{parsed.path.has_value()};
  if (given != 1)
    reader.refuse({ErrorCode::invalid_argument,
                   std::string(given == 0 ? "the source is missing" : "there are several sources") +
                       "; valid: one of `code` (the complete source), `source` (the job handle of "
                       "an earlier call) and, if the server has it, `path` (a file)"});
  if (parsed.edits && !parsed.source)
    reader.refuse({ErrorCode::invalid_argument,
                   "`edits` needs `source`, the job handle of the call whose source it changes"});
  return parsed;
}

Result<SourceText> source_text(const Services& services, const SourceArguments& arguments,
                               const Principal& principal) {
  SourceText found;
  std::string name = "code";
  if (arguments.source) {
    ASSAY_TRY(earlier, earlier_source(services, arguments, principal));
    found = std::move(earlier);
    name = "the source";
  } else if (arguments.path) {
    ASSAY_TRY(file, file_source(services, *arguments.path));
    found = std::move(file);
    name = "the file";
  } else {
    found.text = arguments.code.value_or("");
  }
  ASSAY_RETURN_IF_ERROR(check_source(found.text, name));
  return found;
}

Status check_source(const std::string& source, const std::string& name) {
  if (source.find_first_not_of(" \t\r\n") == std::string::npos)
    return invalid(name + " is empty; send the complete source");
  ASSAY_RETURN_IF_ERROR(check_size(name.c_str(), source.size()));
  if (source.find('\0') != std::string::npos)
    return invalid(name + " is binary (it has a zero byte); send source text");
  if (!is_utf8(source)) return invalid(name + " is not UTF-8; send source text");
  return {};
}

}  // namespace assay::tools
