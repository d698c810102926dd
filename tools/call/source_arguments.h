// SourceArguments are the arguments with which a caller names the source of a call. A caller sends
// the whole source once, as `code`. Later calls name an earlier call by its job handle (`source`),
// and change its source by SEARCH/REPLACE edits (`edits`). A server on stdio whose user allowed a
// folder also reads a file of this folder (`path`).
//
//   SourceArguments arguments = SourceArguments::read(reader);
//   Result<SourceText> source = source_text(services, arguments, principal_of(context));
//   if (!source) return error_answer(source.error());
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "tools/call/arguments.h"
#include "tools/model/services.h"

namespace assay::tools {

/// The maximum number of edits in one call.
inline constexpr std::size_t kMostEdits = 100;

struct SourceArguments {
  std::optional<std::string> code, source, edits, path;

  /// Returns the properties for a tool's input schema. `code` describes the argument `code`. Only
  /// the first tool of the list shows the form of an edit, because a model pays for each byte of
  /// the list.
  static nlohmann::json properties(const Services& services, const std::string& code,
                                   bool shows_form = false);
  /// Reads the arguments. Refuses them unless there is exactly one source.
  static SourceArguments read(ArgumentReader& reader);
};

struct SourceText {
  std::string text;
  std::string language;  // of the earlier call or of the file; empty: not known
};

/// Returns the source that the arguments name. The text satisfies check_source(). Errors: not_found
/// if `principal` has no job with this handle, or if there is no such file; invalid_argument if the
/// edits do not fit, if the file may not be read, or if the text is no source.
Result<SourceText> source_text(const Services& services, const SourceArguments& arguments,
                               const Principal& principal);

/// Returns an error if the source is empty, larger than Limits::source_bytes, binary, or not UTF-8.
/// `name` is the argument that the message names.
Status check_source(const std::string& source, const std::string& name = "code");

}  // namespace assay::tools
