// Implements check_amd_descriptors(): compares the descriptors of an AMD binary's kernels, which
// the GPU obeys, with the metadata, which the launcher and HIP's runtime believe.
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sandbox/launcher/plan/plan_check.h"

namespace assay::sandbox {
namespace {

/// A kernel's descriptor (LLVM, "User Guide for AMDGPU Backend", Kernel Descriptor).
struct Descriptor {
  std::uint32_t group_bytes, private_bytes, argument_bytes;
  std::array<std::uint8_t, 4> reserved_0;
  std::int64_t code_offset;
  std::array<std::uint8_t, 20> reserved_1;
  std::array<std::uint32_t, 3> registers;
  std::uint16_t properties, preload;
  std::array<std::uint8_t, 4> reserved_2;
};
static_assert(sizeof(Descriptor) == 64);

// The properties that a compiler sets for kernels that the launcher runs: the registers that point
// to private memory (bits 0, 5, 6) and to the arguments (3), and waves of 32 threads (10). Other
// properties give a kernel the address of the queue or of its packet, which lead to memory of the
// runtime such as a launch's time stamps (1, 2), the number of the launch (4), or a stack that
// grows (11), whose size no number in the binary limits.
constexpr std::uint16_t kUsualProperties = 0b0000'0100'0110'1001;
constexpr std::string_view kSuffix = ".kd";
// The number of symbols that are read, in all tables. Triton's binaries have about ten.
constexpr std::uint64_t kMostSymbols = 100'000;
// The number of segments of a binary with kernels. Triton's binaries have nine.
constexpr std::uint64_t kMostSegments = 64;

tl::unexpected<Error> refuse_descriptor(const std::string& name, const std::string& reason) {
  constexpr std::size_t kShownCharacters = 40;
  return fail(ErrorCode::invalid_argument,
              "device binary: the descriptor '" + name.substr(0, kShownCharacters) + "' " + reason);
}

template <class T>
T read_at(std::string_view image, std::uint64_t offset) {
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

/// Returns the bytes of a file's section, which check_elf() has found inside the image.
std::string_view bytes_of(std::string_view image, const Elf64_Shdr& section) {
  const bool in_file = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
  return in_file ? image.substr(section.sh_offset, section.sh_size) : std::string_view();
}

/// Returns the place in the image of the bytes that a loader puts at `address`, if they come from
/// exactly one segment.
std::optional<std::uint64_t> place_of(std::string_view image, const Elf64_Ehdr& header,
                                      std::uint64_t address) {
  std::optional<std::uint64_t> place;
  if (address + sizeof(Descriptor) < address) return std::nullopt;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(image, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type != PT_LOAD) continue;
    // A loader may copy more bytes than the segment has in memory.
    const std::uint64_t bytes = std::max(segment.p_memsz, segment.p_filesz);
    if (segment.p_vaddr + bytes < segment.p_vaddr) return std::nullopt;
    const bool overlaps =
        address < segment.p_vaddr + bytes && segment.p_vaddr < address + sizeof(Descriptor);
    if (!overlaps) continue;
    const std::uint64_t first = address - segment.p_vaddr;
    const bool contains = address >= segment.p_vaddr && first <= segment.p_filesz &&
                          sizeof(Descriptor) <= segment.p_filesz - first;
    if (!contains || place) return std::nullopt;
    place = segment.p_offset + first;
  }
  return place;
}

Status check_descriptor(const std::string& name, const Descriptor& found, const AmdKernel& told) {
  const auto differs = [&](const char* what, std::uint32_t own, std::uint64_t others) {
    return refuse_descriptor(name, "has " + std::to_string(own) + " bytes of " + what +
                                       ", and the metadata have " + std::to_string(others));
  };
  if (found.group_bytes != told.group_bytes)
    return differs("shared memory", found.group_bytes, told.group_bytes);
  if (found.private_bytes != told.private_bytes)
    return differs("local memory", found.private_bytes, told.private_bytes);
  if (found.argument_bytes != told.argument_bytes)
    return differs("arguments", found.argument_bytes, told.argument_bytes);
  if ((found.properties & ~kUsualProperties) != 0)
    return refuse_descriptor(name, "has properties " + std::to_string(found.properties) +
                                       "; a kernel may not ask for the address of its queue or "
                                       "packet, for its number, or for a stack that grows");
  return {};
}

/// The descriptors that a binary's tables of symbols name.
class Descriptors {
 public:
  Descriptors(std::string_view image, const AmdKernels& kernels)
      : image_(image), header_(read_at<Elf64_Ehdr>(image, 0)), kernels_(kernels) {}

  Status check() {
    if (!kernels_.empty() && header_.e_phnum > kMostSegments)
      return fail(ErrorCode::invalid_argument,
                  "device binary: more than " + std::to_string(kMostSegments) + " segments");
    for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
      const auto table = section(i);
      if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
      if (Status usual = check_table(table); !usual) return usual;
    }
    for (const auto& [symbol, kernel] : kernels_) {
      if (addresses_.count(symbol) == 0) return refuse_descriptor(symbol, "is missing");
    }
    for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
      if (Status usual = check_relocations(section(i)); !usual) return usual;
    }
    return {};
  }

 private:
  Elf64_Shdr section(std::uint64_t number) const {
    return read_at<Elf64_Shdr>(image_, header_.e_shoff + number * sizeof(Elf64_Shdr));
  }

  Status check_table(const Elf64_Shdr& table) {
    const std::string_view symbols = bytes_of(image_, table);
    const std::string_view names =
        table.sh_link < header_.e_shnum ? bytes_of(image_, section(table.sh_link)) : "";
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      if (++read_ > kMostSymbols)
        return fail(ErrorCode::invalid_argument,
                    "device binary: more than " + std::to_string(kMostSymbols) + " symbols");
      const auto symbol = read_at<Elf64_Sym>(symbols, at);
      if (symbol.st_name >= names.size()) continue;
      std::string_view name = names.substr(symbol.st_name);
      name = name.substr(0, name.find('\0'));
      if (!name.ends_with(kSuffix)) continue;
      if (Status usual = check_symbol(std::string(name), symbol); !usual) return usual;
    }
    return {};
  }

  Status check_symbol(const std::string& name, const Elf64_Sym& symbol) {
    const auto told = kernels_.find(name);
    if (told == kernels_.end()) return refuse_descriptor(name, "belongs to no kernel");
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size != sizeof(Descriptor))
      return refuse_descriptor(name, "is no object of 64 bytes");
    const auto [known, fresh] = addresses_.emplace(name, symbol.st_value);
    if (!fresh && known->second != symbol.st_value)
      return refuse_descriptor(name, "has two addresses");
    if (!fresh) return {};
    places_.insert(symbol.st_value);
    const std::optional<std::uint64_t> place = place_of(image_, header_, symbol.st_value);
    if (!place) return refuse_descriptor(name, "is not in one loaded segment");
    return check_descriptor(name, read_at<Descriptor>(image_, *place), told->second);
  }

  /// Checks that no relocation changes a descriptor when the binary is loaded.
  Status check_relocations(const Elf64_Shdr& table) const {
    const std::uint64_t each = table.sh_type == SHT_RELA  ? sizeof(Elf64_Rela)
                               : table.sh_type == SHT_REL ? sizeof(Elf64_Rel)
                                                          : 0;
    if (each == 0) return {};
    const std::string_view entries = bytes_of(image_, table);
    for (std::uint64_t at = 0; at + each <= entries.size(); at += each) {
      // Both kinds of entries begin with the address of at most eight bytes that change.
      const auto changed = read_at<std::uint64_t>(entries, at);
      const auto next = places_.upper_bound(changed + sizeof(std::uint64_t) - 1);
      if (next != places_.begin() && changed < *std::prev(next) + sizeof(Descriptor))
        return fail(ErrorCode::invalid_argument,
                    "device binary: a relocation would change a kernel's descriptor");
    }
    return {};
  }

  const std::string_view image_;
  const Elf64_Ehdr header_;
  const AmdKernels& kernels_;
  std::map<std::string, std::uint64_t> addresses_;  // of the descriptors, by symbol
  std::set<std::uint64_t> places_;                  // the same addresses
  std::uint64_t read_ = 0;
};

}  // namespace

Status check_amd_descriptors(std::string_view image, const AmdKernels& kernels) {
  return Descriptors(image, kernels).check();
}

}  // namespace assay::sandbox
