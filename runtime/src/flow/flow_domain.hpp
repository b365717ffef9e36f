// The memory that sibling tasks have named, and the last accesses to each part of it.
#pragma once

#include <teff/detail/flow/flow_task.hpp>

#include "flow/accesses.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace teff::detail {

// A box of memory of which no task has named a part only. Each task touches all of it or nothing.
struct flow_range {
  flow_box memory;
  flow_member* last = nullptr;    // the leader of the last group
  flow_member* before = nullptr;  // of the group that the members of the last one wait for; null: for none
  std::uint32_t joined = 0;       // members of the last group, and links to it
  access_mode mode = access_mode::in;
  bool open = false;  // the last group takes members
  const void* operation = nullptr;
  flow_member* newest = nullptr;  // of a reduction: its last member
  flow_member* bounds[2]{};       // and its last two that bound how many are ahead of their turns
  weak_part* weak = nullptr;      // the weak access of the parent that it is a part of
};

// Only the creator touches it: the thread that makes the tasks of the domain.
//
// Boxes of one stride lie in a plane, as rectangles: the row of an address is its quotient by the stride, the
// column is the rest. So a box is cut into boxes, not into rows. Ranges in one row lie in a plane of their
// own until they meet boxes; from then on, in the plane of these. Where boxes of two strides meet, they are
// cut into rows.
class flow_domain {
 public:
  // The range, if it is one. Null: it is none, or several, or a part of one.
  [[nodiscard]] flow_range* exact(const flow_box& box) noexcept {
    if (slots_.empty()) return nullptr;
    flow_range* const found = slots_[find(box.begin)].range;
    return found != nullptr && found->memory == box ? found : nullptr;
  }
  // The ranges that together are the box, until the next call. It cuts and inserts ranges where they are not
  // there yet. For two parts of a range that was cut, whose data are copies, calls split(one, other). Throws
  // std::bad_alloc.
  template <class Split>
  std::span<flow_range* const> cover(const flow_box& box, Split split);
  // The same for a box that was covered, and adds them.
  void collect(const flow_box& box, std::vector<flow_range*>& to) const;
  // A range that overlaps no other. Throws std::bad_alloc.
  flow_range& insert(const flow_box& box) { return insert(plane_of(box), box); }

  template <class Visit>
  void each(Visit visit) {
    for (auto& range : ranges_)
      if (range.memory.bytes != 0) visit(range);
  }
  // Forgets the ranges of which idle(range) is true.
  template <class Idle>
  void sweep(Idle idle) {
    each([&](flow_range& range) {
      if (!idle(range)) return;
      range = flow_range{};
      free_.push_back(&range);
    });
    line_.forget_free();
    for (auto& plane : planes_) plane.forget_free();
    fill_slots();
    sweep_at_ = 2 * size() + first_sweep;
  }
  [[nodiscard]] bool is_crowded() const noexcept { return size() >= sweep_at_; }

 private:
  // Rows and columns, each without the last.
  struct rectangle {
    std::uintptr_t top, bottom, left, right;
    [[nodiscard]] bool overlaps(const rectangle& other) const noexcept {
      return top < other.bottom && other.top < bottom && left < other.right && other.left < right;
    }
  };
  using by_column = std::map<std::uintptr_t, flow_range*>;  // by the first one
  // In all its rows lie the same ranges.
  struct band {
    std::uintptr_t bottom;
    by_column ranges;
  };
  struct plane {
    std::size_t stride;                      // 0: all addresses are in one row
    by_column only_row{};                    // if there is no stride; else
    std::map<std::uintptr_t, band> bands{};  // by the first row

    [[nodiscard]] bool has(const flow_box& box) const noexcept {
      return box.rows == 1 || box.stride == stride;
    }
    [[nodiscard]] rectangle place_of(const flow_box& box) const noexcept;
    [[nodiscard]] flow_box box_of(const rectangle& of) const noexcept;
    // Whether it is one rectangle.
    [[nodiscard]] bool is_one(const flow_box& box) const noexcept {
      return has(box) && (stride == 0 || place_of(box).right <= stride);
    }
    // Calls visit(rectangle) for the parts of a box, each of which is a rectangle here.
    template <class Visit>
    void each_part(const flow_box& box, Visit visit) const;
    // Adds the ranges that overlap the box, each once.
    void overlapping(const flow_box& box, std::vector<flow_range*>& found) const;
    // Whether these ranges, which overlap the box, are the box together.
    [[nodiscard]] bool is_tiled(const flow_box& box, const std::vector<flow_range*>& by) const noexcept;
    void look_in(const by_column& row, const rectangle& at, std::vector<flow_range*>& found) const;
    void enter(flow_range& range);
    void leave(const flow_range& range);
    void cut_band(std::uintptr_t row);
    void forget_free();
  };
  struct slot {
    std::uintptr_t begin = 0;
    flow_range* range = nullptr;
  };

  [[nodiscard]] plane& plane_of(const flow_box& box);
  flow_range& insert(plane& to, const flow_box& box);
  template <class Split>
  void cut(const flow_box& box, Split split);
  template <class Split>
  void cut_in(plane& in, const rectangle& at, Split split);
  void fill_gaps(plane& in, const rectangle& at, const std::vector<flow_range*>& there);
  template <class Split>
  void move(flow_range& range, plane& from, plane& to, Split split);
  template <class Split>
  flow_range& copy(flow_range& range, plane& to, const flow_box& box, Split split);

  // Where a range that begins there is, or would be.
  [[nodiscard]] std::size_t find(std::uintptr_t begin) const noexcept {
    std::size_t at = (begin * 0x9e3779b97f4a7c15U) >> shift_;
    while (slots_[at].range != nullptr && slots_[at].begin != begin) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void fill_slots();

  static constexpr std::size_t first_sweep = 4096;
  [[nodiscard]] std::size_t size() const noexcept { return ranges_.size() - free_.size(); }
  std::list<flow_range> ranges_;    // of all planes
  std::vector<flow_range*> free_;   // of them, those that stand for no memory
  std::vector<flow_range*> found_;  // by cover()
  flow_range* made_ = nullptr;      // by cover(), alone
  plane line_{.stride = 0};
  std::vector<plane> planes_;  // of boxes
  std::vector<slot> slots_;    // by where the range begins; a power of two, at most half full
  unsigned shift_ = 0;
  std::size_t sweep_at_ = first_sweep;
};

template <class Visit>
void flow_domain::plane::each_part(const flow_box& box, Visit visit) const {
  if (!has(box)) {
    for (std::size_t row = 0; row < box.rows; ++row)
      each_part({box.begin + row * box.stride, box.bytes, 1, 0}, visit);
    return;
  }
  const auto first = place_of(box);
  if (stride == 0 || first.right <= stride) return visit(first);
  // It goes on in the row below, or in several rows.
  visit(rectangle{first.top, first.bottom, first.left, stride});
  const auto rest = first.right - stride;
  if (box.rows > 1) return visit(rectangle{first.top + 1, first.bottom + 1, 0, rest});
  const auto below = first.bottom + rest / stride;
  if (rest >= stride) visit(rectangle{first.bottom, below, 0, stride});
  if (rest % stride != 0) visit(rectangle{below, below + 1, 0, rest % stride});
}

template <class Split>
std::span<flow_range* const> flow_domain::cover(const flow_box& box, Split split) {
  plane& own = plane_of(box);
  plane* into = nullptr;  // the plane of what overlaps the box
  bool are_several = false;
  found_.clear();
  line_.overlapping(box, found_);
  if (!found_.empty()) into = &line_;
  for (auto& each : planes_) {
    const auto before = found_.size();
    each.overlapping(box, found_);
    if (found_.size() == before) continue;
    are_several = into != nullptr;
    into = &each;
  }
  if (into == nullptr && own.is_one(box)) {
    made_ = &insert(own, box);
    return {&made_, 1};
  }
  if (into == nullptr || are_several || !into->is_tiled(box, found_)) {
    cut(box, split);
    found_.clear();
    collect(box, found_);
  }
  return found_;
}

// Cuts and inserts ranges, so that some of them together are the box.
template <class Split>
void flow_domain::cut(const flow_box& box, Split split) {
  std::vector<flow_range*> found;
  std::vector<plane*> met;  // with boxes
  plane& own = plane_of(box);
  for (auto& each : planes_) {
    found.clear();
    each.overlapping(box, found);
    if (!found.empty()) met.push_back(&each);
  }
  const auto move_all = [&](plane& from, plane& to) {
    found.clear();
    from.overlapping(box, found);
    for (auto* const range : found) move(*range, from, to, split);
  };
  plane& into = met.empty() ? own : *met.front();
  if (met.size() > 1 || !into.has(box)) {
    for (auto* const each : met) move_all(*each, line_);
    return line_.each_part(box, [&](const rectangle& at) { cut_in(line_, at, split); });
  }
  if (&into != &line_) move_all(line_, into);
  into.each_part(box, [&](const rectangle& at) { cut_in(into, at, split); });
}

// Cuts off what lies outside of the rectangle, and fills the gaps in it.
template <class Split>
void flow_domain::cut_in(plane& in, const rectangle& at, Split split) {
  std::vector<flow_range*> there;
  in.overlapping(in.box_of(at), there);
  // The first part has the data of the range, and begins where the range begins. Returns the other part.
  const auto divide = [&](flow_range& range, const rectangle& first, const rectangle& other) -> flow_range& {
    in.leave(range);
    range.memory = in.box_of(first);
    in.enter(range);
    return copy(range, in, in.box_of(other), split);
  };
  for (auto*& range : there) {
    auto now = in.place_of(range->memory);
    const auto cut_off = [&](std::uintptr_t rectangle::* begin, std::uintptr_t rectangle::* end) {
      auto outside = now;
      if (now.*begin < at.*begin) {
        outside.*end = now.*begin = at.*begin;
        range = &divide(*range, outside, now);
      }
      outside = now;
      if (now.*end > at.*end) {
        outside.*begin = now.*end = at.*end;
        divide(*range, now, outside);
      }
    };
    cut_off(&rectangle::top, &rectangle::bottom);
    cut_off(&rectangle::left, &rectangle::right);
  }
  fill_gaps(in, at, there);
}

// The range becomes ranges of another plane. The first of them begins where it does.
template <class Split>
void flow_domain::move(flow_range& range, plane& from, plane& to, Split split) {
  from.leave(range);
  const auto memory = range.memory;
  bool first = true;
  to.each_part(memory, [&](const rectangle& at) {
    if (!std::exchange(first, false)) return void(copy(range, to, to.box_of(at), split));
    range.memory = to.box_of(at);
    to.enter(range);
  });
}

// Another range with the data of this one.
template <class Split>
flow_range& flow_domain::copy(flow_range& range, plane& to, const flow_box& box, Split split) {
  flow_range& made = insert(to, box);
  made = range;
  made.memory = box;
  split(range, made);
  return made;
}

}  // namespace teff::detail
