#include <algorithm>
#include <cmath>
#include <memory>

#include "tools/answer/answers.h"
#include "tools/answer/verdict_answer.h"

#ifdef ASSAY_CAIRO
#include <cairo.h>
#endif

namespace assay::tools {
#ifndef ASSAY_CAIRO

Result<std::string> roofline_png(const sandbox::Profile&) {
  return fail(ErrorCode::unavailable,
              "this build has no cairo, which draws the chart (package libcairo2-dev)");
}

#else
namespace {

using sandbox::Roofline;

constexpr double kWidth = 900, kHeight = 600;
constexpr double kLeft = 90, kRight = 30, kTop = 70, kBottom = 70;
constexpr double kFontSize = 15, kTitleSize = 18;

struct Colour {
  double red, green, blue;
};
constexpr Colour kInk{0.13, 0.13, 0.16}, kGrid{0.87, 0.87, 0.9}, kRoof{0.2, 0.2, 0.24},
    kYours{0.84, 0.19, 0.15}, kOracle{0.12, 0.45, 0.7};

/// Returns the rate of 10^digits FLOP/s as text: "1 TFLOP/s" for 12, "100 GFLOP/s" for 11.
std::string rate_label(int digits) {
  const char* units[] = {"", "k", "M", "G", "T", "P", "E"};
  const int unit = std::clamp(digits / 3, 0, 6);
  return number_text(std::pow(10, digits - 3 * unit)) + " " + units[unit] + "FLOP/s";
}

std::string intensity_label(int digits) {
  return digits >= 0 ? number_text(std::pow(10, digits))
                     : "1/" + number_text(std::pow(10, -digits));
}

class Chart {
 public:
  explicit Chart(const Roofline& roof)
      : roof_(roof),
        intensity_(std::max(roof.cost_flops, 1.0) / roof.cost_bytes),
        ridge_(roof.flops_per_s / roof.bytes_per_s) {
    // The axis extends one decade beyond the data at both ends.
    x_low_ = std::floor(std::log10(std::min(intensity_, ridge_))) - 1;
    x_high_ = std::ceil(std::log10(std::max(intensity_, ridge_))) + 1;
    y_high_ = std::ceil(std::log10(roof.flops_per_s) + 0.15);
    y_low_ = std::floor(std::log10(roof.bytes_per_s * std::pow(10, x_low_)));
    for (const auto& ns : {roof.latency_ns, roof.oracle_ns}) {
      if (ns) y_low_ = std::min(y_low_, std::floor(std::log10(rate(*ns))));
    }
  }

  std::string draw(const std::string& title) {
    paint(Colour{1, 1, 1});
    cairo_paint(context_.get());
    cairo_select_font_face(context_.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
    axes();
    roofs();
    const double best = std::min(roof_.flops_per_s, roof_.bytes_per_s * intensity_);
    paint(kGrid);
    line(intensity_, std::pow(10, y_low_), intensity_, best);
    if (roof_.oracle_ns)
      point(rate(*roof_.oracle_ns), kOracle, "oracle " + duration_text(*roof_.oracle_ns), -1);
    if (roof_.latency_ns)
      point(rate(*roof_.latency_ns), kYours,
            "yours " + duration_text(*roof_.latency_ns) +
                (roof_.share ? ", " + number_text(std::round(*roof_.share * 100)) + " % of the roof"
                             : ""),
            1);
    else
      point(best, kYours, "at best " + duration_text(roof_.floor_ns) + " (not timed)", 1);
    text(kLeft, 30, title, kTitleSize, kInk);
    text(kLeft, 52, "peaks: " + roof_.source, kFontSize - 2, kInk);
    return png();
  }

 private:
  struct Destroy {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_t* context) const { cairo_destroy(context); }
  };

  double rate(double ns) const { return std::max(roof_.cost_flops, 1.0) / ns * 1e9; }
  double x(double intensity) const {
    return kLeft +
           (std::log10(intensity) - x_low_) / (x_high_ - x_low_) * (kWidth - kLeft - kRight);
  }
  double y(double flops) const {
    return kHeight - kBottom -
           (std::log10(flops) - y_low_) / (y_high_ - y_low_) * (kHeight - kTop - kBottom);
  }

  void paint(const Colour& colour) {
    cairo_set_source_rgb(context_.get(), colour.red, colour.green, colour.blue);
  }
  void line(double x1, double y1, double x2, double y2) {
    cairo_move_to(context_.get(), x(x1), y(y1));
    cairo_line_to(context_.get(), x(x2), y(y2));
    cairo_stroke(context_.get());
  }
  double width_of(const std::string& what, double size) {
    cairo_set_font_size(context_.get(), size);
    cairo_text_extents_t extents;
    cairo_text_extents(context_.get(), what.c_str(), &extents);
    return extents.x_advance;
  }
  void text(double at_x, double at_y, const std::string& what, double size, const Colour& colour) {
    paint(colour);
    cairo_set_font_size(context_.get(), size);
    cairo_move_to(context_.get(), at_x, at_y);
    cairo_show_text(context_.get(), what.c_str());
  }

  void axes() {
    cairo_set_line_width(context_.get(), 1);
    for (double digits = x_low_; digits <= x_high_; ++digits) {
      const double value = std::pow(10, digits);
      paint(kGrid);
      line(value, std::pow(10, y_low_), value, std::pow(10, y_high_));
      const std::string label = intensity_label(static_cast<int>(digits));
      text(x(value) - width_of(label, kFontSize) / 2, kHeight - kBottom + 22, label, kFontSize,
           kInk);
    }
    for (double digits = y_low_; digits <= y_high_; ++digits) {
      const double value = std::pow(10, digits);
      paint(kGrid);
      line(std::pow(10, x_low_), value, std::pow(10, x_high_), value);
      const std::string label = rate_label(static_cast<int>(digits));
      text(kLeft - 6 - width_of(label, kFontSize - 3), y(value) + 4, label, kFontSize - 3, kInk);
    }
    const std::string name = "operations per byte of least traffic (FLOP/B)";
    text((kWidth - width_of(name, kFontSize)) / 2, kHeight - 18, name, kFontSize, kInk);
  }

  void roofs() {
    paint(kRoof);
    cairo_set_line_width(context_.get(), 2.5);
    const double low = std::max(std::pow(10, x_low_), std::pow(10, y_low_) / roof_.bytes_per_s);
    line(low, roof_.bytes_per_s * low, ridge_, roof_.flops_per_s);
    line(ridge_, roof_.flops_per_s, std::pow(10, x_high_), roof_.flops_per_s);
    const std::string compute =
        number_text(roof_.flops_per_s / 1e12) + " TFLOP/s (" + roof_.unit + ")";
    text(kWidth - kRight - 6 - width_of(compute, kFontSize), y(roof_.flops_per_s) - 8, compute,
         kFontSize, kRoof);
    const double middle = std::sqrt(low * ridge_);
    const std::string memory = number_text(roof_.bytes_per_s / 1e9) + " GB/s";
    text(x(middle) - width_of(memory, kFontSize) - 12, y(roof_.bytes_per_s * middle) - 8, memory,
         kFontSize, kRoof);
  }

  /// Draws a point and its label. The label is to the right of the point and below it if `side` is
  /// positive, and otherwise to the left. It changes sides if it would leave the chart. Two close
  /// points get different values of `side`, so that their labels do not overlap.
  void point(double flops, const Colour& colour, const std::string& label, int side) {
    paint(colour);
    cairo_arc(context_.get(), x(intensity_), y(flops), 7, 0, 2 * M_PI);
    cairo_fill(context_.get());
    const double width = width_of(label, kFontSize);
    const bool right = side > 0 ? x(intensity_) + 14 + width < kWidth - kRight
                                : x(intensity_) - 14 - width < kLeft;
    text(right ? x(intensity_) + 14 : x(intensity_) - 14 - width, y(flops) + (side > 0 ? 18 : 5),
         label, kFontSize, colour);
  }

  std::string png() {
    std::string bytes;
    cairo_surface_write_to_png_stream(
        surface_.get(),
        [](void* out, const unsigned char* data, unsigned int size) {
          static_cast<std::string*>(out)->append(
              reinterpret_cast<const char*>(data),
              size);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
          return CAIRO_STATUS_SUCCESS;
        },
        &bytes);
    return bytes;
  }

  const Roofline& roof_;
  const double intensity_, ridge_;
  double x_low_ = 0, x_high_ = 0, y_low_ = 0, y_high_ = 0;
  std::unique_ptr<cairo_surface_t, Destroy> surface_{cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(kWidth), static_cast<int>(kHeight))};
  std::unique_ptr<cairo_t, Destroy> context_{cairo_create(surface_.get())};
};

}  // namespace

Result<std::string> roofline_png(const sandbox::Profile& profile) {
  const Roofline& roof = profile.roofline;
  if (!(roof.cost_bytes > 0) || !(roof.bytes_per_s > 0) || !(roof.flops_per_s > 0))
    return fail(ErrorCode::invalid_argument,
                "a roofline needs the case's traffic and the device's peaks");
  std::string png = Chart(roof).draw(profile.case_id + " on " + profile.device_name + ": " +
                                     std::string(to_string(profile.bound)) + "-bound");
  if (png.empty()) return fail(ErrorCode::internal, "cairo did not write a PNG");
  return png;
}

#endif
}  // namespace assay::tools
