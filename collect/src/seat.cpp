#include "seat.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>
#include <utility>

#include "file.hpp"
#include "seats.hpp"

namespace teff::collect {

namespace {

constexpr std::size_t batch = 64;         // activations
constexpr std::uint32_t window = 32;      // timed bodies that decide whether the next ones are timed
constexpr std::uint32_t sample = 16;      // bodies too short for the clock that one timed body stands for
constexpr std::uint32_t most_parts = 32;  // blocks of a seat

// A list that threads which end more tasks than they make leave to the others. The next two are linked by
// `outer`.
std::atomic<activation*> common{nullptr};

// Ticks without a core of all threads that other threads may have waited for. Relaxed: the number alone is
// used, and a thread adds to it before it ends the wait of another one by anything that synchronizes.
std::atomic<std::uint64_t> displaced_anywhere{0};

activation* new_batch() {
  const growing held;
  auto* made = static_cast<activation*>(pages(batch * sizeof(activation)));
  for (std::size_t i = 0; made != nullptr && i + 1 < batch; ++i) made[i].outer = made + i + 1;
  return made;
}

std::uint32_t low_half(const void* function) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(function));
}

// Rather than waits for other threads, or is outside.
bool works(state now) {
  return (state::body <= now && now <= state::dispatch) || now == state::runtime || now == state::start;
}

bool waits_for_thread(state now) {
  return (state::imbalance <= now && now <= state::dependences) || now == state::lock ||
         now == state::runtime;
}

bool waits_for_task(state now) {
  return now == state::imbalance || now == state::dependences;
}

std::size_t bin_of(std::uint64_t length) {
  const auto octave = static_cast<std::size_t>(std::bit_width(length | 1)) - 1;
  if (octave < first_octave) return 0;
  return std::min(bins - 1, (octave - first_octave) * bins_per_octave + (length >> (octave - 2) & 3));
}

// Adds a body or a wait that was timed, and stands for `bodies` of them.
void add(site& to, std::uint64_t length, std::uint64_t segments, std::uint64_t bodies) {
  ++to.timed;
  to.time += bodies * length;
  to.segments += bodies * segments;
  to.longest = std::max(to.longest, length);
  to.lengths[bin_of(length)] += bodies;
}

}  // namespace

bool seat::arrive(std::uint32_t thread) {
  if (accounts_ == nullptr) {
    block* taken = take_block();
    if (taken == nullptr) return false;
    use(*taken);
    accounts_->seat = 1 + std::atomic_ref(head()->seats).fetch_add(1, std::memory_order_relaxed);
    if (!only_samples) noted_ = open_segments(accounts_->seat);
    accounts_->since = free_since_ = head()->started;
    label(thread == head()->process ? state::serial : state::absent);
  }
  accounts_->thread = thread;
  if (!only_samples) note_displaced(0);
  ++accounts_->threads;
  enter(state::serial);
  is_new_ = true;
  return true;
}

// The part of the segment that ends in which the thread had no core, or waited for one that had none. The
// time is taken for that of this segment: a displaced thread is without its core for longer than a short
// segment lasts. In a wait, the thread needs its core when the wait ends, and is late then.
std::uint64_t seat::note_displaced(std::uint64_t length) {
  // At a region's end, the master is here.
  const auto told = me == this ? nanoseconds_without_core() : without_core_;
  const auto lost = told - std::min(told, std::exchange(without_core_, told));
  const state what = doing();
  if (what == state::serial && accounts_->thread == head()->process) head()->displaced += lost;
  const bool waits = waits_for_thread(what);
  const auto without_core = std::min(length, ticks_of(lost));
  const auto own = works(what) || waits ? without_core : 0;
  const auto anywhere = displaced_anywhere.load(std::memory_order_relaxed);
  const auto delayed = waits ? std::min(length - own, anywhere - seen_) : 0;
  if (without_core != 0) displaced_anywhere.fetch_add(without_core, std::memory_order_relaxed);
  seen_ = anywhere + without_core;
  accounts_->times[static_cast<std::size_t>(state::displaced)] += own;
  accounts_->delayed += delayed;
  return own + delayed;
}

void seat::note_segment(std::uint64_t now) {
  segment& to = noted_[accounts_->segments_noted++ % noted_.size()];
  to = {now, 0, 0, 0, static_cast<std::uint16_t>(accounts_->now)};
  if (current == nullptr) return;
  to.address = reinterpret_cast<std::uint64_t>(current->address);
  to.function = low_half(current->function);
  to.what = static_cast<std::uint16_t>(current->what);
}

void seat::begin_worker(std::uint64_t region_began) {
  if (is_new_) {  // the time since then was taken for that without a thread
    const auto began = std::clamp(region_began, free_since_, accounts_->since);
    accounts_->times[static_cast<std::size_t>(state::absent)] -= accounts_->since - began;
    accounts_->since = began;
    label(state::start);
  } else {
    enter(state::runtime, region_began);
  }
}

void seat::take_part() {
  ++accounts_->regions;
  is_new_ = false;
}

void seat::note_open() {
  if (current->outer != nullptr) return;
  find(current->address, current->what, nullptr);
  accounts_->open_what = static_cast<std::uint32_t>(current->what);
  accounts_->open = reinterpret_cast<std::uint64_t>(current->address);
}

void seat::leave_body(bool accounts) {
  activation& ended = *current;
  if (accounts) account(ended);
  current = ended.outer;
  if (current == nullptr) accounts_->open = 0;
  give(ended);
}

void seat::end_bodies(activation* outer) {
  while (current != nullptr && current != outer) leave_body(true);
}

void seat::end_worker(std::uint64_t now, std::uint64_t last_end) {
  end_wait(state::serial, now, last_end);
  end_bodies(nullptr);
  joined = nullptr;
}

void seat::retire(std::uint64_t now) {
  enter(state::absent, now);
  free_since_ = since();
  current = nullptr;
  led = nullptr;
  accounts_->open = 0;
}

void seat::use(block& accounts) {
  accounts_ = last_part_ = &accounts;
  accounts.sites_used = 1;
  others_ = last_found_ = &accounts.sites[0];
  noted_ = {};
  sites_ = {};
}

// A record for a site that the thread has not met; null if there is none left.
site* seat::meet(const void* address, kind what, std::uint32_t function) {
  const growing held;
  if (head() == nullptr) return nullptr;
  if (last_part_->sites_used == last_part_->sites.size()) {
    block* further = last_part_->part + 1 < most_parts && accounts_->seat != 0 ? take_block() : nullptr;
    if (further == nullptr) return nullptr;
    further->seat = accounts_->seat;
    further->part = last_part_->part + 1;
    last_part_ = further;
  }
  site& record = last_part_->sites[last_part_->sites_used];
  record.address = reinterpret_cast<std::uint64_t>(address);
  record.module = accounts_->seat == 0 ? 0 : module_of(address);
  record.runtime = runtime;
  record.what = static_cast<std::uint32_t>(what);
  record.function = function;
  ++last_part_->sites_used;  // last: a reader of a process that was killed sees whole sites
  return &record;
}

site& seat::find(const void* address, kind what, const void* function) {
  const auto number = reinterpret_cast<std::uint64_t>(address);
  const auto low = low_half(function);
  const auto is_it = [&](const site& one) {
    return one.address == number && one.function == low && one.what == static_cast<std::uint32_t>(what);
  };
  if (is_it(*last_found_)) return *last_found_;
  constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
  auto at = (number + low + static_cast<std::uint64_t>(what)) * spread >> 55;
  static_assert(std::tuple_size_v<decltype(sites_)> == std::size_t{1} << (64 - 55));
  while (sites_[at] != nullptr && !is_it(*sites_[at]))
    at = (at + 1) % sites_.size();  // the blocks of a seat have fewer sites
  if (sites_[at] == nullptr) sites_[at] = meet(address, what, low);
  if (sites_[at] == nullptr) return *others_;
  return *(last_found_ = sites_[at]);
}

// Whether the body that begins is counted alone.
bool seat::skips(const void* address, kind what, const void* function) {
  site& place = find(address, what, function);
  return place.too_short != 0 && ++place.turn % sample != 0;
}

void seat::account(const activation& body) {
  site& to = find(body.address, body.what, body.function);
  ++to.count;
  if (body.counted) return;
  add(to, body.own, body.segments, to.too_short != 0 ? sample : 1);
  to.recent += body.own;
  if (++to.recently < window) return;
  const bool often = body.what == kind::chunk || body.is_task();
  // Relaxed: the number alone is used.
  to.too_short = often && to.recent < window * shortest_timed.load(std::memory_order_relaxed);
  to.recent = to.recently = 0;
}

// Of all partners, the one that more than half of the time is for stays, if there is one.
void seat::account_wait(kind why, const void* address, std::uint64_t length, int partner) {
  site& to = find(address, why, nullptr);
  ++to.count;
  add(to, length, 1, 1);
  const auto number = static_cast<std::uint32_t>(std::max(partner, -1) + 1);
  if (number == to.partner) {
    to.ahead += length;
  } else if (length <= to.ahead) {
    to.ahead -= length;
  } else {
    to.ahead = length - to.ahead;
    to.partner = number;
  }
}

// The wait that ends at `now` since a task begins: until the task was made, until its last dependence ended,
// until now. Since the runtimes don't say when the last dependence ended, that is taken for the last task
// that ended anywhere.
void seat::split_wait(const activation& task, std::uint64_t now) {
  state rest = state::dispatch;
  if (task.created > since()) {
    label(state::task_not_made);
    enter(rest = state::task_not_begun, std::min(task.created, now));
  }
  if (task.what == kind::dependent && is_long(now - since())) {
    label(state::dependences);
    enter(rest, std::clamp(last_end_anywhere(), since(), now));
  }
  label(rest);
}

// A thread that was at a barrier while tasks with dependences ran on others had none that was ready.
void seat::end_wait(state next, std::uint64_t now, std::uint64_t last_end) {
  if (doing() == state::imbalance && (last_end & 1) != 0 && last_end > since()) {
    label(state::dependences);
    enter(state::imbalance, std::min(last_end, now));
  }
  enter(next, now);
}

void seat::end_wait(state next) {
  const auto now = ticks();
  end_wait(next, now, is_long(now - since()) ? last_end_anywhere() : 0);
}

void seat::begin_task(activation& task) {
  const state before = doing();
  current->resumed = before;
  task.outer = current;
  task.begun = task.nested = true;
  task.own = task.segments = 0;  // libgomp may run all tasks of a taskloop by one record
  task.counted = skips(task.address, task.what, task.function);
  if (task.counted) {
    label(state::counted);
  } else {
    const auto now = ticks();
    if (waits_for_task(before)) split_wait(task, now);
    enter(state::body, now);
  }
  current = &task;
}

void seat::end_task(activation& task) {
  const auto now = ticks();
  enter(task.outer->resumed, now);
  if (!task.unconfirmed) account(task);
  // Relaxed: the number alone is used.
  last_end.store((now & ~std::uint64_t{1}) | (task.what == kind::dependent), std::memory_order_relaxed);
  current = task.outer;
}

void seat::suspend_task() {
  activation& task = *current;
  // If it makes a task, it is put aside within, and goes on behind.
  task.resumed = doing() == state::creation ? task.inside() : doing();
  task.nested = false;
  enter(task.outer->resumed);
  current = task.outer;
}

void seat::resume_task(activation& task) {
  current->resumed = doing();
  task.outer = current;
  task.nested = true;
  enter(task.resumed);
  current = &task;
}

activation* seat::begin_part(kind what, const void* address, state first) {
  activation* part = take();
  if (part == nullptr) return nullptr;
  part->what = what;
  part->address = address;
  part->outer = current;
  part->begun = part->nested = true;
  if (doing() != state::counted) enter(first);
  current = part;
  return part;
}

void seat::end_part(bool accounts) {
  enter(current->outer->inside());
  leave_body(accounts);
}

void seat::begin_chunk(activation& chunk, const void* address) {
  chunk.counted = address != nullptr && skips(address, chunk.what, nullptr);
  chunk.own = chunk.segments = 0;
  if (chunk.counted) {
    label(state::counted);
  } else {
    enter(state::body);
  }
}

void seat::end_chunk(activation& chunk, const void* address) {
  chunk.address = address;
  if (!chunk.counted) enter(state::dispatch);
  account(chunk);
}

activation* seat::take() {
  // Acquire: pairs with the exchange in give().
  if (free_ == nullptr) free_ = common.exchange(nullptr, std::memory_order_acquire);
  if (free_ == nullptr) free_ = new_batch();
  if (free_ == nullptr) return nullptr;
  activation* taken = free_;
  free_ = taken->outer;
  return new (taken) activation;
}

void seat::give(activation& body) {
  body.outer = free_;
  free_ = &body;
  // Release: pairs with the exchange in take(). Acquire: pairs with this one of another thread, whose list it
  // takes.
  if (++given_ % batch == 0) free_ = common.exchange(free_, std::memory_order_acq_rel);
}

}  // namespace teff::collect
