// Resources and prompts over the real services and the fake device: each text is what a tool
// answers or a file holds, and errors keep their code. tests/clients/test_content.py reads them
// through official clients.
#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"
#include "tools/resources/prompts.h"
#include "tools/resources/resources.h"

namespace assay::tools {
namespace {

using testing::ServicesFixture;

const std::vector<operators::Guide> kGuides = {
    {"triton-pitfalls", "Triton pitfalls", "# Triton pitfalls\nMask.\n"}};

class Content {
 public:
  Content()
      : services_(fixture->for_tools()),
        resources(make_resources(services_, kGuides)),
        prompts(make_prompts(services_, kGuides)) {}

  const ResourceFamily& family(const std::string& uri_template) const {
    for (const ResourceFamily& one : resources) {
      if (one.uri_template == uri_template) return one;
    }
    throw std::runtime_error("no family " + uri_template);
  }
  const Prompt& prompt(const std::string& name) const {
    for (const Prompt& one : prompts) {
      if (one.name == name) return one;
    }
    throw std::runtime_error("no prompt " + name);
  }

  ServicesFixture fixture;

 private:
  Services services_;

 public:
  std::vector<ResourceFamily> resources;
  std::vector<Prompt> prompts;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a resource that is not there keeps the code of the tool's error") {
  const Content content;
  const auto code_of = [&](const char* uri, const Values& values) {
    const auto text = content.family(uri).read(values);
    REQUIRE_FALSE(text);
    return text.error().code;
  };
  CHECK(code_of("operator://{name}/spec", {{"name", "vectoradd"}}) == ErrorCode::not_found);
  CHECK(code_of("operator://{name}/reference", {{"name", "vectoradd"}}) == ErrorCode::not_found);
  CHECK(code_of("guide://{topic}", {{"topic", "x"}}) == ErrorCode::not_found);
  CHECK(code_of("run://{run}/scorecard", {{"run", new_handle("run")}}) == ErrorCode::not_found);
  CHECK(code_of("artifact://{id}", {{"id", "x"}}) == ErrorCode::invalid_argument);
  CHECK(content.family("guide://{topic}").read({{"topic", "x"}}).error().message ==
        "there is no guide of this topic; valid: triton-pitfalls");
}

TEST_CASE("everything listed can be read, and shows nothing of the hidden cases") {
  const Content content;
  std::size_t listed = 0;
  for (const ResourceFamily& family : content.resources) {
    for (const ListedResource& one : family.listed) {
      ++listed;
      const auto text = family.read(one.values);
      REQUIRE(text);
      for (const char* secret :
           {"secret_", "cancellation", "777777", "888888", "ORACLE_SECRET", "def inputs"})
        CHECK_FALSE(has(*text, secret));
    }
  }
  CHECK(listed == 2 * 2 + 1);
}

TEST_CASE("prompts refuse what their tools would refuse") {
  const Content content;
  const auto message = [&](const char* name, const Values& values) {
    return content.prompt(name).text(values).error().message;
  };
  CHECK(has(message("write_kernel", {{"operator", "vectoradd"}}), "vector_add"));
  CHECK(
      has(message("write_kernel", {{"operator", "vector_add"}, {"device", "tpu"}}), "valid: fake"));
  CHECK(has(message("fix_kernel", {{"operator", "vector_add"}, {"code", " "}}), "code is empty"));
  CHECK(has(message("fix_kernel", {{"operator", "vector_add"}, {"code", "x"}, {"job", "job_x"}}),
            "job"));
  CHECK(has(
      message("fix_kernel",
              {{"operator", "vector_add"}, {"code", "x"}, {"verdict", std::string(9'000, 'v')}}),
      "8000"));
}

TEST_CASE("a prompt for a guide that is not there does without it") {
  const Content content;
  const auto faster =
      content.prompt("optimize_kernel").text({{"operator", "vector_add"}, {"code", "x = 1"}});
  REQUIRE(faster);
  CHECK(has(*faster, "```python\nx = 1\n```"));
  CHECK_FALSE(has(*faster, "# Memory"));
}

TEST_CASE("cases are suggested for the operator that is filled in, hidden ones never") {
  const Content content;
  for (const PromptArgument& argument : content.prompt("optimize_kernel").arguments) {
    if (argument.name != "case") continue;
    CHECK(argument.suggest({}).empty());
    CHECK(argument.suggest({{"operator", "vector_add"}}) ==
          std::vector<std::string>{"small", "awkward", "large"});
  }
}

}  // namespace assay::tools
