#include "server/app/address.h"

#include <charconv>

namespace assay::server {
namespace {

constexpr int kMaxPort = 65535;

tl::unexpected<Error> malformed(const std::string& text) {
  return fail(ErrorCode::invalid_argument,
              "'" + text +
                  "' is not HOST:PORT, e.g. 127.0.0.1:8080 (ports 0 to 65535; 0 picks a free one)");
}

}  // namespace

Result<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return malformed(text);
  Address address;
  address.host = text.substr(0, colon);
  const char* begin = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(begin, end, address.port);
  if (error != std::errc() || stopped != end || begin == end || address.port < 0 ||
      address.port > kMaxPort)
    return malformed(text);
  if (address.host.front() == '[' && address.host.back() == ']')
    address.host = address.host.substr(1, address.host.size() - 2);
  address.loopback =
      address.host == "localhost" || address.host == "::1" || address.host.rfind("127.", 0) == 0;
  return address;
}

}  // namespace assay::server
