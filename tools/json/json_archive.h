// Reads and writes structs as JSON. For each struct there is a function `fields(archive, value)`
// that names each member once. JsonWriter and JsonReader both call this function, so what is
// written can always be read back.
//
//   struct Point {
//     double x = 0;
//     std::string label;
//   };
//   template <class Archive>
//   void fields(Archive& archive, Point& point) {
//     archive("x", point.x);
//     archive("label", point.label);
//   }
//
//   const nlohmann::json document = write_json(Point{1.5, "a"});  // {"label": "a", "x": 1.5}
//   const Result<Point> again = read_json<Point>(document, "point");
//
// If older documents contain the struct in another form, there is also a function `bool
// read_older_form(const nlohmann::json&, Point&)`. It reads values that are not objects.
//
// An empty optional is left out. Numbers that JSON cannot express become the strings "nan", "inf"
// and "-inf". Strings are escaped when they are written (base/text.h), so that any bytes become
// valid JSON. A member of type Bytes is written as base64. A reader ignores unknown keys. A missing
// or mistyped key is an error, whose message contains the path of the key. Thread-safe: there is no
// state outside the objects.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/base64.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"

namespace assay::tools {

/// Marks a string member that holds arbitrary bytes.
struct Bytes {
  std::string& bytes;
};
/// Marks a string member that is not escaped. The string must be UTF-8. Submitted sources are such
/// members; the tools check that a source is UTF-8.
struct Verbatim {
  std::string& text;
};

/// Marks a member that older documents lack. When such a document is read, the member keeps its
/// default.
template <class T>
struct Newer {
  T& value;
};
template <class T>
Newer(T&) -> Newer<T>;

namespace archive_detail {
/// Converts between an enum's values and names. Code that writes an enum specialises this template
/// for the enum.
template <class Enum>
struct EnumNames;
}  // namespace archive_detail

class JsonWriter {
 public:
  template <class T>
  void operator()(const char* key, T& value) {
    put(out_, key, value);
  }
  void operator()(const char* key, Bytes value) { out_[key] = base64_encode(value.bytes); }
  void operator()(const char* key, Verbatim value) { out_[key] = value.text; }
  template <class T>
  void operator()(const char* key, Newer<T> newer) {
    (*this)(key, newer.value);
  }
  nlohmann::json take() { return std::move(out_); }

 private:
  template <class T>
  static void put(nlohmann::json& object, const char* key, std::optional<T>& value) {
    if (value) object[key] = make(*value);
  }
  template <class T>
  static void put(nlohmann::json& object, const char* key, T& value) {
    object[key] = make(value);
  }
  static nlohmann::json make(bool& value) { return value; }
  static nlohmann::json make(int& value) { return value; }
  static nlohmann::json make(std::int64_t& value) { return value; }
  static nlohmann::json make(std::string& value) { return escape_text(value); }
  static nlohmann::json make(double& value) {
    if (std::isfinite(value)) return value;
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  template <class T>
  static nlohmann::json make(std::vector<T>& values) {
    nlohmann::json list = nlohmann::json::array();
    for (T& value : values) list.push_back(make(value));
    return list;
  }
  template <class T>
  static nlohmann::json make(std::map<std::string, T>& values) {
    nlohmann::json object = nlohmann::json::object();
    for (auto& [key, value] : values) object[escape_text(key)] = make(value);
    return object;
  }
  template <class T>
  static nlohmann::json make(T& value) {
    if constexpr (std::is_enum_v<T>) {
      return archive_detail::EnumNames<T>::to(value);
    } else {
      JsonWriter inner;
      fields(inner, value);
      return inner.take();
    }
  }

  nlohmann::json out_ = nlohmann::json::object();
};

class JsonReader {
 public:
  JsonReader(const nlohmann::json& in, std::string path, std::string& problem)
      : in_(in), path_(std::move(path)), problem_(problem) {}

  template <class T>
  void operator()(const char* key, T& value) {
    if (const nlohmann::json* found = require(key)) take(*found, path_ + "." + key, value);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    value.reset();
    const auto found = in_.find(key);
    if (found != in_.end() && !found->is_null()) take(*found, path_ + "." + key, value.emplace());
  }
  template <class T>
  void operator()(const char* key, Newer<T> newer) {
    if (in_.contains(key)) (*this)(key, newer.value);
  }
  void operator()(const char* key, Bytes value) {
    const nlohmann::json* found = require(key);
    if (found == nullptr) return;
    auto bytes =
        found->is_string() ? base64_decode(found->get_ref<const std::string&>()) : std::nullopt;
    if (bytes) {
      value.bytes = std::move(*bytes);
    } else {
      report_error(path_ + "." + key, "base64");
    }
  }
  void operator()(const char* key, Verbatim value) {
    if (const nlohmann::json* found = require(key)) take(*found, path_ + "." + key, value.text);
  }

 private:
  const nlohmann::json* require(const char* key) {
    const auto found = in_.find(key);
    if (found != in_.end()) return &*found;
    report_error(path_ + "." + key, "a value, but it is missing");
    return nullptr;
  }
  void report_error(const std::string& path, const std::string& wanted) {
    if (problem_.empty()) problem_ = path + ": expected " + wanted;
  }
  void take(const nlohmann::json& in, const std::string& path, bool& value) {
    if (in.is_boolean())
      value = in.get<bool>();
    else
      report_error(path, "a boolean");
  }
  void take(const nlohmann::json& in, const std::string& path, std::int64_t& value) {
    const bool too_large = in.is_number_unsigned() &&
                           in.get<std::uint64_t>() >
                               static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (in.is_number_integer() && !too_large)
      value = in.get<std::int64_t>();
    else
      report_error(path, "an integer");
  }
  void take(const nlohmann::json& in, const std::string& path, std::string& value) {
    if (in.is_string())
      value = in.get<std::string>();
    else
      report_error(path, "a string");
  }
  void take(const nlohmann::json& in, const std::string& path, double& value) {
    if (in.is_number())
      value = in.get<double>();
    else if (in == "nan")
      value = std::numeric_limits<double>::quiet_NaN();
    else if (in == "inf")
      value = std::numeric_limits<double>::infinity();
    else if (in == "-inf")
      value = -std::numeric_limits<double>::infinity();
    else
      report_error(path, "a number");
  }
  template <class T>
  void take(const nlohmann::json& in, const std::string& path, std::vector<T>& values) {
    values.clear();
    if (!in.is_array()) return report_error(path, "an array");
    for (std::size_t i = 0; i < in.size(); ++i)
      take(in[i], path + "[" + std::to_string(i) + "]", values.emplace_back());
  }
  template <class T>
  void take(const nlohmann::json& in, const std::string& path, std::map<std::string, T>& values) {
    values.clear();
    if (!in.is_object()) return report_error(path, "an object");
    for (const auto& [key, value] : in.items())
      take(value, std::string(path).append(".").append(key), values[key]);
  }
  template <class T>
  void take(const nlohmann::json& in, const std::string& path, T& value) {
    if constexpr (std::is_enum_v<T>) {
      const auto known = in.is_string()
                             ? archive_detail::EnumNames<T>::from(in.get_ref<const std::string&>())
                             : std::nullopt;
      if (known)
        value = *known;
      else
        report_error(path, "one of the names in docs/reference/verdict.md");
    } else if (in.is_object()) {
      JsonReader inner(in, path, problem_);
      fields(inner, value);
    } else if constexpr (requires { read_older_form(in, value); }) {
      if (!read_older_form(in, value)) report_error(path, "an object");
    } else {
      report_error(path, "an object");
    }
  }

  const nlohmann::json& in_;
  const std::string path_;
  std::string& problem_;
};

template <class T>
nlohmann::json write_json(T value) {
  JsonWriter writer;
  fields(writer, value);
  return writer.take();
}

template <class T>
Result<T> read_json(const nlohmann::json& document, const std::string& what) {
  if (!document.is_object()) return fail(ErrorCode::corrupt, what + ": expected an object");
  T value;
  std::string problem;
  JsonReader reader(document, what, problem);
  fields(reader, value);
  if (!problem.empty()) return fail(ErrorCode::corrupt, problem);
  return value;
}

}  // namespace assay::tools
