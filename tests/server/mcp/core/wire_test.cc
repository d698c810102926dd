// Compares the server's responses with the golden files tests/wire/*.json. If ASSAY_APPROVE=1 is
// set, the current responses replace the golden responses.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// Returns the answer of a fresh server to the bytes of a message, or null when there is none.
json answer(const std::string& bytes) {
  const auto server = make_server();
  auto message = parse_message(bytes);
  if (!message) return message.error();
  const Outcome outcome = server->dispatcher().handle(*message, {});
  return outcome.response ? json::parse(dump(*outcome.response)) : json(nullptr);
}

}  // namespace

TEST_CASE("wire: golden files") {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(ASSAY_SOURCE_DIR) / "tests/wire")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 20);
  const bool approve = std::getenv("ASSAY_APPROVE") != nullptr;
  for (const fs::path& file : files) {
    INFO(file.string());
    std::ifstream in(file);
    nlohmann::ordered_json golden = nlohmann::ordered_json::parse(in);
    // A golden file has the message in "request". If the message is not JSON, the file has its
    // bytes in "raw".
    const std::string bytes =
        golden.contains("raw") ? golden["raw"].get<std::string>() : golden["request"].dump();
    const json now = answer(bytes);
    if (approve) {
      golden["response"] = nlohmann::ordered_json::parse(now.dump());
      std::ofstream(file) << golden.dump(2) << "\n";
    }
    REQUIRE(golden.contains("response"));
    CHECK(json::parse(golden["response"].dump()) == now);
  }
}

}  // namespace assay::mcp
