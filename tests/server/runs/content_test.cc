// Tests resources and prompts with the real services and the fake device. Each text must be a
// tool's answer or a file of the catalog, and each error must keep its code.
// tests/clients/test_content.py reads resources and prompts with official clients.
#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"
#include "tools/resources/resources.h"

namespace assay::tools {
namespace {

using mcp::Variables;
using testing::has;
using testing::ServicesFixture;

const std::vector<operators::Guide> kGuides = {
    {"triton-pitfalls", "Triton pitfalls", "# Triton pitfalls\nMask.\n"}};

class Content {
 public:
  Result<std::string> read(const std::string& uri_template, const Variables& variables) const {
    for (const mcp::ResourceTemplate& one : resources.templates) {
      if (one.uri_template != uri_template) continue;
      mcp::RequestContext context;
      return text_of(one.read(uri_template, variables, context));
    }
    throw std::runtime_error("no template " + uri_template);
  }
  static Result<std::string> read(const mcp::Resource& resource) {
    mcp::RequestContext context;
    return text_of(resource.read(context));
  }
  const mcp::Prompt& prompt(const std::string& name) const {
    for (const mcp::Prompt& one : prompts_) {
      if (one.name == name) return one;
    }
    throw std::runtime_error("no prompt " + name);
  }
  Result<std::string> message(const std::string& name, const Variables& values) const {
    mcp::RequestContext context;
    const auto result = prompt(name).get(values, context);
    if (!result) return fail(result.error());
    return result->messages.at(0).content.at("text").get<std::string>();
  }

 private:
  static Result<std::string> text_of(const Result<mcp::ReadResult>& result) {
    if (!result) return fail(result.error());
    return result->contents.at(0).bytes;
  }

  ServicesFixture fixture_;
  const Services services_ = fixture_.tool_services();
  const std::vector<mcp::Prompt> prompts_ = make_prompts(services_, kGuides);

 public:
  const ResourceList resources = make_resources(services_, kGuides);
};

}  // namespace

TEST_CASE("a missing resource keeps the code of the tool's error") {
  const Content content;
  const auto code_of = [&](const char* uri, const Variables& variables) {
    const auto text = content.read(uri, variables);
    REQUIRE_FALSE(text);
    return text.error().code;
  };
  CHECK(code_of("operator://{name}/spec", {{"name", "vectoradd"}}) == ErrorCode::not_found);
  CHECK(code_of("operator://{name}/reference", {{"name", "vectoradd"}}) == ErrorCode::not_found);
  CHECK(code_of("guide://{topic}", {{"topic", "x"}}) == ErrorCode::not_found);
  CHECK(code_of("run://{run}/scorecard", {{"run", new_handle("run")}}) == ErrorCode::not_found);
  CHECK(code_of("artifact://{id}", {{"id", "x"}}) == ErrorCode::invalid_argument);
  CHECK(content.read("guide://{topic}", {{"topic", "x"}}).error().message ==
        "unknown topic; valid: triton-pitfalls");
}

TEST_CASE("every resource can be read, and none shows hidden cases") {
  const Content content;
  std::vector<Result<std::string>> texts;
  for (const mcp::Resource& resource : content.resources.resources)
    texts.push_back(Content::read(resource));
  CHECK(texts.size() == 1);  // the guide; operators are reached through templates
  for (const char* uri : {"operator://{name}/spec", "operator://{name}/reference"})
    for (const char* name : {"vector_add", "row_sum"})
      texts.push_back(content.read(uri, {{"name", name}}));
  for (const Result<std::string>& text : texts) {
    REQUIRE(text);
    INFO(*text);
    CHECK_FALSE(text->empty());
    for (const char* secret :
         {"secret_", "cancellation", "777777", "888888", "ORACLE_SECRET", "def inputs"})
      CHECK_FALSE(has(*text, secret));
  }
}

TEST_CASE("prompts refuse what their tools would refuse") {
  const Content content;
  const auto refusal = [&](const char* name, const Variables& values) {
    return content.message(name, values).error().message;
  };
  CHECK(has(refusal("write_kernel", {{"operator", "vectoradd"}}), "vector_add"));
  CHECK(
      has(refusal("write_kernel", {{"operator", "vector_add"}, {"device", "tpu"}}), "valid: fake"));
  CHECK(has(refusal("fix_kernel", {{"operator", "vector_add"}, {"code", " "}}), "code is empty"));
  CHECK(has(refusal("fix_kernel", {{"operator", "vector_add"}, {"code", "x"}, {"job", "job_x"}}),
            "job"));
  CHECK(has(
      refusal("fix_kernel",
              {{"operator", "vector_add"}, {"code", "x"}, {"verdict", std::string(9'000, 'v')}}),
      "8000"));
}

TEST_CASE("a prompt whose guide is missing omits the guide") {
  const Content content;
  const auto faster =
      content.message("optimize_kernel", {{"operator", "vector_add"}, {"code", "x = 1"}});
  REQUIRE(faster);
  CHECK(has(*faster, "```python\nx = 1\n```"));
  CHECK_FALSE(has(*faster, "# Memory"));
}

TEST_CASE("completion suggests the public cases of the chosen operator, never hidden ones") {
  const Content content;
  for (const mcp::PromptArgument& argument : content.prompt("optimize_kernel").arguments) {
    if (argument.name != "case") continue;
    CHECK(argument.complete("", {}).empty());
    CHECK(argument.complete("", {{"operator", "vector_add"}}) ==
          std::vector<std::string>{"small", "awkward", "large"});
  }
}

}  // namespace assay::tools
