#include "server/plan_text/plan_source.h"

#include <unistd.h>

#include <fstream>

#include "server/app/exit_status.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/plan_writer.h"

using namespace assay;
using namespace assay::server;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() : path(fs::temp_directory_path() / ("assay-plans-" + std::to_string(::getpid()))) {
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return (path / name).string();
  }
  fs::path path;
};

}  // namespace

TEST_CASE("a plan is read from its file") {
  const Folder folder;
  const sandbox::Plan plan = sandbox::test::rich_plan();
  const auto stored = read_plan(folder.file("a.plan", encode_plan(plan)), "no.db");
  REQUIRE(stored);
  CHECK(stored->plan == plan);
  CHECK(stored->bytes == encode_plan(plan));
}

TEST_CASE("a file that is not a plan is refused with the byte and an exit status") {
  const Folder folder;
  const std::string whole = encode_plan(sandbox::test::rich_plan());
  const auto refused = [&](const std::string& where) {
    const auto stored = read_plan(where, folder.path / "no.db");
    REQUIRE_FALSE(stored);
    return std::pair(stored.error().message, status_of_plan_error(stored.error()));
  };
  const auto cut = refused(folder.file("cut.plan", whole.substr(0, whole.size() / 2)));
  CHECK(cut.first.find("at byte ") != std::string::npos);
  CHECK(cut.second == kBadData);
  const auto other = refused(folder.file("other.plan", "{}"));
  CHECK(other.first.find("at byte 0") != std::string::npos);
  CHECK(other.second == kBadData);
  CHECK(refused((folder.path / "none.plan").string()).second == kNoInput);
  CHECK(refused("artifact_0123456789abcdefghjkmnpqrs").first.find("no store") != std::string::npos);
}

using namespace assay;
using namespace assay::server;

namespace {

operators::Operator vector_add() {
  operators::Operator op;
  op.name = "vector_add";
  for (const char* name : {"x", "y"})
    op.arguments.push_back({.name = name,
                            .type = operators::ArgumentType::tensor,
                            .dtype = "case",
                            .shape = {"2*n"},
                            .role = {},
                            .description = ""});
  op.arguments.push_back({.name = "scale",
                          .type = operators::ArgumentType::floating,
                          .dtype = "",
                          .shape = {},
                          .role = {},
                          .description = ""});
  op.cases = {{.id = "small",
               .hidden = false,
               .interpreter = true,
               .dtype = "float32",
               .axes = {{"n", 32}},
               .distribution = "normal"},
              {.id = "half",
               .hidden = true,
               .interpreter = true,
               .dtype = "float16",
               .axes = {{"n", 1000}},
               .distribution = "normal"},
              {.id = "float",
               .hidden = false,
               .interpreter = true,
               .dtype = "float32",
               .axes = {{"n", 500}},
               .distribution = "normal"}};
  return op;
}

}  // namespace

TEST_CASE("a plan belongs to the case whose tensors have the sizes of its inputs") {
  CHECK(case_of_plan(vector_add(), sandbox::test::vector_add_plan(64)).value() == "small");
}

TEST_CASE("of several cases that fit, a plan belongs to the public one") {
  CHECK(case_of_plan(vector_add(), sandbox::test::vector_add_plan(1000)).value() == "float");
}

TEST_CASE("sizes that fit no case or several cases are an error that names the cases") {
  const auto none = case_of_plan(vector_add(), sandbox::test::vector_add_plan(65));
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("no case") != std::string::npos);
  CHECK(none.error().message.find("small, half, float") != std::string::npos);
  operators::Operator open = vector_add();
  for (operators::Case& one : open.cases) one.hidden = false;
  const auto several = case_of_plan(open, sandbox::test::vector_add_plan(1000));
  REQUIRE_FALSE(several);
  CHECK(several.error().message.find("half, float") != std::string::npos);
  CHECK(several.error().message.find("small") == std::string::npos);
}

TEST_CASE("a plan's case can be named, and a file's name may have an equals sign") {
  const operators::Operator op = vector_add();
  const NamedPlan named = named_plan(op, "half=plans/a=b.plan");
  CHECK((named.case_id == "half" && named.where == "plans/a=b.plan"));
  const NamedPlan file = named_plan(op, "other=plans/half.plan");
  CHECK((file.case_id.empty() && file.where == "other=plans/half.plan"));
  const NamedPlan plain = named_plan(op, "artifact_0123456789");
  CHECK((plain.case_id.empty() && plain.where == "artifact_0123456789"));
}
