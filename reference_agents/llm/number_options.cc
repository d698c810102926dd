#include "reference_agents/llm/number_options.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

namespace assay::agents {
namespace {

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end.ptr);
}

std::optional<double> number_from(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

tl::unexpected<Error> refuse(const std::string& text, const std::string& why,
                             const std::vector<NumberOption>& known) {
  return fail(ErrorCode::invalid_argument,
              "'" + text + "': " + why +
                  "; valid: " + (known.empty() ? "no option" : describe_options(known)));
}

}  // namespace

std::string describe_options(const std::vector<NumberOption>& known) {
  std::string text;
  for (const NumberOption& option : known) {
    text += (text.empty() ? "" : "; ") + option.name + "=" + number_text(option.standard) + " (" +
            number_text(option.least) + " to " + number_text(option.most) + "): " + option.meaning;
  }
  return text;
}

Result<NamedOptions> parse_options(const std::string& text,
                                   const std::vector<NumberOption>& known) {
  const std::size_t mark = text.find('?');
  NamedOptions parsed;
  parsed.name = text.substr(0, mark);
  for (const NumberOption& option : known) parsed.values[option.name] = option.standard;
  if (mark == std::string::npos) return parsed;
  std::set<std::string> seen;
  for (std::size_t at = mark + 1; at <= text.size();) {
    const std::size_t end = std::min(text.find('&', at), text.size());
    const std::string pair = text.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = pair.find('=');
    const std::string key = pair.substr(0, equals);
    const auto option = std::find_if(known.begin(), known.end(),
                                     [&](const NumberOption& entry) { return entry.name == key; });
    if (option == known.end()) return refuse(text, "unknown option '" + key + "'", known);
    if (!seen.insert(key).second) return refuse(text, "option '" + key + "' is given twice", known);
    const std::optional<double> value =
        equals == std::string::npos ? std::nullopt
                                    : number_from(std::string_view(pair).substr(equals + 1));
    const bool fits = value && *value >= option->least && *value <= option->most;  // false for NaN
    if (!fits || (option->whole && *value != static_cast<double>(static_cast<long long>(*value)))) {
      return refuse(text,
                    "the value of '" + key + "' is not a " + (option->whole ? "whole " : "") +
                        "number in its range",
                    known);
    }
    parsed.values[key] = *value;
  }
  return parsed;
}

}  // namespace assay::agents
