// SpendingBudget: what a bench may spend and has spent, shared by all its models. Before a request
// its worst case is set aside, so that not even parallel requests to several models can pass the
// limit together. Thread-safe.
//
//   Purse purse({.limit_usd = 5.0, .spent_usd = 1.2});
//   if (!purse.set_aside(0.3)) return;          // limit_reached() is true from now on
//   purse.settle(0.3, 0.12);                    // set aside, spent
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

namespace assay::agents {

struct Spending {
  std::optional<double> limit_usd;  // absent: no limit
  double spent_usd = 0;             // by earlier parts of the same bench
};

class SpendingBudget {
 public:
  explicit SpendingBudget(Spending spending) : spending_(spending) {}

  /// False when it does not fit, and from then on. Waits while what others have set aside could
  /// still come back.
  bool set_aside(double amount_usd);
  void settle(double set_aside_usd, double spent_usd);
  double spent_usd() const;
  bool limit_reached() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable settled_;
  Spending spending_;
  double set_aside_usd_ = 0;
  bool limit_reached_ = false;
};

}  // namespace assay::agents
