#include "base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

template class nlohmann::basic_json<>;
template class nlohmann::detail::serializer<nlohmann::json>;
template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
template class nlohmann::detail::parser<nlohmann::json,
                                        nlohmann::detail::iterator_input_adapter<const char*>>;

namespace assay {
namespace {

using nlohmann::json;

/// Returns true if the character stands for itself in a JSON string: it is ASCII, no control
/// character, and needs no backslash.
constexpr bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

constexpr std::size_t kFirstBytes = 1024;  // enough for most messages

constexpr std::array<bool, 256> kPlainCharacter = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0; c < plain.size(); ++c) plain[c] = is_plain(static_cast<unsigned char>(c));
  return plain;
}();

std::string library_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

struct TextSink {
  std::string text;
  void put(char c) { text += c; }
  void put(std::string_view part) { text += part; }
};
struct CountSink {
  std::size_t bytes = 0;
  void put(char) { ++bytes; }
  void put(std::string_view part) { bytes += part.size(); }
};

/// Writes most values itself. The library writes all others: floating-point numbers, and strings
/// with a character that needs an escape or is no ASCII.
template <class Sink>
class JsonWriter {
 public:
  explicit JsonWriter(Sink& sink) : sink_(sink) {}

  void write(const json& value) {
    switch (value.type()) {
      case json::value_t::object: return object(value.get_ref<const json::object_t&>());
      case json::value_t::array: return array(value.get_ref<const json::array_t&>());
      case json::value_t::string: return string(value.get_ref<const std::string&>());
      case json::value_t::boolean: return sink_.put(value.get<bool>() ? "true" : "false");
      case json::value_t::number_integer: return integer(value.get<json::number_integer_t>());
      case json::value_t::number_unsigned: return integer(value.get<json::number_unsigned_t>());
      case json::value_t::null: return sink_.put("null");
      default: return sink_.put(library_text(value));
    }
  }

 private:
  void object(const json::object_t& members) {
    char before = '{';
    for (const auto& [name, member] : members) {
      sink_.put(before);
      string(name);
      sink_.put(':');
      write(member);
      before = ',';
    }
    sink_.put(members.empty() ? "{}" : "}");
  }
  void array(const json::array_t& items) {
    char before = '[';
    for (const json& item : items) {
      sink_.put(before);
      write(item);
      before = ',';
    }
    sink_.put(items.empty() ? "[]" : "]");
  }
  void string(const std::string& text) {
    const auto special =
        std::find_if(text.begin(), text.end(), [](unsigned char c) { return !kPlainCharacter[c]; });
    if (special == text.end()) {
      sink_.put('"');
      sink_.put(text);
      sink_.put('"');
    } else {
      special_string(text);
    }
  }
  /// Writes line breaks and quotation marks itself, because long texts have many. Calls the library
  /// for the whole string if any other special character occurs.
  void special_string(const std::string& text) {
    const auto simple = [](unsigned char c) {
      return kPlainCharacter[c] || c == '\n' || c == '"' || c == '\\';
    };
    if (!std::all_of(text.begin(), text.end(), simple)) return sink_.put(library_text(text));
    sink_.put('"');
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (kPlainCharacter[static_cast<unsigned char>(text[i])]) continue;
      sink_.put(std::string_view(text).substr(begin, i - begin));
      sink_.put('\\');
      sink_.put(text[i] == '\n' ? 'n' : text[i]);
      begin = i + 1;
    }
    sink_.put(std::string_view(text).substr(begin));
    sink_.put('"');
  }
  template <class Integer>
  void integer(Integer number) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    sink_.put(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }

  Sink& sink_;
};

}  // namespace

std::string json_text(const json& value) {
  TextSink sink;
  sink.text.reserve(kFirstBytes);
  JsonWriter(sink).write(value);
  return std::move(sink.text);
}

std::size_t json_text_bytes(const json& value) {
  CountSink sink;
  JsonWriter(sink).write(value);
  return sink.bytes;
}

}  // namespace assay
