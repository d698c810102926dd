
#include "server/mcp/protocol/params.h"

#include "base/base64.h"
#include "tests/catch.h"

namespace assay::mcp {

using nlohmann::json;

TEST_CASE("meta: a wrong type of _meta or of its progress token is refused") {
  const auto code_of = [](const json& params) {
    Message message;
    message.params = params;
    const auto problem = check_meta(message);
    return problem ? problem->code : 0;
  };
  CHECK(code_of(json::object()) == 0);
  CHECK(code_of({{"_meta", json::object()}}) == 0);
  CHECK(code_of({{"_meta", {{"progressToken", 1}}}}) == 0);
  CHECK(code_of({{"_meta", {{"progressToken", "a"}}}}) == 0);
  for (const json& wrong : {json(3), json("x"), json(nullptr), json::array()})
    CHECK(code_of({{"_meta", wrong}}) == kInvalidParams);
  for (const json& wrong : {json(1.5), json(true), json(nullptr), json{{"a", 1}}})
    CHECK(code_of({{"_meta", {{"progressToken", wrong}}}}) == kInvalidParams);
}

TEST_CASE("pagination: pages together are the list, whatever the page size") {
  json all = json::array();
  for (int i = 0; i < 7; ++i) all.push_back(i);
  for (std::size_t size = 1; size <= 9; ++size) {
    json seen = json::array();
    json params = json::object();
    for (int pages = 0; pages < 10; ++pages) {
      const auto page = list_page(all, "things", params, size);
      REQUIRE(page);
      CHECK((*page)["things"].size() <= size);
      for (const json& entry : (*page)["things"]) seen.push_back(entry);
      if (!page->contains("nextCursor")) break;
      params["cursor"] = (*page)["nextCursor"];
    }
    CHECK(seen == all);
  }
  CHECK(list_page(json::array(), "things", json::object(), 5) == json{{"things", json::array()}});
  CHECK(list_page(all, "things", {{"cursor", nullptr}}, 100)->at("things") == all);
}

TEST_CASE("pagination: a cursor that this list did not give is refused") {
  json all = json::array();
  for (int i = 0; i < 7; ++i) all.push_back(i);
  const std::string good = list_page(all, "things", json::object(), 3)->at("nextCursor");
  REQUIRE(list_page(all, "things", {{"cursor", good}}, 3));
  CHECK_FALSE(list_page(all, "others", {{"cursor", good}}, 3));
  for (const json& cursor : {json(""), json("x"), json(3), json::object(), json(good + "A"),
                             json(base64_encode("things:0")), json(base64_encode("things:4")),
                             json(base64_encode("things:9")), json(base64_encode("things:-3")),
                             json(base64_encode("things:03")), json(base64_encode("things:")),
                             json(base64_encode("things:99999999999999999999"))}) {
    INFO(cursor.dump());
    const auto page = list_page(all, "things", {{"cursor", cursor}}, 3);
    REQUIRE_FALSE(page);
    CHECK(page.error().code == kInvalidParams);
  }
}

}  // namespace assay::mcp
