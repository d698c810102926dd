#include "server/mcp/server.h"

#include "server/mcp/dispatch.h"

namespace assay::mcp {

Server::Server(ServerInfo info) : dispatcher_(std::make_unique<Dispatcher>(std::move(info))) {}
Server::~Server() = default;

Status Server::add_tool(Tool tool) { return dispatcher_->add_tool(std::move(tool)); }

}  // namespace assay::mcp
