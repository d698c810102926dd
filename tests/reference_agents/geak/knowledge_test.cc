#include "reference_agents/geak/knowledge.h"

#include <string>
#include <vector>

#include "base/handle.h"
#include "tests/catch.h"
#include "tests/reference_agents/core/fakes.h"

using namespace assay;
using namespace assay::agents;
using namespace assay::agents::testing;

namespace {

const std::vector<std::string> kListed = {"operator://f/spec", "guide://atomics",
                                          "guide://gluon",     "guide://hopper-facts",
                                          "guide://attention", "guide://reductions-and-scans",
                                          "guide://tlx",       "guide://triton-pitfalls"};

/// A server that has every guide, each of `bytes` bytes.
class Library final : public mcp::Client {
 public:
  Result<std::vector<std::string>> list_tools() override { return std::vector<std::string>{}; }
  Result<mcp::ToolResult> call_tool(const std::string&, const json&, std::int64_t) override {
    return fail(ErrorCode::unavailable, "no tools");
  }
  Result<std::vector<std::string>> list_resources() override { return listed; }
  Result<std::string> read_resource(const std::string& uri) override {
    if (uri == missing) return fail(ErrorCode::not_found, "there is no such guide");
    return "<" + uri + ">" + std::string(bytes, '.');
  }
  std::vector<std::string> listed = kListed;
  std::string missing;
  std::size_t bytes = 10;
};

Result<std::string> knowledge_of(Library& library, const Spec& spec) {
  const auto folder = std::filesystem::temp_directory_path() / new_handle("knowledge_test");
  const SystemClock clock;
  Result<Transcript> transcript = Transcript::open(folder / "f.jsonl", clock);
  REQUIRE(transcript);
  FakeModel model;
  MeteredClient metered(model, std::nullopt, {});
  const AttemptRequest request{.run = "run_1", .operator_name = "f", .step = {}};
  AgentSession bench(library, metered, *transcript, request);
  Result<std::string> knowledge = knowledge_for(bench, spec);
  std::filesystem::remove_all(folder);
  return knowledge;
}

}  // namespace

TEST_CASE(
    "order of guides: dialect, always useful, family, hardware, topics of the specification") {
  const Spec spec{"f", "f", "gluon", "An inclusive Scan of each row"};
  CHECK(guides_for(spec, kListed) ==
        std::vector<std::string>{"guide://gluon", "guide://triton-pitfalls", "guide://hopper-facts",
                                 "guide://reductions-and-scans"});
  CHECK(guides_for({"f", "f", "triton", "nothing", "attention"}, kListed) ==
        std::vector<std::string>{"guide://triton-pitfalls", "guide://attention",
                                 "guide://hopper-facts"});
  CHECK(guides_for({"f", "f", "triton", "nothing"}, kListed) ==
        std::vector<std::string>{"guide://triton-pitfalls", "guide://hopper-facts"});
}

TEST_CASE("knowledge consists of whole guides up to the limit, and is empty without guides") {
  const Spec spec{"f", "f", "triton", "attention"};
  Library library;
  const Result<std::string> all = knowledge_of(library, spec);
  REQUIRE(all);
  CHECK(all->find("<guide://triton-pitfalls>") < all->find("<guide://attention>"));
  CHECK(all->find("operator://") == std::string::npos);
  library.bytes = kKnowledgeBytes / 2 + 1;
  const Result<std::string> first = knowledge_of(library, spec);
  CHECK(first->find("<guide://triton-pitfalls>") != std::string::npos);
  CHECK(first->find("<guide://hopper-facts>") == std::string::npos);
  library.bytes = 10;
  library.missing = "guide://triton-pitfalls";
  CHECK(knowledge_of(library, spec)->find("<guide://hopper-facts>") != std::string::npos);
  library.listed.clear();
  CHECK(knowledge_of(library, spec)->empty());
}
