#include "server/runs/services.h"

#include <utility>

#include "base/try.h"

namespace assay::server {

Result<std::unique_ptr<ServerServices>> ServerServices::open(const std::filesystem::path& store,
                                                             const operators::Catalog& catalog,
                                                             Devices devices,
                                                             const ServicesOptions& options) {
  ASSAY_TRY(opened, Store::open(store, options.mode));
  return std::make_unique<ServerServices>(std::move(opened), catalog, std::move(devices), options);
}

ServerServices::ServerServices(std::unique_ptr<Store> store, const operators::Catalog& catalog,
                               Devices devices, const ServicesOptions& options)
    : clock_(options.clock != nullptr ? *options.clock : system_clock_),
      store_(std::move(store)),
      runs_(*store_, catalog, clock_),
      artifacts_(*store_),
      jobs_(*store_, runs_, clock_, std::move(devices), options.queue) {}

}  // namespace assay::server
