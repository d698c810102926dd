// Tests which source the arguments of a call name, with a scripted JobService and a real folder.
#include "tools/call/source_arguments.h"

#include <filesystem>
#include <optional>
#include <string>

#include "tests/catch.h"
#include "tests/tools/empty_services.h"
#include "tests/tools/fixture.h"
#include "tools/model/source_folder.h"

namespace assay::tools {
namespace {

using nlohmann::json;
using testing::has;

const Principal kAlice{.name = "alice"};

/// A service with one job, "job_1" of alice.
class OneJob final : public NoJobs {
 public:
  Result<JobSource> source(const Principal& principal, const std::string& job) override {
    if (principal.name != "alice" || job != "job_1")
      return fail(ErrorCode::not_found, "unknown job");
    return JobSource{.text = "a = 1\nb = 2\nb = 2\n", .language = language};
  }
  std::string language = "python";
};

struct Bench {
  testing::TemporaryFolder folder;
  testing::TemporaryCatalog catalog;
  NoRuns runs;
  OneJob jobs;
  NoArtifacts artifacts;
  std::optional<SourceFolder> allowed;

  Services services() {
    return {.catalog = *catalog,
            .runs = runs,
            .jobs = jobs,
            .artifacts = artifacts,
            .source_folder = allowed ? &*allowed : nullptr};
  }
  void allow() { allowed = std::move(*SourceFolder::open(folder.path())); }
  /// Returns the source and its language, such as "python|x = 1", or the error's message.
  std::string text(const json& arguments, const Principal& principal = kAlice) {
    ArgumentReader reader(arguments);
    const auto parsed = reader.result(SourceArguments::read(reader));
    if (!parsed) return parsed.error().message;
    const auto source = source_text(services(), *parsed, principal);
    return source ? source->language + "|" + source->text : source.error().message;
  }
};

std::string edit(const std::string& search, const std::string& replace) {
  return "<<<<<<< SEARCH\n" + search + "=======\n" + replace + ">>>>>>> REPLACE\n";
}

}  // namespace

TEST_CASE("a call names exactly one source") {
  Bench bench;
  CHECK(bench.text({{"code", "x = 1"}}) == "|x = 1");
  CHECK(bench.text({{"source", "job_1"}}) == "python|a = 1\nb = 2\nb = 2\n");
  CHECK(bench.text({{"source", "job_1"}, {"edits", edit("a = 1\n", "a = 3\n")}}) ==
        "python|a = 3\nb = 2\nb = 2\n");
  CHECK(has(bench.text(json::object()), "the source is missing; valid: one of `code`"));
  CHECK(has(bench.text({{"code", "x"}, {"source", "job_1"}}), "there are several sources"));
  CHECK(has(bench.text({{"code", "x"}, {"path", "a.py"}}), "there are several sources"));
  CHECK(has(bench.text({{"code", "x"}, {"edits", edit("x\n", "y\n")}}), "`edits` needs `source`"));
  CHECK(
      has(bench.text({{"path", "a.py"}, {"edits", edit("x\n", "y\n")}}), "`edits` needs `source`"));
  CHECK(has(bench.text({{"edits", edit("x\n", "y\n")}}), "the source is missing"));
  CHECK(has(bench.text({{"source", 1}}), "`source` must be a string"));
}

TEST_CASE("the language of an earlier call and of a .cu file is taken over") {
  Bench bench;
  bench.jobs.language = "cuda";
  CHECK(bench.text({{"source", "job_1"}}) == "cuda|a = 1\nb = 2\nb = 2\n");
  bench.allow();
  testing::write_file(bench.folder.path() / "k.cu", "/* k */\n");
  testing::write_file(bench.folder.path() / "k.py", "k = 1\n");
  CHECK(bench.text({{"path", "k.cu"}}) == "cuda|/* k */\n");
  CHECK(bench.text({{"path", "k.py"}}) == "|k = 1\n");
}

TEST_CASE("edits that do not fit name the place, and say that nothing was lost") {
  Bench bench;
  const auto why = [&](const std::string& edits) {
    return bench.text({{"source", "job_1"}, {"edits", edits}});
  };
  CHECK(has(why(edit("a = 2\n", "")), "`edits`: edit 1 matches nothing: no line is 'a = 2'"));
  CHECK(has(why(edit("b = 2\n", "")), "edit 1 matches 2 places (lines 2 and 3)"));
  CHECK(has(why(edit("a = 1\n", "c\n") + edit("a = 1\n", "d\n")), "edit 2 matches nothing"));
  CHECK(has(why(edit("a = 1\n", "c\n") + edit("a = 1\n", "d\n")),
            "No edit was applied, and nothing was charged; `source` stays valid"));
  CHECK(has(why("a = 3"), "there is no edit; an edit is a line '<<<<<<< SEARCH'"));
  CHECK(has(why(""), "there is no edit"));
  CHECK(has(why("<<<<<<< SEARCH\na = 1\n"), "does not end with '>>>>>>> REPLACE'"));
  std::string many;
  for (std::size_t i = 0; i <= kMostEdits; ++i) many += edit("a = 1\n", "a = 1\n");
  CHECK(has(why(many), "there are 101 edits; the limit is 100"));
  CHECK(has(why(std::string(2 << 20, '#')), "edits has 2097152 bytes; the limit is 1048576"));
}

TEST_CASE("an edited source must be a source") {
  Bench bench;
  const std::string all = "a = 1\nb = 2\nb = 2\n";
  CHECK(has(bench.text({{"source", "job_1"}, {"edits", edit(all, "")}}), "the source is empty"));
  CHECK(has(bench.text({{"source", "job_1"}, {"edits", edit(all, "\xff\n")}}), "not UTF-8"));
  const std::string large(1 << 20, '#');
  CHECK(has(bench.text({{"source", "job_1"}, {"edits", edit("a = 1\n", large)}}),
            "bytes; the limit is 1048576"));
  const std::string nearly((1 << 20) - 60, '#');
  CHECK(has(bench.text({{"source", "job_1"}, {"edits", edit("a = 1\n", nearly + "\n")}}), "###"));
}

TEST_CASE("a handle of another principal, and one that does not exist, get the same answer") {
  Bench bench;
  const std::string unknown = bench.text({{"source", "job_2"}});
  CHECK(has(unknown, "`source`: unknown job"));
  CHECK(bench.text({{"source", "job_1"}}, {.name = "bob"}) == unknown);
}

TEST_CASE("a server without a folder reads no file") {
  Bench bench;
  testing::write_file(bench.folder.path() / "a.py", "a = 1\n");
  const std::string path = (bench.folder.path() / "a.py").string();
  CHECK(has(bench.text({{"path", path}}), "this server reads no files"));
  CHECK_FALSE(SourceArguments::properties(bench.services(), "code").contains("path"));
  bench.allow();
  CHECK(bench.text({{"path", path}}) == "|a = 1\n");
  CHECK(SourceArguments::properties(bench.services(), "code").contains("path"));
}

TEST_CASE("a file that is no source is refused") {
  Bench bench;
  bench.allow();
  const auto why = [&](const std::string& bytes) {
    testing::write_file(bench.folder.path() / "a.py", bytes);
    return bench.text({{"path", "a.py"}});
  };
  CHECK(has(why(""), "the file is empty"));
  CHECK(has(why(" \n"), "the file is empty"));
  CHECK(has(why(std::string("a\0b", 3)), "the file is binary"));
  CHECK(has(why("a = '\xe9'\n"), "the file is not UTF-8"));
  CHECK(has(why(std::string((1 << 20) + 1, '#')), "larger than 1048576 bytes"));
  CHECK(has(bench.text({{"path", "../x"}}), "leads out of the folder"));
}

}  // namespace assay::tools
