#include "server/commands/check_words.h"

#include <cstddef>

#include "tools/model/check_input.h"

namespace assay::server {

Result<FunctionInFile> function_in_file(const std::string& text, const std::string& what) {
  const std::size_t colon = text.rfind(':');
  FunctionInFile found;
  if (colon != std::string::npos) found = {text.substr(0, colon), text.substr(colon + 1)};
  if (found.file.empty() || !tools::is_python_name(found.function))
    return fail(ErrorCode::invalid_argument,
                what + " '" + text + "' is not FILE:FUNCTION, such as my.py:swish");
  return found;
}

Status read_short_axes(const std::vector<std::string>& words,
                       std::map<std::string, std::vector<std::int64_t>>& axes) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--"))
      return fail(ErrorCode::invalid_argument, "unexpected argument '" + words[i] + "'");
    const std::string option = words[i].substr(0, words[i].find('='));
    std::string axis = words[i].substr(2);
    if (axis.find('=') == std::string::npos) {
      if (i + 1 == words.size())
        return fail(ErrorCode::invalid_argument,
                    "unknown option " + words[i] + "; an axis has values, such as --n 1000,100003");
      axis += "=" + words[++i];
    }
    if (const Status read = tools::read_check_axis(axis, axes); !read)
      return fail(
          ErrorCode::invalid_argument,
          "unknown option " + option + ", or an axis with a bad value: " + read.error().message);
  }
  return {};
}

}  // namespace assay::server
