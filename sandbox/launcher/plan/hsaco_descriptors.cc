// Implements check_amd_descriptors(): checks what ROCm's loader copies, changes and looks up when
// it loads an AMD binary, and compares the descriptors of its kernels, from which the GPU gets
// their settings, with the metadata.
#include <elf.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

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
// Limits, in all tables of a binary. Triton's binaries have nine segments and about ten symbols.
constexpr std::uint64_t kMostSegments = 64, kMostSymbols = 100'000, kMostRelocations = 100'000;
constexpr std::uint64_t kMostNameBytes = 4096;
constexpr std::uint64_t kMostLoadedBytes = 1 << 30;
constexpr std::uint64_t kRelocatedBytes = 8;  // the most bytes that one relocation changes

tl::unexpected<Error> refuse_image(const std::string& reason) {
  return fail(ErrorCode::invalid_argument, "device binary: " + reason);
}

tl::unexpected<Error> refuse_descriptor(std::string_view name, const std::string& reason) {
  constexpr std::size_t kShownCharacters = 40;
  return refuse_image("the descriptor '" + std::string(name.substr(0, kShownCharacters)) + "' " +
                      reason);
}

template <class T>
T read_at(std::string_view image, std::uint64_t offset) {
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

/// Returns true if a range of `bytes` bytes is inside another range. The end of the other range
/// must not overflow.
bool contains(std::uint64_t begin, std::uint64_t size, std::uint64_t at, std::uint64_t bytes) {
  return at >= begin && at - begin <= size && bytes <= size - (at - begin);
}

Status check_descriptor(std::string_view name, const Descriptor& found, const AmdKernel& told) {
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

/// A binary whose tables check_elf() has found inside the image. What a reader could understand in
/// two ways is refused.
class LoadedImage {
 public:
  LoadedImage(std::string_view image, const AmdKernels& kernels)
      : image_(image), header_(read_at<Elf64_Ehdr>(image, 0)), kernels_(kernels) {}

  Status check() {
    if (Status usual = find_segments(); !usual) return usual;
    for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
      if (Status usual = check_tables(type); !usual) return usual;
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

  std::string_view bytes_of(const Elf64_Shdr& one) const {
    const bool in_file = one.sh_type != SHT_NOBITS && one.sh_type != SHT_NULL;
    return in_file ? image_.substr(one.sh_offset, one.sh_size) : std::string_view();
  }

  /// Checks the loaded segments. The loader gets memory from the first address of the first one to
  /// the last address of the last one, and copies the bytes of each segment there, unchecked.
  Status find_segments() {
    if (header_.e_phnum > kMostSegments)
      return refuse_image("more than " + std::to_string(kMostSegments) + " segments");
    for (std::uint64_t i = 0; i < header_.e_phnum; ++i) {
      const auto one = read_at<Elf64_Phdr>(image_, header_.e_phoff + i * sizeof(Elf64_Phdr));
      if (one.p_type != PT_LOAD) continue;
      const std::uint64_t end = one.p_vaddr + one.p_memsz;
      if (one.p_filesz > one.p_memsz || end < one.p_vaddr)
        return refuse_image("a loaded segment with more bytes than it has in memory");
      if (!loaded_.empty() && one.p_vaddr < loaded_.back().p_vaddr + loaded_.back().p_memsz)
        return refuse_image("loaded segments that overlap, or are not in the order of addresses");
      loaded_.push_back(one);
      if (end - loaded_.front().p_vaddr > kMostLoadedBytes)
        return refuse_image("loaded segments that span more than " +
                            std::to_string(kMostLoadedBytes) + " bytes");
    }
    return {};
  }

  /// Checks the only table of symbols of a type, if there is one. A loader may use either type.
  Status check_tables(std::uint32_t type) {
    bool seen = false;
    for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
      const Elf64_Shdr table = section(i);
      if (table.sh_type != type) continue;
      if (seen) return refuse_image("two tables of symbols of one type");
      seen = true;
      if (Status usual = check_table(table); !usual) return usual;
    }
    return {};
  }

  Status check_table(const Elf64_Shdr& table) {
    if (table.sh_link >= header_.e_shnum || section(table.sh_link).sh_type != SHT_STRTAB ||
        table.sh_entsize != sizeof(Elf64_Sym) || table.sh_size % sizeof(Elf64_Sym) != 0)
      return refuse_image("a table of symbols of an unusual form");
    const std::string_view symbols = bytes_of(table), names = bytes_of(section(table.sh_link));
    if (names.empty() || names.back() != '\0')
      return refuse_image("names of symbols without an end");
    if (symbols.size() / sizeof(Elf64_Sym) > kMostSymbols)
      return refuse_image("more than " + std::to_string(kMostSymbols) + " symbols");
    std::size_t kernels = 0;
    for (std::uint64_t at = 0; at < symbols.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(symbols, at);
      if (symbol.st_name >= names.size()) return refuse_image("a symbol whose name lies outside");
      std::string_view name = names.substr(symbol.st_name, kMostNameBytes + 1);
      const std::size_t end = name.find('\0');
      if (end == name.npos)
        return refuse_image("a symbol whose name has more than " + std::to_string(kMostNameBytes) +
                            " bytes");
      name = name.substr(0, end);
      if (!name.ends_with(kSuffix)) continue;
      ++kernels;
      if (Status usual = check_symbol(std::string(name), symbol); !usual) return usual;
    }
    // Each name is that of a kernel, so each kernel has one symbol in this table.
    if (kernels != kernels_.size())
      return refuse_image("a table of symbols with " + std::to_string(kernels) +
                          " descriptors of " + std::to_string(kernels_.size()) + " kernels");
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
    // Readers find the descriptor by its segment or by its section, so both must lead to the same
    // bytes.
    for (const Elf64_Phdr& segment : loaded_) {
      if (!contains(segment.p_vaddr, segment.p_filesz, symbol.st_value, sizeof(Descriptor)))
        continue;
      const std::uint64_t place = segment.p_offset + (symbol.st_value - segment.p_vaddr);
      if (!is_at(symbol, place)) return refuse_descriptor(name, "is not in its section");
      return check_descriptor(name, read_at<Descriptor>(image_, place), told->second);
    }
    return refuse_descriptor(name, "is not in a loaded segment");
  }

  /// Returns true if the symbol's section has the symbol's bytes at this place in the image.
  bool is_at(const Elf64_Sym& symbol, std::uint64_t place) const {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= header_.e_shnum) return false;
    const Elf64_Shdr one = section(symbol.st_shndx);
    return one.sh_type == SHT_PROGBITS && one.sh_addr + one.sh_size >= one.sh_addr &&
           contains(one.sh_addr, one.sh_size, symbol.st_value, sizeof(Descriptor)) &&
           one.sh_offset + (symbol.st_value - one.sh_addr) == place;
  }

  /// Checks that each relocation changes loaded bytes, and none a descriptor.
  Status check_relocations(const Elf64_Shdr& table) {
    if (table.sh_type == SHT_REL) return refuse_image("relocations without addends");
    if (table.sh_type != SHT_RELA) return {};
    const std::string_view entries = bytes_of(table);
    relocations_ += entries.size() / sizeof(Elf64_Rela);
    if (relocations_ > kMostRelocations)
      return refuse_image("more than " + std::to_string(kMostRelocations) + " relocations");
    std::map<std::uint64_t, std::string_view> places;
    for (const auto& [name, address] : addresses_) places.emplace(address, name);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= entries.size();
         at += sizeof(Elf64_Rela)) {
      const std::uint64_t changed = read_at<Elf64_Rela>(entries, at).r_offset;
      bool inside = false;
      for (const Elf64_Phdr& segment : loaded_)
        inside = inside || contains(segment.p_vaddr, segment.p_memsz, changed, kRelocatedBytes);
      if (!inside) return refuse_image("a relocation of bytes that are not loaded");
      const auto next = places.upper_bound(changed + kRelocatedBytes - 1);
      if (next == places.begin()) continue;
      const auto& [address, name] = *std::prev(next);
      if (changed < address + sizeof(Descriptor))
        return refuse_descriptor(name, "is changed by a relocation");
    }
    return {};
  }

  const std::string_view image_;
  const Elf64_Ehdr header_;
  const AmdKernels& kernels_;
  std::vector<Elf64_Phdr> loaded_;                  // in the order of their addresses
  std::map<std::string, std::uint64_t> addresses_;  // of the descriptors, by symbol
  std::uint64_t relocations_ = 0;
};

}  // namespace

Status check_amd_descriptors(std::string_view image, const AmdKernels& kernels) {
  return LoadedImage(image, kernels).check();
}

}  // namespace assay::sandbox
