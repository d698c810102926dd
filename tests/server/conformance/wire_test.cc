// Compares the server's responses with the golden files of the conformance fixtures,
// tests/wire/conformance/*.json. If ASSAY_APPROVE=1 is set, the current responses replace the
// golden responses. Each pair of request and response uses a fresh server and no session.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/json.h"
#include "server/conformance/fixtures.h"
#include "server/mcp/core/dispatch.h"
#include "tests/catch.h"

namespace assay::conformance {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json answer(const json& request) {
  const auto server = make_conformance_server();
  if (!server) FAIL(server.error().message);
  const auto message = mcp::parse_message(mcp::dump(request));
  REQUIRE(message);
  const mcp::Outcome outcome = (*server)->dispatcher().handle(*message, {});
  return outcome.response ? json::parse(mcp::dump(*outcome.response)) : json(nullptr);
}

}  // namespace

TEST_CASE("wire: golden files of the conformance fixtures") {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(fs::path(ASSAY_SOURCE_DIR) / "tests/wire/conformance"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 30);
  const bool approve = std::getenv("ASSAY_APPROVE") != nullptr;
  for (const fs::path& file : files) {
    INFO(file.string());
    std::ifstream in(file);
    nlohmann::ordered_json golden = nlohmann::ordered_json::parse(in);
    const json now = answer(json::parse(golden["request"].dump()));
    if (approve) {
      golden["response"] = nlohmann::ordered_json::parse(now.dump());
      std::ofstream(file) << golden.dump(2) << "\n";
    }
    REQUIRE(golden.contains("response"));
    CHECK(json::parse(golden["response"].dump()) == now);
  }
}

}  // namespace assay::conformance
