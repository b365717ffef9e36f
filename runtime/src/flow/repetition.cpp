// Tasks that the program makes again and again are taken from a memo (README.md, "Repetition").
#include <teff/detail/exceptions.hpp>

#include "flow/flow_core.hpp"
#include "flow/flow_memo.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

namespace teff::detail {

namespace {

constexpr std::size_t most_reduced = 64;  // bytes: copies of larger ones are bounded, which takes a table

// A memo has readers, writers, concurrent accesses, and reductions whose copies are small.
bool may_repeat(const access& each) noexcept {
  return !each.weak && each.mode != access_mode::commutative &&
         (each.mode != access_mode::reduction || (each.rows == 1 && each.bytes <= most_reduced));
}

bool is_same(const access& a, const access& b) noexcept {
  return a.first == b.first && a.bytes == b.bytes && a.rows == b.rows && a.stride == b.stride &&
         a.mode == b.mode && a.weak == b.weak && a.operation == b.operation;
}

bool is_same(const flow_record& one, const flow_body& body, std::span<const access> accesses) noexcept {
  return one.body == &body &&
         std::ranges::equal(one.accesses, accesses,
                            [](const access& a, const access& b) { return is_same(a, b); });
}

// Of a task that no memo takes: other each time.
std::uint32_t digest_of_task(const flow_body& body, std::span<const access> accesses,
                             std::uint64_t made) noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
  auto digest = reinterpret_cast<std::uintptr_t>(&body) * odd;
  for (const auto& each : accesses) {
    if (!may_repeat(each)) digest += made;
    const auto word = reinterpret_cast<std::uintptr_t>(each.first) + each.bytes * 0xd6e8feb86659fd93U +
                      (each.rows * each.stride + static_cast<unsigned>(each.mode)) * 0xa0761d6478bd642fU;
    digest = (std::rotl(digest, 23) ^ word) * odd;
  }
  return static_cast<std::uint32_t>(digest >> 32U);
}

// Several periods, if one is so short that its rounds would cost more than its tasks.
std::size_t tasks_of_round(std::size_t period) noexcept {
  constexpr std::size_t few = 32;
  return (few + period - 1) / period * period;
}

}  // namespace

// ---- A task is made ----

flow_task* flow_core::next_of_memo(const flow_creator& by, const flow_body& body,
                                   std::span<const access> accesses) {
  auto& repetition = *repetition_;
  if (repetition.now != flow_repetition::step::repeats) return nullptr;
  auto& memo = *repetition.memo;
  if (memo.position == memo.tasks.size()) memo.begin_round();
  const memo_task& next = memo.tasks[memo.position];
  if (!is_same(next.of, body, accesses)) [[unlikely]] {
    leave_memo(by);
    return nullptr;
  }
  ++memo.position;
  ++repetition.repeated;
  flow_task& task = memo.current->task(next.at);
  task.body = &body;
  return &task;
}

// A task that the table orders, before it is submitted.
void flow_core::note_made(const flow_creator& by, flow_task& task, std::span<const access> accesses,
                          std::size_t bytes) {
  using enum flow_repetition::step;
  auto& repetition = *repetition_;
  auto& history = repetition.history;
  history.add(digest_of_task(*task.body, accesses, ++repetition.noted));
  switch (repetition.now) {
    case repeats:
      break;
    case watches:
      if (history.period() == 0 ||
          history.repeated() < std::max<std::uint64_t>(history.period(), repetition.least))
        return;
      if (repetition.left != nullptr && !repetition.left->has_ended()) return;
      repetition.left.reset();
      repetition.gathered.clear();
      repetition.now = gathers;
      return;
    case gathers:
      catch_all(
          [&] {
            repetition.now = watches;
            if (history.repeated() == 0) return;
            repetition.gathered.push_back({nullptr, {accesses.begin(), accesses.end()}, task.body, bytes});
            repetition.now = gathers;
            if (repetition.gathered.size() < tasks_of_round(history.period())) return;
            repetition.now = watches;
            repetition.memo = std::make_unique<flow_memo>(*this, std::move(repetition.gathered));
            if (!repetition.memo->is_whole()) return leave_memo(by);
            repetition.now = links;
          },
          [] {});  // without memory, the table goes on
      return;
    case links:
      auto& memo = *repetition.memo;
      if (!is_same(memo.tasks[memo.position].of, *task.body, accesses)) return leave_memo(by);
      task.round = memo.current;
      task.number = memo.position;
      memo.current->in_table.fetch_add(1, std::memory_order_relaxed);  // before the task may end
      if (++memo.position == memo.tasks.size()) repetition.now = repeats;
  }
}

// From here on the table orders the tasks again, so it has to know of the last accesses. The last tasks of
// the memo made them, as many tasks as a round has.
void flow_core::leave_memo(const flow_creator& by) {
  auto& repetition = *repetition_;
  constexpr std::uint64_t most = std::uint64_t{1} << 24;
  auto& memo = *(repetition.left = std::move(repetition.memo));
  const bool paid = repetition.repeated > 8 * memo.tasks.size();
  repetition.least = paid ? flow_repetition::few_tasks : std::min(4 * repetition.least, most);
  repetition.repeated = 0;
  repetition.history.begin_anew();
  repetition.now = flow_repetition::step::watches;
  const auto stand_in = [&](memo_round* round, std::size_t first, std::size_t last) {
    if (round == nullptr || round->is_first) return;
    for (; first < last; ++first)
      this->stand_in(by, round->task(memo.tasks[first].at), memo.tasks[first].of.accesses);
  };
  undo_if_thrown(
      [&] {
        stand_in(memo.previous, memo.position, memo.tasks.size());
        stand_in(memo.current, 0, memo.position);
      },
      [this] { this->fail(std::current_exception()); });
}

// Its closure is there.
void flow_core::submit_of_memo(const flow_creator& by, flow_task& task) {
  auto& memo = *task.round->of;
  if (task.body->reduction != nullptr) {
    std::size_t number = 0;
    for (const auto row : memo.tasks[task.number].rows) {
      auto* const turn = task.body->reduction(task, number++);
      flow_member& member = *::new (&task.members()[task.count++]) flow_member;
      member.task = &task;
      member.mode = access_mode::reduction;
      member.part = turn;
      turn->member = &member;
      // The first one of a round waits, before it begins, for all earlier accesses.
      auto* const before = std::exchange(memo.rows[row], turn);
      if (before == nullptr || before->follow(*turn)) static_cast<void>(turn->reach());
    }
    task.has_more = true;
  }
  was_made(by, task, task.missing.end_one());
}

}  // namespace teff::detail
