#include "flow/flow_domain.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>

namespace teff::detail {

flow_domain::rectangle flow_domain::plane::place_of(const flow_box& box) const noexcept {
  const auto row = stride == 0 ? 0 : box.begin / stride;
  const auto column = stride == 0 ? box.begin : box.begin % stride;
  return {row, row + box.rows, column, column + box.bytes};
}

flow_box flow_domain::plane::box_of(const rectangle& of) const noexcept {
  const auto rows = of.bottom - of.top;
  return {of.top * stride + of.left, of.right - of.left, rows, rows == 1 ? 0 : stride};
}

void flow_domain::plane::overlapping(const flow_box& box, std::vector<flow_range*>& found) const {
  const auto before = static_cast<std::ptrdiff_t>(found.size());
  if (!has(box)) {
    overlapping({box.begin, box.end() - box.begin, 1, 0}, found);
    const auto touches = [&](const flow_range* range) {
      const auto& all = range->memory;
      for (std::size_t row = 0; row < all.rows; ++row)
        if (may_overlap(box, {all.begin + row * all.stride, all.bytes, 1, 0})) return true;
      return false;
    };
    found.erase(std::remove_if(found.begin() + before, found.end(), std::not_fn(touches)), found.end());
    return;
  }
  each_part(box, [&](const rectangle& at) {
    if (stride == 0) return look_in(only_row, at, found);
    auto band = bands.upper_bound(at.top);
    if (band != bands.begin() && std::prev(band)->second.bottom > at.top) --band;
    for (; band != bands.end() && band->first < at.bottom; ++band) look_in(band->second.ranges, at, found);
  });
  const auto comes_first = [](auto* a, auto* b) { return a->memory.begin < b->memory.begin; };
  if (!std::is_sorted(found.begin() + before, found.end(), comes_first))
    std::sort(found.begin() + before, found.end(), comes_first);
  found.erase(std::unique(found.begin() + before, found.end()), found.end());
}

void flow_domain::plane::look_in(const by_column& row, const rectangle& at,
                                 std::vector<flow_range*>& found) const {
  auto next = row.upper_bound(at.left);
  if (next != row.begin() && place_of(std::prev(next)->second->memory).right > at.left) --next;
  for (; next != row.end() && next->first < at.right; ++next) found.push_back(next->second);
}

void flow_domain::plane::cut_band(std::uintptr_t row) {
  auto below = bands.upper_bound(row);
  if (below == bands.begin()) return;
  auto& [top, cut] = *std::prev(below);
  if (top == row || cut.bottom <= row) return;
  bands.emplace_hint(below, row, cut);
  cut.bottom = row;
}

void flow_domain::plane::enter(flow_range& range) {
  const auto at = place_of(range.memory);
  if (stride == 0) return void(only_row.emplace(at.left, &range));
  cut_band(at.top);
  cut_band(at.bottom);
  auto next = bands.lower_bound(at.top);
  for (auto row = at.top; row != at.bottom; row = next++->second.bottom) {
    if (next == bands.end() || next->first != row)
      next = bands.emplace_hint(next, row,
                                band{next == bands.end() ? at.bottom : std::min(next->first, at.bottom), {}});
    next->second.ranges.emplace(at.left, &range);
  }
}

void flow_domain::plane::leave(const flow_range& range) {
  const auto at = place_of(range.memory);
  if (stride == 0) return void(only_row.erase(at.left));
  for (auto band = bands.find(at.top); band != bands.end() && band->first < at.bottom; ++band)
    band->second.ranges.erase(at.left);
}

void flow_domain::plane::forget_free() {
  const auto is_free = [](const auto& each) { return each.second->memory.bytes == 0; };
  std::erase_if(only_row, is_free);
  for (auto& [top, band] : bands) std::erase_if(band.ranges, is_free);
  std::erase_if(bands, [](const auto& each) { return each.second.ranges.empty(); });
}

bool flow_domain::plane::is_tiled(const flow_box& box, const std::vector<flow_range*>& by) const noexcept {
  if (!is_one(box)) return false;
  const auto whole = place_of(box);
  auto bytes = box.bytes * box.rows;
  for (const auto* const each : by) {
    const auto part = place_of(each->memory);
    if (part.top < whole.top || part.bottom > whole.bottom || part.left < whole.left ||
        part.right > whole.right)
      return false;
    bytes -= each->memory.bytes * each->memory.rows;
  }
  return bytes == 0;
}

void flow_domain::collect(const flow_box& box, std::vector<flow_range*>& to) const {
  line_.overlapping(box, to);
  for (const auto& each : planes_) each.overlapping(box, to);
}

flow_domain::plane& flow_domain::plane_of(const flow_box& box) {
  if (box.stride == 0) return line_;
  const auto found = std::ranges::find(planes_, box.stride, &plane::stride);
  return found != planes_.end() ? *found : planes_.emplace_back(plane{.stride = box.stride});
}

flow_range& flow_domain::insert(plane& to, const flow_box& box) {
  flow_range& made = free_.empty() ? ranges_.emplace_back() : *free_.back();
  if (!free_.empty()) free_.pop_back();
  made.memory = box;
  to.enter(made);
  if (2 * size() > slots_.size()) {
    fill_slots();
  } else {
    slots_[find(box.begin)] = {box.begin, &made};
  }
  return made;
}

// Inserts ranges for what the ranges in a rectangle leave of it.
void flow_domain::fill_gaps(plane& in, const rectangle& at, const std::vector<flow_range*>& there) {
  if (there.empty()) {
    insert(in, in.box_of(at));
    return;
  }
  auto hole = in.place_of(there[there.size() / 2]->memory);
  hole = {std::max(hole.top, at.top), std::min(hole.bottom, at.bottom), std::max(hole.left, at.left),
          std::min(hole.right, at.right)};
  std::vector<flow_range*> inside;
  for (const rectangle& around :
       {rectangle{at.top, hole.top, at.left, at.right}, rectangle{hole.bottom, at.bottom, at.left, at.right},
        rectangle{hole.top, hole.bottom, at.left, hole.left},
        rectangle{hole.top, hole.bottom, hole.right, at.right}}) {
    if (around.top == around.bottom || around.left == around.right) continue;
    inside.clear();
    for (auto* const each : there)
      if (in.place_of(each->memory).overlaps(around)) inside.push_back(each);
    fill_gaps(in, around, inside);
  }
}

void flow_domain::fill_slots() {
  const auto slots = std::bit_ceil(std::max<std::size_t>(4 * size(), 16));
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots));
  slots_.assign(slots, slot{});
  each([this](flow_range& range) { slots_[find(range.memory.begin)] = {range.memory.begin, &range}; });
}

}  // namespace teff::detail
