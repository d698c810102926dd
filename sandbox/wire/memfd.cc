#include "sandbox/wire/memfd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace assay::sandbox {
namespace {

Result<UniqueFd> create(const std::string& name, std::uint64_t bytes) {
  UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return fail_errno("memfd_create " + name);
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    return fail_errno("ftruncate " + name + " to " + std::to_string(bytes));
  return fd;
}

}  // namespace

Result<UniqueFd> create_memfd(const std::string& name, std::uint64_t bytes) {
  Result<UniqueFd> fd = create(name, bytes);
  if (!fd) return fd;
  if (::fcntl(fd->get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return fail_errno("F_ADD_SEALS " + name);
  return fd;
}

Result<UniqueFd> create_sealed_memfd(const std::string& name, std::string_view contents) {
  Result<UniqueFd> fd = create(name, contents.size());
  if (!fd) return fd;
  {
    Result<Mapping> memory = Mapping::map(fd->get(), contents.size(), true);
    if (!memory) return fail(memory.error());
    if (!contents.empty()) std::memcpy(memory->data(), contents.data(), contents.size());
  }
  if (::fcntl(fd->get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) !=
      0)
    return fail_errno("F_ADD_SEALS " + name);
  return fd;
}

Result<UniqueFd> copy_memfd(int fd, const std::string& name) {
  const Result<std::uint64_t> bytes = check_foreign_memfd(fd);
  if (!bytes) return fail(bytes.error());
  Result<UniqueFd> copy = create_memfd(name, *bytes);
  if (!copy) return copy;
  const auto size = static_cast<off_t>(*bytes);
  for (off_t at = 0; at < size;) {
    at = ::lseek(fd, at, SEEK_DATA);
    if (at < 0 && errno == ENXIO) break;  // the rest of the file is a hole
    const off_t end = at < 0 ? at : ::lseek(fd, at, SEEK_HOLE);
    if (at < 0 || end < 0 || ::lseek(copy->get(), at, SEEK_SET) != at)
      return fail_errno("lseek in a memory file");
    while (at < end) {
      const ssize_t moved = ::sendfile(copy->get(), fd, &at, static_cast<std::size_t>(end - at));
      if (moved < 0 && errno == EINTR) continue;
      if (moved <= 0) return fail_errno("sendfile between memory files");
    }
  }
  return copy;
}

Result<std::uint64_t> check_foreign_memfd(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    return fail(ErrorCode::corrupt, "a descriptor is not a memory file sealed against shrinking");
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return fail_errno("fstat of a memory file");
  return static_cast<std::uint64_t>(facts.st_size);
}

Result<Mapping> Mapping::map(int fd, std::uint64_t bytes, bool writable) {
  if (bytes == 0) return Mapping();
  // A mapping for reading is private (MAP_PRIVATE), because Linux before 6.7 refuses a shared
  // mapping of a file that is sealed against writing.
  void* memory = writable ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                          : ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (memory == MAP_FAILED)
    return fail_errno("mmap of a memory file of " + std::to_string(bytes) + " bytes");
  return Mapping(static_cast<std::byte*>(memory), bytes);
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace assay::sandbox
