#include "server/mcp/oauth/issuer_keys.h"

#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "tests/server/mcp/oauth/signing.h"

namespace assay::mcp {
namespace {

using test::json;
using test::SigningKey;

/// An issuer whose keys a test can change.
struct ChangingIssuer {
  ManualClock clock;
  json keys = json::array();
  bool answers = true;
  std::atomic<int> loads{0};
  IssuerKeys cache{[this]() -> Result<JwkSet> {
                     ++loads;
                     if (!answers) return fail(ErrorCode::unavailable, "no answer");
                     return JwkSet::parse(json{{"keys", keys}}.dump());
                   },
                   KeyLimits{.lifetime_ms = 1000, .reload_ms = 100, .stale_ms = 5000}, clock};

  bool knows(const Jwt& jwt) {
    const auto found = cache.keys_for(jwt);
    return found && (*found)->verify(jwt);
  }
};

Jwt signed_by(const SigningKey& key) {
  return *parse_jwt(key.token({{"alg", "ES256"}}, json::object()), 16 << 10);
}

}  // namespace

TEST_CASE("issuer keys: loaded once, and again after their lifetime") {
  const SigningKey one = SigningKey::p256("one");
  ChangingIssuer issuer;
  issuer.keys = json::array({one.jwk()});
  for (int i = 0; i < 3; ++i) CHECK(issuer.knows(signed_by(one)));
  CHECK(issuer.loads == 1);
  issuer.clock.advance_ms(1000);
  CHECK(issuer.knows(signed_by(one)));
  CHECK(issuer.loads == 2);
}

TEST_CASE("issuer keys: a key that the issuer withdrew is refused after the lifetime") {
  const SigningKey one = SigningKey::p256("one"), two = SigningKey::p256("two");
  ChangingIssuer issuer;
  issuer.keys = json::array({one.jwk()});
  CHECK(issuer.knows(signed_by(one)));
  issuer.keys = json::array({two.jwk()});
  CHECK(issuer.knows(signed_by(one)));
  issuer.clock.advance_ms(1000);
  CHECK_FALSE(issuer.knows(signed_by(one)));
  CHECK(issuer.knows(signed_by(two)));
}

TEST_CASE("issuer keys: an unknown key id loads the keys again, but not often") {
  const SigningKey one = SigningKey::p256("one"), two = SigningKey::p256("two");
  ChangingIssuer issuer;
  issuer.keys = json::array({one.jwk()});
  CHECK(issuer.knows(signed_by(one)));
  issuer.keys.push_back(two.jwk());
  CHECK_FALSE(issuer.knows(signed_by(two)));  // too soon after the first load
  CHECK(issuer.loads == 1);
  issuer.clock.advance_ms(100);
  CHECK(issuer.knows(signed_by(two)));
  CHECK(issuer.loads == 2);
  for (int i = 0; i < 100; ++i) CHECK_FALSE(issuer.knows(signed_by(SigningKey::p256("guess"))));
  CHECK(issuer.loads == 2);
  issuer.clock.advance_ms(100);
  for (int i = 0; i < 100; ++i) CHECK_FALSE(issuer.knows(signed_by(SigningKey::p256("guess"))));
  CHECK(issuer.loads == 3);
}

TEST_CASE("issuer keys: if the issuer does not answer, old keys stay in use for a while") {
  const SigningKey one = SigningKey::p256("one");
  ChangingIssuer issuer;
  issuer.answers = false;
  const auto never = issuer.cache.keys_for(signed_by(one));
  REQUIRE_FALSE(never);
  CHECK(never.error().code == ErrorCode::unavailable);
  issuer.answers = true;
  issuer.keys = json::array({one.jwk()});
  CHECK_FALSE(issuer.knows(signed_by(one)));  // too soon after the failed load
  issuer.clock.advance_ms(100);
  CHECK(issuer.knows(signed_by(one)));
  issuer.answers = false;
  issuer.clock.advance_ms(4999);
  CHECK(issuer.knows(signed_by(one)));
  issuer.clock.advance_ms(1);
  CHECK_FALSE(issuer.cache.keys_for(signed_by(one)));
}

TEST_CASE("issuer keys: a reload on demand keeps the old keys if it fails") {
  const SigningKey one = SigningKey::p256("one"), two = SigningKey::p256("two");
  ChangingIssuer issuer;
  issuer.keys = json::array({one.jwk()});
  REQUIRE(issuer.cache.reload());
  issuer.keys = json::array({two.jwk()});
  issuer.answers = false;
  CHECK_FALSE(issuer.cache.reload());
  CHECK(issuer.knows(signed_by(one)));
  issuer.answers = true;
  CHECK(issuer.cache.reload());
  CHECK(issuer.knows(signed_by(two)));
}

TEST_CASE("issuer keys: expired keys are loaded again for the next token, even soon") {
  const SigningKey one = SigningKey::p256("one"), two = SigningKey::p256("two");
  ChangingIssuer issuer;
  issuer.keys = json::array({one.jwk()});
  CHECK(issuer.knows(signed_by(one)));
  issuer.keys = json::array({two.jwk()});
  issuer.cache.expire();
  CHECK(issuer.loads == 1);
  CHECK_FALSE(issuer.knows(signed_by(one)));
  CHECK(issuer.loads == 2);
  issuer.cache.expire();
  issuer.answers = false;
  CHECK(issuer.knows(signed_by(two)));  // the old keys stay in use
  CHECK(issuer.loads == 3);
}

TEST_CASE("issuer keys: requests that need the same load wait for it") {
  const SigningKey one = SigningKey::p256("one");
  const std::string text = json{{"keys", json::array({one.jwk()})}}.dump();
  std::promise<void> go;
  std::shared_future<void> allowed = go.get_future().share();
  std::latch begun(1);
  std::atomic<int> loads{0};
  IssuerKeys cache([&] {
    ++loads;
    begun.count_down();
    allowed.wait();
    return JwkSet::parse(text);
  });
  const Jwt jwt = signed_by(one);
  auto first = std::async(std::launch::async, [&] { return cache.keys_for(jwt).has_value(); });
  begun.wait();
  auto second = std::async(std::launch::async, [&] { return cache.keys_for(jwt).has_value(); });
  go.set_value();
  CHECK(first.get());
  CHECK(second.get());
  CHECK(loads == 1);
}

TEST_CASE("issuer keys: only some requests wait, the others are refused") {
  const SigningKey one = SigningKey::p256("one");
  const std::string text = json{{"keys", json::array({one.jwk()})}}.dump();
  std::promise<void> go;
  std::shared_future<void> allowed = go.get_future().share();
  std::latch begun(1);
  IssuerKeys cache(
      [&] {
        begun.count_down();
        allowed.wait();
        return JwkSet::parse(text);
      },
      KeyLimits{.max_waiting = 0});
  const Jwt jwt = signed_by(one);
  auto first = std::async(std::launch::async, [&] { return cache.keys_for(jwt).has_value(); });
  begun.wait();
  const auto refused = cache.keys_for(jwt);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unavailable);
  go.set_value();
  CHECK(first.get());
}

}  // namespace assay::mcp
