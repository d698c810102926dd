#include "server/store/artifact_quota.h"

#include <string>

#include "tests/catch.h"

namespace assay::server {
namespace {

using sandbox::Artifact;
using sandbox::DropReason;

std::vector<Artifact> sized(const std::vector<std::size_t>& sizes) {
  std::vector<Artifact> artifacts;
  for (const std::size_t size : sizes) artifacts.push_back({"", "", std::string(size, 'x')});
  return artifacts;
}

std::vector<DropReason> reasons(const ArtifactChoice& choice) {
  std::vector<DropReason> found;
  for (const sandbox::DroppedArtifact& dropped : choice.dropped) found.push_back(dropped.reason);
  return found;
}

}  // namespace

TEST_CASE("the first limit that an artifact is above is the reason to drop it") {
  const ArtifactLimits limits = {
      .artifact_bytes = 40, .job_bytes = 100, .owner_bytes = 200, .store_bytes = 1'000};
  const ArtifactChoice of_job = choose_artifacts(sized({41, 40, 40, 40, 20}), limits, {});
  CHECK(reasons(of_job) == std::vector{DropReason::too_large, DropReason::job_quota});
  CHECK(of_job.kept_bytes == 100);
  CHECK(of_job.kept.size() == 3);
  CHECK(reasons(choose_artifacts(sized({40}), limits, {.scored = true, .owner_bytes = 161})) ==
        std::vector{DropReason::owner_quota});
  CHECK(choose_artifacts(sized({40}), limits, {.scored = true, .owner_bytes = 160}).kept.size() ==
        1);
  CHECK(reasons(choose_artifacts(sized({40}), limits, {.scored_bytes = 961})) ==
        std::vector{DropReason::store_quota});
}

TEST_CASE("older practice of the same owner leaves no artifact out") {
  const ArtifactLimits limits = {.owner_bytes = 100};
  CHECK(choose_artifacts(sized({100}), limits, {.scored = false, .owner_bytes = 100})
            .dropped.empty());
}

TEST_CASE("kind and name count, and a long name is cut in what the verdict says") {
  const Artifact artifact = {"ptx", std::string(1'000, 'n'), "12345"};
  CHECK(counted_bytes(artifact) == 1'008);
  const sandbox::DroppedArtifact dropped = dropped_artifact(artifact, DropReason::too_large);
  CHECK(dropped.bytes == 5);
  CHECK(dropped.name.size() == 200);
}

}  // namespace assay::server
