// A cap on how many of a kind may be open at once.
//
//   Gate streams(64);
//   const Gate::Pass pass = streams.enter();
//   if (!pass) refuse();                      // else: the place is free again when `pass` dies
//
// Lock-free, thread-safe. The gate must outlive its passes.
#pragma once

#include <atomic>
#include <utility>

namespace assay {

class Gate {
 public:
  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() {
      if (gate_ != nullptr) --gate_->inside_;
    }
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    friend class Gate;
    explicit Pass(Gate* gate) : gate_(gate) {}
    Gate* gate_ = nullptr;
  };

  explicit Gate(int places) : places_(places) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  Pass enter() {
    if (inside_.fetch_add(1) < places_) return Pass(this);
    --inside_;
    return {};
  }
  int inside() const { return inside_.load(); }

 private:
  const int places_;
  std::atomic<int> inside_{0};
};

}  // namespace assay
