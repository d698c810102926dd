#include "server/commands/configuration.h"

#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

namespace {

/// A program with one command, and the values that it has got.
struct Program {
  Program() {
    CLI::App* serve = app.add_subcommand("serve");
    serve->add_option("--device", devices);
    serve->add_option("--drain-s", drain_s)->check(CLI::Range(0, 9));
    serve->add_flag("--require-store", require_store);
    serve->add_flag("!--no-host-tier", host_tier);
    serve->add_option("--store", store)->required();
    CLI::Option* http = serve->add_option("--http", http_);
    serve->add_flag("--stdio", stdio)->excludes(http);
    CLI::Option* command = serve->add_option("--worker-command", worker_command);
    serve->add_option("--worker-count", worker_count)->needs(command);
  }
  Status configure(const std::string& text, const GivenOptions& given = {}) {
    std::string file = "/tmp/assay-configuration-XXXXXX";
    const int descriptor = ::mkstemp(file.data());
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
    std::ofstream(file) << text;
    const auto settings = Settings::load({file});
    std::filesystem::remove(file);
    if (!settings) return fail(settings.error());
    return apply_settings(app, *settings, given);
  }

  CLI::App app;
  std::vector<std::string> devices = {"auto"};
  std::int64_t drain_s = 1;
  bool require_store = false;
  bool host_tier = true;
  std::string store, http_, worker_command;
  bool stdio = false;
  int worker_count = 1;
};

}  // namespace

TEST_CASE("the options of a file are defaults that the command line replaces") {
  Program program;
  REQUIRE(
      program.configure("[serve]\ndevice = [\"cpu\", \"fake\"]\ndrain-s = 5\n"
                        "require-store = true\nstore = \"a.db\"\n"));
  program.app.parse("serve --drain-s 7");
  CHECK(program.devices == std::vector<std::string>{"cpu", "fake"});
  CHECK(program.drain_s == 7);
  CHECK(program.require_store);
  CHECK(program.store == "a.db");

  Program other;
  REQUIRE(other.configure("[serve]\ndevice = [\"cpu\", \"fake\"]\n"));
  other.app.parse("serve --device cuda:0 --store b.db");
  CHECK(other.devices == std::vector<std::string>{"cuda:0"});
}

TEST_CASE("a flag that turns something off turns it off in a file too") {
  for (const bool off : {true, false}) {
    Program program;
    REQUIRE(program.configure(std::string("[serve]\nno-host-tier = ") + (off ? "true" : "false") +
                              "\n"));
    program.app.parse("serve --store a.db");
    CHECK(program.host_tier == !off);
  }
  Program program;
  REQUIRE(program.configure("[serve]\nno-host-tier = false\n"));
  program.app.parse("serve --store a.db --no-host-tier");
  CHECK_FALSE(program.host_tier);
}

TEST_CASE("a value of a file meets the need of an option, unless it is off") {
  Program program;
  REQUIRE(program.configure("[serve]\nworker-command = \"ssh a\"\nstore = \"a.db\"\n"));
  program.app.parse("serve --worker-count 3");
  CHECK(program.worker_count == 3);
  for (const char* text : {"", "[serve]\nworker-command = \"\"\n"}) {
    Program without;
    REQUIRE(without.configure(text));
    CHECK_THROWS_AS(without.app.parse("serve --store a.db --worker-count 3"), CLI::RequiresError);
  }
}

TEST_CASE("a value of a file is left out if the command line excludes it") {
  constexpr const char* kFile = "[serve]\nhttp = \"a:1\"\nstore = \"a.db\"\n";
  const char* words[] = {"assay", "serve", "--stdio"};
  Program other;
  other.app.get_subcommand("serve")->callback([] { FAIL("the command ran"); });
  const GivenOptions given = given_options(other.app, 3, words);
  CHECK(given == GivenOptions{{"serve", "stdio"}});
  Program program;
  REQUIRE(program.configure(kFile, given));
  program.app.parse(3, words);
  CHECK(program.http_.empty());
  CHECK(program.stdio);
  CHECK(program.store == "a.db");
  Program both;
  const Status refused = both.configure(std::string(kFile) + "stdio = true\n");
  REQUIRE_FALSE(refused);
  INFO(refused.error().message);
  CHECK(refused.error().message.find(":4: `stdio` excludes `http` of") != std::string::npos);
}

TEST_CASE("a wrong table, key or value is refused with its line and the valid names") {
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"[server]\nhttp = 1\n", "valid: serve"},
           {"[serve]\ndevices = 1\n",
            "valid keys: device, drain-s, require-store, no-host-tier, store, http, stdio, "
            "worker-command, worker-count"},
           {"[serve]\n\ndrain-s = 70\n", ":3: `drain-s`"},
           {"[serve]\nstore = [\"a\", \"b\"]\n", "`store` takes one value"}}) {
    Program program;
    const Status refused = program.configure(text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    INFO(refused.error().message);
    CHECK(refused.error().message.find(part) != std::string::npos);
  }
}
