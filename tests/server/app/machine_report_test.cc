#include "server/app/machine_report.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;
namespace fs = std::filesystem;

namespace {

struct ReportFolder {
  ReportFolder() { fs::create_directories(path); }
  ~ReportFolder() { fs::remove_all(path); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
  std::string at(const std::string& name) const { return (path / name).string(); }
  fs::path path = fs::temp_directory_path() / ("assay-report-" + std::to_string(::getpid()));
};

}  // namespace

TEST_CASE("a machine's report has the doctor's answer, AMD's tables and the results") {
  const ReportFolder folder;
  const std::string results = folder.file("oracles.json", R"({"wall_s": 3})");
  REQUIRE(write_machine_report(folder.at("report.json"), {{"assay", "1"}}, {results}));
  std::ifstream written(folder.at("report.json"));
  const nlohmann::json report = nlohmann::json::parse(written);
  CHECK(report["format"] == kMachineReportFormat);
  CHECK(report["doctor"]["assay"] == "1");
  CHECK(report["amd"]["compute"]["path"] == "/dev/kfd");
  CHECK(report["amd"]["variables"].contains("HIP_VISIBLE_DEVICES"));
  CHECK(report["results"]["oracles.json"]["wall_s"] == 3);
}

TEST_CASE("a machine's report has `~` for home folders, except in the results") {
  CHECK(without_homes("/home/alice/rocm/bin/python", {}) == "~/rocm/bin/python");
  CHECK(without_homes("open /data/home/alice/x: no; open '/Users/bob'", {}) ==
        "open ~/x: no; open '~'");
  CHECK(without_homes("/home/a:/home/b/bin", {}) == "~:~/bin");
  CHECK(without_homes("/nfs/u/alice/x, /nfs/u/alice2/x", {"/nfs/u/alice/"}) ==
        "~/x, /nfs/u/alice2/x");
  for (const char* same : {"", "/usr/bin/python", "/home/", "/home", "/root/x"})
    CHECK(without_homes(same, {"/", "", "/nfs/u/alice"}) == same);
  const ReportFolder folder;
  const std::string results = folder.file("r.json", R"({"path": "/home/alice/x"})");
  const nlohmann::json doctor = {{"python", {{"path", "/home/alice/bin/python"}}},
                                 {"layers", {{{"detail", "no /home/alice/x"}}}}};
  REQUIRE(write_machine_report(folder.at("report.json"), doctor, {results}));
  std::ifstream written(folder.at("report.json"));
  const nlohmann::json report = nlohmann::json::parse(written);
  CHECK(report["doctor"]["python"]["path"] == "~/bin/python");
  CHECK(report["doctor"]["layers"][0]["detail"] == "no ~/x");
  CHECK(report["results"]["r.json"]["path"] == "/home/alice/x");
}

TEST_CASE("AMD's GPUs and their problem are in the report") {
  sandbox::AmdMachine machine;
  machine.compute = "/dev/kfd";
  machine.has_compute = machine.compute_accessible = true;
  machine.gpus.push_back({"hip:gfx942", "/dev/null", false});
  const nlohmann::json found = amd_json(machine);
  CHECK(found["gpus"][0]["target"] == "hip:gfx942");
  CHECK(found["problem"].get<std::string>().find("may not open /dev/null") != std::string::npos);
}

TEST_CASE("results that are missing or no JSON object are refused, and no report is written") {
  const ReportFolder folder;
  const std::string report = folder.at("report.json");
  CHECK(write_machine_report(report, {}, {folder.at("none.json")}).error().code ==
        ErrorCode::not_found);
  for (const char* text : {"", "[1]", "{", "no"})
    CHECK(write_machine_report(report, {}, {folder.file("r.json", text)}).error().code ==
          ErrorCode::invalid_argument);
  CHECK_FALSE(fs::exists(report));
  CHECK(write_machine_report(folder.at("no/such/report.json"), {}, {}).error().code ==
        ErrorCode::io);
}
