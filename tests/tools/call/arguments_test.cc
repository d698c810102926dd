#include "tools/call/arguments.h"

#include "tests/catch.h"

namespace assay::tools {
namespace {

using nlohmann::json;

enum class Color { red, green };

struct Arguments {
  std::string name = "default";
  std::int64_t count = 3;
  double share = 0.5;
  bool loud = false;
  std::vector<std::string> list = {"a"};
  std::optional<std::int64_t> level;
  Color color = Color::red;
  Format format = Format::concise;

  static Result<Arguments> parse(const json& arguments) {
    Arguments parsed;
    ArgumentReader reader(arguments);
    reader.read("name", parsed.name);
    reader.read("count", parsed.count);
    reader.read("share", parsed.share);
    reader.read("loud", parsed.loud);
    reader.read("list", parsed.list);
    reader.read("level", parsed.level);
    const auto color_from = [](const std::string& text) -> std::optional<Color> {
      if (text == "red") return Color::red;
      if (text == "green") return Color::green;
      return std::nullopt;
    };
    reader.read_name("color", parsed.color, color_from, {"red", "green"});
    reader.read("response_format", parsed.format);
    return reader.result(std::move(parsed));
  }
};

std::string message_of(const json& arguments) {
  const auto parsed = Arguments::parse(arguments);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == ErrorCode::invalid_argument);
  return parsed.error().message;
}

}  // namespace

TEST_CASE("missing arguments keep their defaults") {
  const auto parsed = Arguments::parse(json::object());
  REQUIRE(parsed);
  CHECK(parsed->name == "default");
  CHECK(parsed->count == 3);
  CHECK(parsed->list == std::vector<std::string>{"a"});
  CHECK_FALSE(parsed->level);
  CHECK(parsed->color == Color::red);
  CHECK(parsed->format == Format::concise);
}

TEST_CASE("given arguments are read") {
  const auto parsed = Arguments::parse({{"name", "x"},
                                        {"count", 7},
                                        {"share", 1},
                                        {"loud", true},
                                        {"list", {"b", "c"}},
                                        {"level", 0},
                                        {"color", "green"},
                                        {"response_format", "detailed"}});
  REQUIRE(parsed);
  CHECK(parsed->name == "x");
  CHECK(parsed->count == 7);
  CHECK(parsed->share == 1.0);
  CHECK(parsed->loud);
  CHECK(parsed->list == std::vector<std::string>{"b", "c"});
  CHECK(parsed->level == 0);
  CHECK(parsed->color == Color::green);
  CHECK(parsed->format == Format::detailed);
}

TEST_CASE("an error names the argument and the valid values; only the first error is kept") {
  CHECK(message_of({{"name", 1}}) == "`name` must be a string");
  CHECK(message_of({{"count", 1.5}, {"loud", 1}}) == "`count` must be an integer");
  CHECK(message_of({{"list", {"a", 1}}}) == "`list` must be a list of strings");
  CHECK(message_of({{"color", "blue"}}) == "unknown color 'blue'; valid: red, green");
  CHECK(message_of({{"response_format", "long"}}) ==
        "unknown response_format 'long'; valid: concise, detailed");
}

TEST_CASE("a slow tool refuses bad arguments at once; the rest of the call is its work") {
  mcp::Tool tool;
  set_slow_handler<Arguments>(tool, [](const Arguments& arguments, const mcp::RequestContext&) {
    mcp::ToolResult answer;
    answer.text = arguments.name;
    return answer;
  });
  CHECK(tool.task_support == mcp::TaskSupport::optional);
  mcp::RequestContext context;
  CHECK(tool.call({{"name", 1}}, context).is_error);
  const mcp::ToolResult begun = tool.call({{"name", "x"}}, context);
  REQUIRE(begun.work);
  CHECK(begun.work(context).text == "x");
}

}  // namespace assay::tools
