#include "server/site/data_sink.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/json.h"
#include "tests/catch.h"
#include "tests/tools/fixture.h"

using namespace assay;
using namespace assay::site;

namespace {

/// Returns the two arguments of `assayData(NAME,JSON);`.
nlohmann::json arguments_of(const std::string& script) {
  REQUIRE(script.starts_with("assayData("));
  REQUIRE(script.ends_with(");\n"));
  return nlohmann::json::parse("[" + script.substr(10, script.size() - 13) + "]");
}

}  // namespace

TEST_CASE("data cannot end the script element that it is in") {
  const std::string hostile =
      "</script><script>alert(1)</script><!-- ]]> & \xe2\x80\xa8 \xe2\x80\xa9 \"'\\ \n";
  const std::string json = nlohmann::json{{"__proto__", hostile}}.dump();
  const std::string script = data_script("index", json);
  for (const char* part : {"<", ">", "&", "\xe2\x80\xa8", "\xe2\x80\xa9"})
    CHECK(script.find(part) == std::string::npos);
  CHECK(std::count(script.begin(), script.end(), '\n') == 1);
  const nlohmann::json arguments = arguments_of(script);
  CHECK(arguments[0] == "index");
  CHECK(nlohmann::json::parse(arguments[1].get<std::string>())["__proto__"] == hostile);
}

TEST_CASE("any bytes are written as text that is read back") {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> byte(0, 255);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes(static_cast<std::size_t>(round % 40), '\0');
    for (char& character : bytes) character = static_cast<char>(byte(random));
    const std::string json =
        nlohmann::json(bytes).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    const std::string script = data_script("index", json);
    CHECK(script.find('<') == std::string::npos);
    CHECK(arguments_of(script)[1] == json);
    PageSink sink;
    REQUIRE(sink.put("index", json));
    CHECK(sink.data().find('<') == std::string::npos);
    CHECK(nlohmann::json::parse(sink.data())["index"] == json);
  }
}

TEST_CASE("a folder has one script for each part, and a page has all parts") {
  const testing::TemporaryFolder folder;
  FolderSink files(folder.path());
  PageSink page;
  for (DataSink* sink : {static_cast<DataSink*>(&files), static_cast<DataSink*>(&page)}) {
    REQUIRE(sink->put("index", R"({"groups":[]})"));
    REQUIRE(sink->put("attempts-0", "[]"));
  }
  std::ifstream file(folder.path() / "data/attempts-0.js");
  std::ostringstream text;
  text << file.rdbuf();
  CHECK(text.str() == "assayData(\"attempts-0\",\"[]\");\n");
  CHECK(page.data() == R"({"index":"{\"groups\":[]}","attempts-0":"[]"})");
}
