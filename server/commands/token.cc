// Implements `assay token new`, which creates a bearer token for `assay serve --token-file`.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/stderr_line.h"
#include "server/app/exit_status.h"
#include "server/commands/commands.h"
#include "server/edge/http_settings.h"
#include "server/mcp/http/tokens.h"

namespace assay::server {
namespace {

struct TokenOptions {
  std::string name;
  std::vector<std::string> scopes;
  std::string expires;
};

int make_token(const TokenOptions& options) {
  const auto token = mcp::new_token(options.name, options.scopes, token_scopes(), options.expires);
  if (!token) return print_error("token", kUsage, token.error().message);
  // The token's line is the only output to stdout, so that `>> tokens` appends exactly this line to
  // a token file.
  stderr_line("secret of '" + options.name + "', shown this once: " + token->secret +
              "\nline for the token file:");
  std::printf("%s\n", token->line.c_str());
  return kPass;
}

}  // namespace

void add_token(CLI::App& app, int& status) {
  auto options = std::make_shared<TokenOptions>();
  CLI::App* command = app.add_subcommand("token", "Make bearer tokens for serve --http");
  command->require_subcommand(1);
  CLI::App* create = command->add_subcommand(
      "new", "Make a token: the secret goes to stderr, the line for the token file to stdout");
  create
      ->add_option("--name", options->name,
                   "the name of the client: letters, digits, '.', '-', '_'")
      ->required();
  create
      ->add_option(
          "--scope", options->scopes,
          "practice (every tool, but no scored runs) or score (scored runs too); may be repeated")
      ->required();
  create->add_option("--expires", options->expires,
                     "the end of the token's validity, e.g. 2027-01-31T00:00:00Z; without it, the "
                     "token is valid until its line is removed");
  create->callback([options, &status] { status = make_token(*options); });
}

}  // namespace assay::server
