#include "sandbox/pool/versions.h"

#include "tests/catch.h"

using namespace assay::sandbox;
using nlohmann::json;

TEST_CASE("versions need torch, triton and python, but not NVRTC") {
  const json without = {{"torch", "2.9.1"},
                        {"triton", "3.5.1"},
                        {"python", "3.11.2"},
                        {"uncompiled", json::array({"/site/triton"})}};
  HeaderReader in(without, "ready");
  const Versions versions = read_versions(in);
  CHECK(in.status());
  CHECK(versions.torch == "2.9.1");
  CHECK(versions.triton == "3.5.1");
  CHECK(versions.python == "3.11.2");
  CHECK(versions.nvrtc.empty());
  CHECK(versions.uncompiled == std::vector<std::string>{"/site/triton"});
  json zygote = without;
  zygote["nvrtc"] = "13.0";
  HeaderReader other(zygote, "ready");
  CHECK(read_versions(other).nvrtc == "13.0");
  for (const std::string name : {"torch", "triton", "python", "uncompiled"}) {
    json incomplete = without;
    incomplete.erase(name);
    HeaderReader from(incomplete, "ready");
    read_versions(from);
    REQUIRE_FALSE(from.status());
    CHECK(from.status().error().message == "ready: `" + name + "` is missing");
  }
}
