// How answers are put together: errors, sizes, numbers. Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "tools/model/services.h"
#include "tools/model/tool.h"

namespace assay::tools {

enum class Format { concise, detailed };
/// The `response_format` argument; concise when it is missing.
Format format_of(const nlohmann::json& arguments);
std::size_t cap_of(const AnswerLimits& limits, Format format);

/// is_error, with the code and the message in both halves. The message may quote the caller's
/// input, so it is escaped and bounded.
Answer error_answer(const Error& error);

/// Both halves within `cap` characters: the text loses its middle, `structured` the ends of its
/// longest texts and arrays, and says so in `truncated`.
Answer fitted(Answer answer, std::size_t cap);

/// "0.0123", "1.5e-07", "nan": four digits.
std::string number_text(double value);
/// "12.34 us", "1.2 ms".
std::string duration_text(double ns);
/// "$0.5", "cost not known", "cost not known ($0.5 of it is)".
std::string cost_text(const Usage& usage);
/// "1 case", "3 cases".
std::string count_text(std::int64_t count, const std::string& noun);

/// A string argument, or empty.
std::string text_argument(const nlohmann::json& arguments, const char* key);

}  // namespace assay::tools
