// How ranks agree on a distributed replay: phases, each of which ends on all ranks before the next one
// begins (replay.md).
#include <teff/detail/exceptions.hpp>
#include <teff/distributed_graph.hpp>
#include <teff/error.hpp>

#include "distributed/replay_memory.hpp"
#include "message/message_source.hpp"
#include "platform/asymmetric_fence.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <map>
#include <new>
#include <set>
#include <string>
#include <utility>

namespace teff::detail {

namespace {

constexpr std::size_t page_size = 4096;

// For this process alone, all zero. Pages that no thread writes take no memory.
std::shared_ptr<std::byte> own_memory(std::size_t size) {
  void* const made = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) throw std::bad_alloc();
  ::madvise(made, size, MADV_NOHUGEPAGE);  // a stamp would make 2 MiB of them resident
  return {static_cast<std::byte*>(made), [size](std::byte* memory) { ::munmap(memory, size); }};
}

// Calls use(worker, index, task) for each task of this rank.
template <class Lists, class Use>
void for_each_task(Lists& lists, Use use) {
  for (std::uint32_t worker = 0; worker < lists.size(); ++worker) {
    for (std::uint32_t index = 0; index < lists[worker].size(); ++index)
      use(worker, index, lists[worker][index]);
  }
}

// Among the workers of all ranks.
std::uint64_t number_of(const rank_worker& on) noexcept {
  return static_cast<std::uint64_t>(on.rank) << 32 | on.worker;
}
rank_worker worker_of(std::uint64_t number) noexcept {
  return {static_cast<std::int32_t>(number >> 32), static_cast<std::uint32_t>(number)};
}

}  // namespace

replay_ranks::replay_ranks(communicator& like)
    : runtime_(like.workers()),
      transport_(like.network()),
      messages_(runtime_, transport_, {.window = like.window()}, "distributed_replay"),
      tell_times_(messages_.on([this](int from, std::uint64_t times) {
        if (leaves_) return;
        catch_all([&] { expect_same_times_as(from, times); }, [&] { fail(std::current_exception(), {}); });
      })),
      tell_outputs_(
          messages_.on([this](int from, const memory_name& name, const std::vector<std::uint32_t>& first,
                              const std::vector<table_entry>& table, const std::vector<list_position>& read) {
            auto& there = at(from);
            there.name = name;
            there.first = first;
            there.table = table;
            there.read = read;
          })),
      tell_needs_(messages_.on(
          [this](int from, bool has_mapped, bool has_fence, const std::vector<rank_reader>& waited_for) {
            at(from).is_near = has_mapped;
            at(from).has_fence = has_fence;
            at(from).waited_for = waited_for;
          })) {
  private_access::source(messages_).describe([this] { return waits_in_words(); });
  core().on_note([this](int from, std::span<const std::byte> bytes) { take(from, bytes); });
}

// Other ranks may be in a replay, or about to begin one.
replay_ranks::~replay_ranks() {
  leaves_ = true;
  private_access::source(messages_).leave("teff::distributed_replay", [this] {
    if (failed_ == nullptr) return;
    failure_spread_.store(false, std::memory_order_relaxed);
    spread_failure();
  });
}

communicator_core& replay_ranks::core() noexcept {
  return private_access::source(messages_).core();
}

replay_ranks::known_rank& replay_ranks::at(int rank) {
  return known_.at(rank);
}

void replay_ranks::note_readers(int rank, std::vector<rank_reader> readers) {
  at(rank).readers = std::move(readers);
}

// Each phase is an epoch. If a rank lacks memory in one, all ranks are told.
void replay_ranks::plan(rank_lists& lists) {
  refuse_cycles(lists);
  messages_.run([&] {
    lay_out(lists);
    tell_outputs();
  });
  std::vector<replay_need> needs;
  messages_.run([&] {
    needs = needs_of(lists);
    tell_needs(needs);
  });
  messages_.run([&] { compile(lists, needs); });
}

// The first iteration is run as a task graph, without its bodies: of tasks that wait for each other, keys are
// left.
void replay_ranks::refuse_cycles(const rank_lists& lists) {
  const int own_rank = transport_.rank();
  std::map<rank_task, std::vector<rank_task>> readers;  // in the same iteration
  known_.each([&](int from, const known_rank& there) {
    for (const auto& each : there.readers) {
      if (each.before == 0)
        readers[{{own_rank, each.of_worker}, each.of_index}].push_back({{from, each.worker}, each.index});
    }
  });
  distributed_graph<rank_task> iteration(messages_);
  iteration.rank([](const rank_task& task) { return task.on.rank; })
      .indegree([&](const rank_task& task) {
        const auto& reads = lists[task.on.worker][task.index].reads;
        return 1 + (task.index != 0 ? 1 : 0) +
               static_cast<int>(std::ranges::count(reads, 0U, &rank_read::before));
      })
      .body([&](const rank_task& task) {
        if (task.index + 1 != lists[task.on.worker].size()) iteration.fulfill({task.on, task.index + 1});
        if (const auto found = readers.find(task); found != readers.end())
          for (const auto& each : found->second) iteration.fulfill(each);
      });
  // Once each, so that the graph knows all of them.
  for_each_task(lists, [&](std::uint32_t worker, std::uint32_t index, const rank_planned_task&) {
    iteration.fulfill({{own_rank, worker}, index});
  });
  try {
    iteration.wait();
  } catch (const never_satisfied& left) {
    // By the names that the program knows.
    std::string words = left.what();
    for_each_task(lists, [&](std::uint32_t worker, std::uint32_t index, const rank_planned_task&) {
      const rank_task task{{own_rank, worker}, index};
      const auto numbers = key_text(task);
      if (const auto at = words.find(numbers); at != std::string::npos)
        words.replace(at, numbers.size(), named(task));
    });
    throw misuse("teff::distributed_replay: tasks of one iteration wait for each other: " + words);
  }
}

// How many outputs of each task are kept, and where.
void replay_ranks::lay_out(const rank_lists& lists) {
  auto& own = at(transport_.rank());
  own.first = {0};
  for (const auto& each : lists)
    own.first.push_back(own.first.back() + static_cast<std::uint32_t>(each.size()));
  std::vector<std::uint32_t> most_before(own.first.back());
  known_.each([&](int, const known_rank& from) {
    for (const auto& each : from.readers) {
      auto& most = most_before[own.number(each.of_worker, each.of_index)];
      most = std::max(most, each.before);
    }
  });
  std::size_t end = sizeof(shared_head) + lists.size() * sizeof(shared_bell);
  for_each_task(lists, [&](std::uint32_t, std::uint32_t, const rank_planned_task& task) {
    const auto kept = outputs_kept(task.bytes, most_before[own.table.size()]);
    own.table.push_back({kept, task.bytes, end});
    end += bytes_of(slots_at(nullptr, task.bytes, kept));
    for (const auto& each : task.reads) at(each.from.on.rank).is_peer = true;
  });
  known_.each([&](int rank, known_rank& each) {
    each.is_peer = rank != transport_.rank() && (each.is_peer || !each.readers.empty());
  });
  const auto size = rounded_up(end, page_size);
  own.memory = transport_.share_memory(size, own.name);
  if (!own.memory) {
    own.name = {};
    own.memory = own_memory(size);
  }
  own.is_near = true;
  own.place_slots();
  for (const auto& slots : own.slots)
    for (std::uint64_t i = 0; i <= slots.mask; ++i) ::new (&slots.stamp(i)) replay_stamp<>;
  memory_ = own.memory;
  failed_ = &(::new (memory_.get()) shared_head)->failed;
  for (std::size_t worker = 0; worker < lists.size(); ++worker)
    ::new (memory_.get() + sizeof(shared_head) + worker * sizeof(shared_bell)) shared_bell;
  bells_ = lists.size();
}

// Each rank tells the ranks that it reads from, and the ranks that read from it, where its outputs lie.
void replay_ranks::tell_outputs() {
  const int own_rank = transport_.rank();
  auto& own = at(own_rank);
  known_.each([&](int rank, const known_rank& there) {
    std::vector<list_position> read;
    for (const auto& each : there.readers) read.push_back({each.of_worker, each.of_index});
    if (there.is_peer) {
      tell_outputs_.send(rank, own_rank, own.name, own.first, own.table, read);
    } else if (rank == own_rank) {
      own.read = std::move(read);
    }
  });
}

std::int64_t replay_ranks::tasks_of(const rank_worker& on) noexcept {
  const auto& first = at(on.rank).first;
  return std::int64_t{first[on.worker + 1]} - first[on.worker];
}

// A task waits for the outputs that it reads, and for the readers of the output that it overwrites. Leaves
// out each wait that another one ensures.
std::vector<replay_need> replay_ranks::needs_of(rank_lists& lists) {
  const int own_rank = transport_.rank();
  const auto& own = at(own_rank);
  std::vector<replay_need> needs;
  const auto add = [&](std::uint32_t worker, std::uint32_t index, const rank_task& task,
                       std::int64_t before) {
    if (task.on != rank_worker{own_rank, worker})
      needs.push_back({worker, index, number_of(task.on), task.index - before * tasks_of(task.on)});
  };
  std::map<int, std::size_t> seen;  // of the reads from each rank
  for_each_task(lists, [&](std::uint32_t worker, std::uint32_t index, rank_planned_task& task) {
    for (auto& [from, before] : task.reads) {
      const auto rank = from.on.rank;
      const auto [on, at_index] = at(rank).read[seen[rank]++];
      from = {{rank, on}, at_index};
      add(worker, index, from, before);
    }
  });
  known_.each([&](int from, const known_rank& there) {
    for (const auto& each : there.readers) {
      const auto kept = std::int64_t{own.table[own.number(each.of_worker, each.of_index)].kept};
      add(each.of_worker, each.of_index, {{from, each.worker}, each.index}, kept - each.before);
    }
  });
  drop_known(needs, [&](std::uint64_t other) { return tasks_of(worker_of(other)); });
  return needs;
}

// The task, and in which iteration before the one that waits.
std::pair<rank_task, std::int64_t> replay_ranks::awaited_by(const replay_need& each) noexcept {
  const auto on = worker_of(each.other);
  const auto tasks = tasks_of(on);
  const auto before = (tasks - 1 - each.position) / tasks;
  return {{on, static_cast<std::uint32_t>(each.position + before * tasks)}, before};
}

// The other ranks are told which of their tasks this rank waits for, and whether it has their memory.
void replay_ranks::tell_needs(const std::vector<replay_need>& needs) {
  const int own_rank = transport_.rank();
  auto& own = at(own_rank);
  std::map<int, std::set<rank_reader>> of_rank;
  for (const auto& each : needs) {
    const auto& task = awaited_by(each).first;
    of_rank[task.on.rank].insert({task.on.worker, task.index, each.waiter});
  }
  known_.each([&](int rank, known_rank& there) {
    const auto& some = of_rank[rank];
    std::vector<rank_reader> waited_for(some.begin(), some.end());
    if (there.is_peer) {
      if (own.name.size != 0 && there.name.size != 0) there.memory = transport_.map_memory(rank, there.name);
      tell_needs_.send(rank, own_rank, there.memory != nullptr, own_fence().available(), waited_for);
    } else if (rank == own_rank) {
      own.waited_for = std::move(waited_for);
    }
  });
}

// ---- The plan as parts run it ----

void replay_ranks::compile(const rank_lists& lists, const std::vector<replay_need>& needs) {
  const auto& own = at(transport_.rank());
  signals_.resize(own.table.size());
  fences_are_light_ = own_fence().available();
  known_.each([&](int rank, known_rank& there) {
    if (there.is_peer) meet(there);
    if (there.is_peer || rank == transport_.rank()) peers_.emplace_back(rank, &there);
    if (there.is_near) {
      for (const auto& each : there.waited_for)
        signals_[own.number(each.of_worker, each.of_index)].bells.push_back(
            &bell_of(there.memory.get(), each.worker));
    } else if (there.is_peer) {
      tell_far(rank, there);
    }
  });
  std::vector<std::uint32_t> tasks;
  for (std::uint32_t worker = 0; worker < lists.size(); ++worker) {
    tasks.push_back(static_cast<std::uint32_t>(lists[worker].size()));
    if (tasks.back() != 0) parts_.push_back(part_of(lists, worker, needs));
  }
  long_waits_ = std::make_unique<long_wait[]>(parts_.size());
  core_.emplace(private_access::internals(runtime_), replay_plan(tasks, {}, true));
}

// Ranks that share memory both ways are near. Of any other rank there is a copy here that packets keep.
void replay_ranks::meet(known_rank& there) {
  there.is_near = there.is_near && there.memory != nullptr;
  if (!there.is_near) {
    const auto& last = there.table.back();
    // Its stamps are zero: nothing has ended.
    there.memory = own_memory(last.offset + bytes_of(slots_at(nullptr, last.bytes, last.kept)));
  }
  there.place_slots();
  has_far_ = has_far_ || !there.is_near;
  fences_are_light_ = fences_are_light_ && (!there.is_near || there.has_fence);
}

void replay_ranks::tell_far(int rank, const known_rank& there) {
  const auto& own = at(transport_.rank());
  std::map<std::size_t, bool> with_output;  // by number of the task
  for (const auto& each : there.waited_for) with_output[own.number(each.of_worker, each.of_index)] = false;
  for (const auto& each : there.readers) {
    const auto number = own.number(each.of_worker, each.of_index);
    if (own.table[number].bytes != 0) with_output[number] = true;
  }
  for (const auto& [number, output] : with_output)
    signals_[number].far.push_back({rank, static_cast<std::uint32_t>(number), output});
}

rank_part replay_ranks::part_of(const rank_lists& lists, std::uint32_t worker,
                                const std::vector<replay_need>& needs) {
  const auto& own = at(transport_.rank());
  rank_part part;
  part.worker = worker;
  auto need = std::ranges::find(needs, worker, &replay_need::waiter);
  const auto& list = lists[worker];
  for (std::uint32_t index = 0; index < list.size(); ++index) {
    for (; need != needs.end() && need->waiter == worker && need->index == index; ++need) {
      const auto [task, before] = awaited_by(*need);
      const auto& there = at(task.on.rank);
      part.waits.push_back({there.slots[there.number(task.on.worker, task.index)], before});
      part.awaited.push_back(task);
    }
    for (const auto& [from, before] : list[index].reads) {
      part.befores.push_back(before);
      part.most_before = std::max<std::uint64_t>(part.most_before, before);
      const auto& there = at(from.on.rank);
      part.phase_mask |= there.slots[there.number(from.on.worker, from.index)].mask;
    }
    const auto number = own.number(worker, index);
    const auto& told = signals_[number];
    part.steps.push_back({static_cast<std::uint32_t>(part.waits.size()),
                          static_cast<std::uint32_t>(part.befores.size()), list[index].bytes,
                          own.slots[number], told.bells.empty() && told.far.empty() ? nullptr : &told});
  }
  for (std::uint64_t phase = 0; phase <= part.phase_mask; ++phase) {
    for (const auto& task : list) {
      for (const auto& [from, before] : task.reads) {
        const auto& there = at(from.on.rank);
        const auto number = there.number(from.on.worker, from.index);
        part.inputs.push_back({there.slots[number].at(phase - before), there.table[number].bytes});
      }
    }
  }
  return part;
}

std::uint32_t outputs_kept(std::size_t bytes, std::uint32_t most_before) noexcept {
  // Twice as many small outputs: a worker that overwrites one then waits for a reader that is long done.
  constexpr std::size_t small = 1024;
  const auto least = std::bit_ceil(most_before + 1);
  return bytes <= small ? 2 * least : least;
}

}  // namespace teff::detail
