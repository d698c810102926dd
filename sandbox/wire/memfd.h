// Creates and maps memory files (memfd), which carry tensors between the processes of the sandbox.
//
//   Result<UniqueFd> output = create_memfd("outputs", bytes);  // its size is fixed
//   Result<Mapping> memory = Mapping::map(output->get(), bytes, true);
//
// The destructor of a Mapping unmaps the file. A Mapping may be moved between threads. Processes
// that map the same file share its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace assay::sandbox {

/// Creates a zero-filled memory file of exactly `bytes` bytes. It is close-on-exec and sealed
/// against resizing and further seals. A page uses memory only after it is first touched.
Result<UniqueFd> create_memfd(const std::string& name, std::uint64_t bytes);

/// Creates a memory file with these contents. The file is sealed, so no process can change it.
Result<UniqueFd> create_sealed_memfd(const std::string& name, std::string_view contents);

/// Creates a memory file with the present contents of the memory file `fd`. `fd` must be sealed
/// against shrinking. Holes in the file use no memory in the copy. A process that has `fd` cannot
/// change the copy.
Result<UniqueFd> copy_memfd(int fd, const std::string& name);

/// Returns the size of a file that another process sent. The file must be a memory file that is
/// sealed against shrinking, so that access to a mapping cannot fault. Errors: corrupt if the file
/// is anything else.
Result<std::uint64_t> check_foreign_memfd(int fd);

class Mapping {
 public:
  /// Maps the bytes [0, bytes) of `fd`. If the mapping is writable, every process that maps the
  /// file sees the writes. If `bytes` is 0, the mapping is empty.
  static Result<Mapping> map(int fd, std::uint64_t bytes, bool writable);

  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  Mapping(std::byte* data, std::size_t size) : data_(data), size_(size) {}

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace assay::sandbox
