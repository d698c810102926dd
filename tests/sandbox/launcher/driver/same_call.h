// Compares the signature of one of Assay's declarations with the signature in a vendor's header, at
// compile time.
//
//   static_assert(SameCall<int(void*, std::size_t), decltype(::cuMemHostAlloc)>::value);
#pragma once

#include <type_traits>

namespace assay::sandbox::test {

/// True if a call passes values of both types in the same kind of register. Then one type can
/// replace the other in a declaration. Assay declares a vendor's enumerations as int, and a
/// vendor's handles as pointers of its own types.
template <class A, class B>
constexpr bool same_register =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;

template <class A, class B>
struct SameCall : std::false_type {};
template <class R1, class... A1, class R2, class... A2>
requires(sizeof...(A1) == sizeof...(A2)) struct SameCall<R1(A1...), R2(A2...)>
    : std::bool_constant<same_register<R1, R2> && (same_register<A1, A2> && ...)> {
};

}  // namespace assay::sandbox::test
