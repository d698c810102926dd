// Tests resources, prompts and completion through the dispatcher, in both protocol eras.
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using namespace test;

std::unique_ptr<Server> make_full_server() {
  auto server = std::make_unique<Server>(ServerInfo{.name = "full",
                                                    .title = "",
                                                    .version = "1",
                                                    .instructions = "",
                                                    .icons = {{.src = "data:,i"}}},
                                         ServerLimits{.page_size = 2});
  const auto text = [](const char* uri, const char* body) {
    return [=](RequestContext&) -> Result<ReadResult> { return one_text(uri, "text/plain", body); };
  };
  REQUIRE(server->add_resource(
      {.uri = "doc://a", .name = "a", .mime_type = "text/plain", .read = text("doc://a", "A")}));
  REQUIRE(server->add_resource(
      {.uri = "doc://b",
       .name = "b",
       .annotations = {{"priority", 0.5}},
       .read = [](RequestContext&) -> Result<ReadResult> {
         return ReadResult{
             {ResourceContents{"doc://b", "image/png", "\x89PNG", true}}, 60'000, true};
       }}));
  REQUIRE(server->add_resource(
      {.uri = "doc://broken", .name = "broken", .read = [](RequestContext&) -> Result<ReadResult> {
         throw std::runtime_error("secret");
       }}));
  REQUIRE(server->add_template(
      {.uri_template = "item://{name}/text",
       .name = "item",
       .variables = {{"name", complete_from({"vector_add", "softmax", "add"})}},
       .read = [](const std::string& uri, const Variables& values,
                  RequestContext&) -> Result<ReadResult> {
         if (values.at("name") != "softmax")
           return fail(ErrorCode::not_found, "no item '" + values.at("name") + "'; valid: softmax");
         return one_text(uri, "text/plain", "the text");
       }}));
  std::vector<std::string> many(250, "x");
  REQUIRE(server->add_prompt(
      {.name = "write",
       .arguments = {{.name = "operator", .required = true, .complete = complete_from(many)},
                     {.name = "style"}},
       .get = [](const Variables& arguments, RequestContext&) -> Result<PromptResult> {
         if (arguments.at("operator") == "bad")
           return fail(ErrorCode::invalid_argument, "no operator 'bad'");
         return PromptResult{"d", {{"user", text_content("write " + arguments.at("operator"))}}};
       }}));
  return server;
}

class CatalogClient {
 public:
  json response(const std::string& method, json params, bool stateless) {
    if (stateless) params["_meta"] = meta();
    auto parsed = parse_message(dump(make_request(1, method, std::move(params))));
    REQUIRE(parsed);
    const Outcome outcome = server_->dispatcher().handle(*parsed, {});
    REQUIRE(outcome.response);
    return *outcome.response;
  }
  json result(const std::string& method, json params = json::object(), bool stateless = false) {
    json out = response(method, std::move(params), stateless);
    INFO(out.dump());
    REQUIRE(out.contains("result"));
    return out["result"];
  }
  json error(const std::string& method, json params, bool stateless = false) {
    json out = response(method, std::move(params), stateless);
    INFO(out.dump());
    REQUIRE(out.contains("error"));
    return out["error"];
  }

 private:
  std::unique_ptr<Server> server_ = make_full_server();
};

}  // namespace

TEST_CASE("capabilities: only what is registered is announced") {
  CatalogClient server;
  const json discover = server.result("server/discover", json::object(), true);
  CHECK(discover["capabilities"] == json{{"resources", json::object()},
                                         {"prompts", json::object()},
                                         {"completions", json::object()}});
  CHECK(discover["_meta"][kMetaServerInfo]["icons"][0]["src"] == "data:,i");
  CHECK(server.result("initialize", {{"protocolVersion", "2025-11-25"}})["capabilities"] ==
        discover["capabilities"]);
  CHECK(server.error("tools/list", json::object())["code"] == kMethodNotFound);
}

TEST_CASE("resources: listed by page, with cache hints in the stateless era only") {
  CatalogClient server;
  const json first = server.result("resources/list", json::object(), true);
  CHECK(first["resources"].size() == 2);
  CHECK(first["resources"][0] ==
        json{{"uri", "doc://a"}, {"name", "a"}, {"mimeType", "text/plain"}});
  CHECK(first["resources"][1]["annotations"]["priority"] == 0.5);
  CHECK(first["cacheScope"] == "public");
  const json second = server.result("resources/list", {{"cursor", first["nextCursor"]}}, true);
  CHECK(second["resources"].size() == 1);
  CHECK(second["cacheScope"] == first["cacheScope"]);
  CHECK_FALSE(second.contains("nextCursor"));
  CHECK(server.error("prompts/list", {{"cursor", first["nextCursor"]}})["code"] == kInvalidParams);
  const json templates = server.result("resources/templates/list");
  CHECK(templates ==
        json{{"resourceTemplates", {{{"uriTemplate", "item://{name}/text"}, {"name", "item"}}}}});
}

TEST_CASE("resources/read: text, blob, template") {
  CatalogClient server;
  CHECK(server.result("resources/read", {{"uri", "doc://a"}}) ==
        json{{"contents", {{{"uri", "doc://a"}, {"mimeType", "text/plain"}, {"text", "A"}}}}});
  const json blob = server.result("resources/read", {{"uri", "doc://b"}}, true);
  CHECK(blob["contents"][0]["blob"] == "iVBORw==");
  CHECK(blob["ttlMs"] == 60'000);
  CHECK(blob["cacheScope"] == "public");
  const json item = server.result("resources/read", {{"uri", "item://softmax/text"}}, true);
  CHECK(item["contents"][0]["uri"] == "item://softmax/text");
  CHECK(item["ttlMs"] == 0);
  CHECK(item["cacheScope"] == "private");
}

TEST_CASE("resources/read: not found has each era's code and the URI") {
  CatalogClient server;
  for (const char* uri : {"doc://none", "item://other/text", "item://a/b/text"}) {
    const json legacy = server.error("resources/read", {{"uri", uri}});
    CHECK(legacy["code"] == -32002);
    CHECK(legacy["data"]["uri"] == uri);
    const json stateless = server.error("resources/read", {{"uri", uri}}, true);
    CHECK(stateless["code"] == kInvalidParams);
    CHECK(stateless["data"]["uri"] == uri);
  }
  CHECK(server.error("resources/read", {{"uri", 5}})["code"] == kInvalidParams);
  const json broken = server.error("resources/read", {{"uri", "doc://broken"}});
  CHECK(broken["code"] == kInternalError);
  CHECK(broken.dump().find("secret") == std::string::npos);
}

TEST_CASE("prompts: they are listed and got; a wrong name is refused with the valid names") {
  CatalogClient server;
  const json list = server.result("prompts/list");
  CHECK(list["prompts"][0]["arguments"] ==
        json{{{"name", "operator"}, {"required", true}}, {{"name", "style"}, {"required", false}}});
  const json got = server.result(
      "prompts/get", {{"name", "write"}, {"arguments", {{"operator", "softmax"}}}}, true);
  CHECK(got["messages"] ==
        json{{{"role", "user"}, {"content", {{"type", "text"}, {"text", "write softmax"}}}}});
  CHECK(got["description"] == "d");
  CHECK_FALSE(got.contains("ttlMs"));
  const auto refused = [&](json params) {
    const json error = server.error("prompts/get", std::move(params));
    CHECK(error["code"] == kInvalidParams);
    return error["message"].get<std::string>();
  };
  CHECK(refused({{"name", "wrte"}}) == "Unknown prompt: 'wrte'; valid: write");
  CHECK(refused({{"name", 1}}).find("must be a string") != std::string::npos);
  CHECK(refused({{"name", "write"}}) == "prompt 'write' needs the argument 'operator'");
  CHECK(refused({{"name", "write"}, {"arguments", {{"operator", "a"}, {"x", "b"}}}}) ==
        "prompt 'write' has no argument 'x'; valid: operator, style");
  CHECK(refused({{"name", "write"}, {"arguments", {{"operator", 1}}}}).find("must be a string") !=
        std::string::npos);
  CHECK(refused({{"name", "write"}, {"arguments", {{"operator", "bad"}}}}) == "no operator 'bad'");
}

TEST_CASE("completion: prefixes first, at most 100 values, and an empty list without a completer") {
  CatalogClient server;
  const auto complete = [&](json ref, const char* argument, const char* value) {
    return server.result("completion/complete",
                         {{"ref", std::move(ref)},
                          {"argument", {{"name", argument}, {"value", value}}}})["completion"];
  };
  CHECK(complete({{"type", "ref/resource"}, {"uri", "item://{name}/text"}}, "name",
                 "ADD")["values"] == json{"add", "vector_add"});
  CHECK(complete({{"type", "ref/resource"}, {"uri", "doc://a"}}, "name", "")["values"] ==
        json::array());
  CHECK(complete({{"type", "ref/prompt"}, {"name", "write"}}, "style", "s") ==
        json{{"values", json::array()}, {"total", 0}, {"hasMore", false}});
  const json many = complete({{"type", "ref/prompt"}, {"name", "write"}}, "operator", "");
  CHECK(many["values"].size() == 100);
  CHECK(many["total"] == 250);
  CHECK(many["hasMore"] == true);
  const json argument = {{"name", "operator"}, {"value", ""}};
  for (const json& params :
       {json{{"ref", {{"type", "ref/prompt"}, {"name", "none"}}}, {"argument", argument}},
        json{{"ref", {{"type", "ref/prompt"}}}, {"argument", argument}},
        json{{"ref", {{"type", "ref/tool"}}}, {"argument", argument}},
        json{{"ref", "x"}, {"argument", argument}},
        json{{"ref", {{"type", "ref/resource"}, {"uri", "item://{id}"}}}, {"argument", argument}},
        json{{"ref", {{"type", "ref/resource"}, {"uri", "item://{name}/text"}}},
             {"argument", argument}},
        json{{"ref", {{"type", "ref/prompt"}, {"name", "write"}}},
             {"argument", {{"name", "x"}, {"value", ""}}}},
        json{{"ref", {{"type", "ref/prompt"}, {"name", "write"}}},
             {"argument", {{"name", "operator"}}}},
        json::object()}) {
    INFO(params.dump());
    CHECK(server.error("completion/complete", params)["code"] == kInvalidParams);
  }
}

TEST_CASE("registration refuses resources and prompts that could not be used") {
  auto server = make_full_server();
  const auto read = [](RequestContext&) -> Result<ReadResult> { return one_text("x:y", "", ""); };
  const auto get = [](const Variables&, RequestContext&) -> Result<PromptResult> {
    return PromptResult{};
  };
  CHECK_FALSE(server->add_resource({.uri = "doc://a", .name = "again", .read = read}));
  CHECK_FALSE(server->add_resource({.uri = "no-scheme", .name = "n", .read = read}));
  CHECK_FALSE(server->add_resource({.uri = "x:y", .name = "", .read = read}));
  CHECK_FALSE(server->add_resource({.uri = "x:y", .name = "n", .read = nullptr}));
  CHECK_FALSE(server->add_template(
      {.uri_template = "t://{a}",
       .name = "t",
       .variables = {{"b", complete_from({})}},
       .read = [](const std::string&, const Variables&, RequestContext&) -> Result<ReadResult> {
         return ReadResult{};
       }}));
  CHECK_FALSE(server->add_prompt({.name = "write", .get = get}));
  CHECK_FALSE(server->add_prompt({.name = "p", .get = nullptr}));
  CHECK_FALSE(
      server->add_prompt({.name = "p", .arguments = {{.name = "a"}, {.name = "a"}}, .get = get}));
}

}  // namespace assay::mcp
