#include "server/mcp/core/server.h"

#include "server/mcp/core/dispatch.h"

namespace assay::mcp {

Server::Server(ServerInfo info, const ServerLimits& limits, ServerParts parts)
    : dispatcher_(std::make_unique<Dispatcher>(std::move(info), limits, std::move(parts))) {}
Server::~Server() = default;

Status Server::add_tool(Tool tool) { return dispatcher_->tools().add(std::move(tool)); }
Status Server::add_resource(Resource resource) {
  return dispatcher_->resources().add(std::move(resource));
}
Status Server::add_template(ResourceTemplate resource_template) {
  return dispatcher_->resources().add(std::move(resource_template));
}
Status Server::add_prompt(Prompt prompt) { return dispatcher_->prompts().add(std::move(prompt)); }

void Server::publish(const Change& change) { dispatcher_->hub().publish(change); }

}  // namespace assay::mcp
