#include "server/mcp/protocol/content.h"

#include "base/base64.h"
#include "tests/catch.h"

namespace assay::mcp {

using nlohmann::json;

TEST_CASE("base64: every byte survives, and only exact encodings are accepted") {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string text = base64_encode(bytes.substr(0, size));
    CHECK(text.size() == (size + 2) / 3 * 4);
    CHECK(base64_decode(text) == bytes.substr(0, size));
  }
  for (const char* bad : {"A", "AAA", "AA==AA==", "====", "AB==", "AAB=", " AAA", "AAA\n", "A?AA",
                          "A===", "AAA=AAAA"}) {
    INFO(bad);
    CHECK_FALSE(base64_decode(bad));
  }
}

TEST_CASE("content: blocks have the protocol's form") {
  CHECK(text_content("hi") == json{{"type", "text"}, {"text", "hi"}});
  CHECK(image_content("\x89PNG", "image/png") ==
        json{{"type", "image"}, {"data", "iVBORw=="}, {"mimeType", "image/png"}});
  CHECK(audio_content("RIFF", "audio/wav")["type"] == "audio");
  CHECK(embedded_content({"t://a", "text/plain", "x"}) ==
        json{{"type", "resource"},
             {"resource", {{"uri", "t://a"}, {"mimeType", "text/plain"}, {"text", "x"}}}});
  CHECK(to_json({"t://b", "", std::string("\0", 1), true}) ==
        json{{"uri", "t://b"}, {"blob", "AA=="}});
  CHECK(link_content({.uri = "t://c", .name = "c", .description = "d"}) ==
        json{{"type", "resource_link"}, {"uri", "t://c"}, {"name", "c"}, {"description", "d"}});
}

TEST_CASE("icons: only the members that are set are shown") {
  json shown = json::object();
  show_icons(shown, {});
  CHECK(shown.empty());
  show_icons(shown, {{.src = "data:,x", .mime_type = "image/png", .sizes = {"48x48"}},
                     {.src = "https://x/y.png", .theme = "dark"}});
  CHECK(shown["icons"][0] ==
        json{{"src", "data:,x"}, {"mimeType", "image/png"}, {"sizes", {"48x48"}}});
  CHECK(shown["icons"][1] == json{{"src", "https://x/y.png"}, {"theme", "dark"}});
}

}  // namespace assay::mcp
