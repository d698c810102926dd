#include "base/base64.h"

#include "tests/catch.h"

namespace assay {

TEST_CASE("base64: the vectors of RFC 4648") {
  const std::pair<const char*, const char*> kVectors[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : kVectors) {
    CHECK(base64_encode(bytes) == text);
    CHECK(base64_decode(text) == bytes);
  }
}

TEST_CASE("base64: only the form that the encoder gives is decoded") {
  for (const char* text :
       {"Zg", "Zg=", "Zg==\n", " Zg==", "Zh==", "Z===", "====", "Zm9v!", "Zg==Zg=="})
    CHECK_FALSE(base64_decode(text).has_value());
}

}  // namespace assay
