// Text and numbers for a page: escaped, formatted. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "metrics/estimate.h"
#include "tools/model/services.h"

namespace assay::server {

/// For text and for attributes, of HTML and of XML. Control characters, which XML cannot carry at
/// all, become spaces.
std::string escaped(std::string_view text);

/// `format` is printf's, for one double. A dash for no value.
std::string number(const std::optional<double>& value, const char* format);

/// "1,234,567"
std::string grouped(std::int64_t count);
/// "$12.35"; four decimals below a dollar.
std::string dollars(double amount);

/// "$0.0120", "not known", "not known, at least $0.0120"; "none" where no model cost anything.
std::string cost_in_words(const tools::Usage& usage, bool no_model);

/// "50.0 % (28 to 72)"; a dash for nothing.
std::string share_with_interval(const std::optional<metrics::Estimate>& estimate);
/// "0.812 (0.70 to 0.93)"
std::string ratio_with_interval(const std::optional<metrics::Estimate>& estimate);

}  // namespace assay::server
