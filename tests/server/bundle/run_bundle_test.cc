#include "server/bundle/run_bundle.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/base64.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/server/bundle/example_bundle.h"

using namespace assay;
using namespace assay::bundle;

namespace {

using nlohmann::json;

/// Changes the payload of a bundle, and returns the error with which it is refused.
Error refused(const std::function<void(json& payload)>& change) {
  json payload = json::parse(payload_of(test::example_bundle()));
  change(payload);
  const auto found = parse_payload(payload.dump());
  REQUIRE_FALSE(found);
  return found.error();
}

}  // namespace

TEST_CASE("a bundle that is written is read back") {
  const RunBundle bundle = test::example_bundle();
  const SigningKey key = SigningKey::parse(test::new_key()).value();
  const std::string file = write_bundle(bundle, key).value();
  const RunBundle found = read_bundle(file).value();
  CHECK(found.run.handle == bundle.run.handle);
  CHECK(found.run.request.model == bundle.run.request.model);
  CHECK(found.run.operators == bundle.run.operators);
  CHECK(found.usage.cost_usd == bundle.usage.cost_usd);
  CHECK(found.fingerprint == fingerprint_of(key.public_key().value()));
  REQUIRE(found.jobs.size() == 1);
  CHECK(found.jobs[0].source == bundle.jobs[0].source);
  CHECK(found.jobs[0].plans == bundle.jobs[0].plans);
  CHECK(found.jobs[0].verdict.outcome == sandbox::Outcome::pass);
  CHECK(found.transcripts.at("vector_add").steps.at(0).text == "<b>here</b>");
  CHECK(payload_of(found) == payload_of(bundle));
}

TEST_CASE("a bundle that was changed after it was signed is refused") {
  const SigningKey key = SigningKey::parse(test::new_key()).value();
  const std::string file = write_bundle(test::example_bundle(), key).value();
  json envelope = json::parse(file);
  std::string payload = base64_decode(envelope["payload"].get<std::string>()).value();
  payload.replace(payload.find("openai"), 6, "other:");
  envelope["payload"] = base64_encode(payload);
  CHECK(read_bundle(envelope.dump()).error().message.find("signature") != std::string::npos);
  // The signature of another key does not fit, nor does another type.
  envelope = json::parse(file);
  const SigningKey other = SigningKey::parse(test::new_key()).value();
  envelope["signatures"][0]["public_key"] = base64_encode(other.public_key().value());
  CHECK_FALSE(read_bundle(envelope.dump()));
  CHECK_FALSE(open_envelope(file, "application/json"));
  for (const std::string text : {"", "{}", "[]", "{\"payloadType\":1}", "\xff\xfe", "null"})
    CHECK(read_bundle(text).error().code == ErrorCode::corrupt);
  std::string deep = "{\"payloadType\":";
  for (int i = 0; i < 200'000; ++i) deep += "[";
  CHECK(read_bundle(deep).error().code == ErrorCode::corrupt);
}

TEST_CASE("only a private Ed25519 key without a password signs") {
  for (const std::string text : {"", "-----BEGIN PRIVATE KEY-----\n", "key"}) {
    const auto key = SigningKey::parse(text);
    REQUIRE_FALSE(key);
    CHECK(key.error().message.find("openssl genpkey -algorithm ed25519") != std::string::npos);
  }
}

TEST_CASE("a payload whose members are missing or contradict each other is refused") {
  for (const char* key : {"format", "assay", "run", "usage", "devices", "jobs"}) {
    INFO(key);
    CHECK(refused([&](json& payload) { payload.erase(key); }).message.find(key) !=
          std::string::npos);
    CHECK(refused([&](json& payload) { payload[key] = 7; }).code == ErrorCode::corrupt);
  }
  for (const char* key : {"job", "operator", "kind", "state", "source", "verdict", "plans"})
    CHECK(refused([&](json& payload) { payload["jobs"][0].erase(key); }).code ==
          ErrorCode::corrupt);
  CHECK(refused([](json& payload) {
          payload["run"]["run"] = "../../etc";
        }).message.find("handle") != std::string::npos);
  CHECK(refused([](json& payload) {
          payload["run"]["operators"] = {"a,b"};
        }).message.find("commas") != std::string::npos);
  CHECK(refused([](json& payload) { payload["run"]["track"] = "easy"; }).message.find("track") !=
        std::string::npos);
  CHECK(refused([](json& payload) { payload["run"]["agent"] = "a\nb"; }).message.find("agent") !=
        std::string::npos);
  CHECK(refused([](json& payload) { payload["run"]["created_unix_ms"] = -1; }).code ==
        ErrorCode::corrupt);
  CHECK(refused([](json& payload) { payload["usage"]["cost_usd"] = -1.0; }).message.find("cost") !=
        std::string::npos);
  CHECK(refused([](json& payload) {
          payload["jobs"].push_back(payload["jobs"][0]);
        }).message.find("two jobs") != std::string::npos);
  CHECK(refused([](json& payload) {
          payload["jobs"][0]["operator"] = "relu";
        }).message.find("another job") != std::string::npos);
  CHECK(refused([](json& payload) {
          payload["jobs"][0]["plans"]["a"] = "no base64!";
        }).message.find("plan") != std::string::npos);
}

TEST_CASE("a bundle beyond its limits is refused") {
  const std::string payload = payload_of(test::example_bundle());
  for (const BundleLimits& limits :
       {BundleLimits{.jobs = 0}, BundleLimits{.operators = 0}, BundleLimits{.name_bytes = 11},
        BundleLimits{.source_bytes = 2}, BundleLimits{.all_plan_bytes = 1}}) {
    CHECK(parse_payload(payload, limits).error().code == ErrorCode::resource_exhausted);
  }
  CHECK(parse_payload(payload, {.depth = 2}).error().message.find("levels") != std::string::npos);
}
