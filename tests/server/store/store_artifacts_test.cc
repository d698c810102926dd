// Tests that artifacts in the store can be read in slices.
#include <string>

#include "server/store/store.h"
#include "tests/catch.h"
#include "tests/server/store/stored_job.h"
#include "tests/tools/fixture.h"

namespace assay::server {

using namespace stored;
using testing::TemporaryFolder;

TEST_CASE("artifacts are read in slices, byte for byte") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  const sandbox::Job job = job_of();
  REQUIRE((*store)->accept(job, "cpu", {}, 1)->accepted());
  const std::string bytes(
      "\0a\xff"
      "b\n",
      5);
  sandbox::Verdict verdict = verdict_of(job);
  verdict.artifacts = {{"plan", "small", bytes}, {"log", "empty", ""}};
  REQUIRE((*store)->finish(job.id, tools::JobState::finished, std::move(verdict), false, 2));
  const auto list = (*store)->list_artifacts(job.id);
  REQUIRE(list->size() == 2);
  CHECK((*list)[0].second == "plan small");
  const auto slice = (*store)->read_artifact((*list)[0].first, "", 1, 3);
  REQUIRE(slice);
  CHECK(slice->bytes == bytes.substr(1, 3));
  CHECK(slice->total_bytes == 5);
  CHECK((*store)->read_artifact((*list)[0].first, "", 99, 3)->bytes.empty());
  CHECK((*store)->read_artifact((*list)[1].first, "", 0, 10)->bytes.empty());
  CHECK((*store)->read_artifact("artifact_3", "", 0, 1).error().code == ErrorCode::not_found);
}

}  // namespace assay::server
