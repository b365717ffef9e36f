#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

/// The ways to be parallel in which apps are written. An app is a sequence of steps: loops that name the
/// memory which they read and write. A system says once how it runs a step in each of its ways.
namespace teff::apps {

enum class way_kind : std::uint8_t {
  loops,        ///< a step is a parallel loop, and the next step begins when it has ended
  tasks,        ///< a step is cut into tasks, which wait for each other by the memory that they name
  worksharing,  ///< the same, and several workers share a task
  graph,        ///< tasks have keys, and a task says which tasks wait for it
};
/// As on the command line.
[[nodiscard]] std::string_view name_of(way_kind what);
/// Throws bench::usage_error.
[[nodiscard]] way_kind way_named(std::string_view name);

/// The indices from begin to end - 1.
struct range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t size() const { return end - begin; }
  friend bool operator==(const range&, const range&) = default;
};

/// An index range in parts as equal as can be, none of them empty: `parts` of them, or as many as there are
/// indices.
class cut {
 public:
  cut(std::int64_t count, std::int64_t parts)
      : count_(count), parts_(std::clamp<std::int64_t>(parts, 1, std::max<std::int64_t>(count, 1))) {}

  [[nodiscard]] std::int64_t parts() const { return parts_; }
  [[nodiscard]] range part(std::int64_t which) const {
    return {which * count_ / parts_, (which + 1) * count_ / parts_};
  }
  /// The part that has an index.
  [[nodiscard]] std::int64_t part_of(std::int64_t index) const { return ((index + 1) * parts_ - 1) / count_; }

 private:
  std::int64_t count_;
  std::int64_t parts_;
};

/// An array that steps read and write. It outlives the run. An iteration covers `grain` of its elements: the
/// steps of one array are cut at the same elements if their counts are the same.
struct field {
  template <class T>
  explicit field(std::span<T> elements, std::int64_t per_iteration = 1)
      : data(reinterpret_cast<std::byte*>(elements.data())),
        element_bytes(sizeof(T)),
        count(static_cast<std::int64_t>(elements.size())),
        grain(per_iteration) {}

  std::byte* data;
  std::size_t element_bytes;
  std::int64_t count;
  std::int64_t grain;

  [[nodiscard]] std::int64_t iterations() const { return (count + grain - 1) / grain; }
};

enum class access_mode : std::uint8_t { in, out, inout };

/// The elements of a field that a part of a step touches.
struct field_access {
  access_mode mode;
  const field* what;
  range elements;
  /// The steps write the field in whole iterations. So a task that names all of a part that it touches waits
  /// for the same tasks.
  bool may_widen = false;

  [[nodiscard]] std::span<std::byte> bytes() const {
    return {what->data + static_cast<std::size_t>(elements.begin) * what->element_bytes,
            static_cast<std::size_t>(elements.size()) * what->element_bytes};
  }
  /// For systems whose tasks name single addresses. Cuts the field into `parts`, as a step is cut, and calls
  /// visit(address) for the first byte of each part that the access touches. Accesses that share an element
  /// share an address.
  template <class Visit>
  void visit_parts(std::int64_t parts, const Visit& visit) const {
    if (what->grain >= what->count) return visit(what->data);  // an iteration is not cut
    const cut all(what->iterations(), parts);
    const std::int64_t last = all.part_of((elements.end - 1) / what->grain);
    for (std::int64_t i = all.part_of(elements.begin / what->grain); i <= last; ++i)
      visit(what->data + static_cast<std::size_t>(all.part(i).begin * what->grain) * what->element_bytes);
  }
  /// The elements of these parts.
  [[nodiscard]] range widened(std::int64_t parts) const {
    const cut all(what->iterations(), parts);
    return {all.part(all.part_of(elements.begin / what->grain)).begin * what->grain,
            std::min(all.part(all.part_of((elements.end - 1) / what->grain)).end * what->grain, what->count)};
  }
};

/// The elements that iterations of a step cover, and `more` elements before and behind them.
[[nodiscard]] inline range covered(const field& of, range iterations, std::int64_t more = 0) {
  return {std::max<std::int64_t>(iterations.begin * of.grain - more, 0),
          std::min(iterations.end * of.grain + more, of.count)};
}
[[nodiscard]] inline field_access in(const field& what, range iterations) {
  return {access_mode::in, &what, covered(what, iterations)};
}
/// The same, with `more` elements at each end. The steps write the field in whole iterations.
[[nodiscard]] inline field_access in(const field& what, range iterations, std::int64_t more) {
  return {access_mode::in, &what, covered(what, iterations, more), true};
}
[[nodiscard]] inline field_access out(const field& what, range iterations) {
  return {access_mode::out, &what, covered(what, iterations)};
}
[[nodiscard]] inline field_access inout(const field& what, range iterations) {
  return {access_mode::inout, &what, covered(what, iterations)};
}
/// Of the whole field.
[[nodiscard]] inline field_access in(const field& what) {
  return {access_mode::in, &what, {0, what.count}};
}
[[nodiscard]] inline field_access out(const field& what) {
  return {access_mode::out, &what, {0, what.count}};
}
[[nodiscard]] inline field_access inout(const field& what) {
  return {access_mode::inout, &what, {0, what.count}};
}

using access_list = std::vector<field_access>;

/// Adds accesses that read the iterations which have an element of a list, neighbours as one. The steps write
/// the field in whole iterations.
template <class Elements>
void read_each(const field& of, const Elements& elements, access_list& all) {
  std::vector<bool> is_read(static_cast<std::size_t>(of.iterations()) + 1);  // behind the last one is none
  for (const auto each : elements) is_read[static_cast<std::size_t>(each / of.grain)] = true;
  for (auto begin = is_read.begin(); (begin = std::find(begin, is_read.end(), true)) != is_read.end();) {
    const auto end = std::find(begin, is_read.end(), false);
    const range iterations{begin - is_read.begin(), end - is_read.begin()};
    all.push_back({access_mode::in, &of, covered(of, iterations), true});
    begin = end;
  }
}

/// Widens the accesses that may be widened to whole parts of their fields, each cut into `parts`, as a step
/// is cut. Such accesses in a row that touch each other then become one. So tasks name no piece of a field
/// smaller than a part, and a system looks after few pieces.
void widen(access_list& all, std::int64_t parts);

/// A loop over the iterations 0 to count - 1, or with a count of 1 a task that is not divided.
///
/// A step may depend on an earlier one through memory that both name. Memory that no step writes need not be
/// named. A system that divides a step calls `accesses` on the thread that makes the steps, and a copy of
/// `body` on its workers. A sum is a step that writes a partial result for each iteration, and a step with a
/// count of 1 that adds these in order: the result has the same bits however the step is divided.
struct step {
  std::string_view name;  ///< of its type: a string literal, which a trace shows
  std::int64_t count = 1;
  /// Sets the list to the accesses of these iterations.
  std::function<void(range, access_list&)> accesses;
  std::function<void(range)> body;
  /// Of tasks that are ready, a worker takes the highest first. Not below 0.
  int priority = 0;
};

/// Elements that a rank sends to another, and those that it receives in turn.
struct crossing {
  int rank;  ///< the other one
  field_access sent;
  field_access received;
};

/// How the numbers of all ranks become one.
enum class reduction : std::uint8_t { sum, least };

/// A base that is not copied.
struct interface {
  interface() = default;
  interface(const interface&) = delete;
  interface& operator=(const interface&) = delete;
  virtual ~interface() = default;
};

/// What a way runs over: the ranks that share an app. Of one rank, nothing crosses.
class ranks_of_way : interface {
 public:
  /// A step that sends and receives, at most one crossing to each other rank. All ranks make the same
  /// exchanges, in the same order.
  virtual void exchange(std::span<const crossing> /*all*/) {}
  /// A step that replaces each number of the field, on all ranks, by the reduction of all ranks' numbers at
  /// its place. The other ranks reduce the same fields, in the same order.
  virtual void reduce(const field& /*of*/, reduction /*by*/) {}
};

/// Tasks that make tasks, for apps whose tasks are known only when others have run.
class task_maker : interface {
 public:
  /// Calls first(), which may call spawn(), as may the tasks that it makes. Returns when all of them have
  /// run.
  virtual void run_spawning(const std::function<void()>& first) = 0;
  /// Makes a task. A worker that chooses among such tasks takes the highest priority; they are not above 0.
  virtual void spawn(int priority, std::function<void()> body) = 0;
};

/// Names a task of a graph.
using task_key = std::array<std::int32_t, 3>;

/// A graph of tasks with keys. A task runs once its key has been fulfilled as often as `indegree` says, or
/// once if that is 0. All that the callers did before happens before it.
struct graph_of_tasks {
  std::function<int(task_key)> indegree;
  std::function<void(task_key)> body;
  std::function<int(task_key)> priority = {};  ///< may be empty
  /// Of a graph whose tasks are known: how many there are, and the number of each, below that.
  std::int64_t tasks = 0;
  std::function<std::size_t(task_key)> number = {};
};

/// Tasks that say by keys which tasks wait for them.
class keyed_tasks : interface {
 public:
  /// Into how many parts an app divides its data.
  [[nodiscard]] virtual std::int64_t parts() const = 0;
  /// Calls begin(), which fulfils the first keys. Returns when all tasks that became ready have run.
  virtual void run_graph(const graph_of_tasks& all, const std::function<void()>& begin) = 0;
  /// The body of a task calls it for each task that waits for it.
  virtual void fulfill(task_key waiting) = 0;
};

/// A system's way to run an app: how its steps run, over what, and what its tasks may make.
class way : interface {
 public:
  /// Runs all iterations, as if the steps ran one after the other. May return before they have run.
  virtual void run(const step& each) = 0;
  /// Returns when all steps have run.
  virtual void wait() = 0;

  [[nodiscard]] virtual ranks_of_way& over() { return alone_; }
  /// Null if tasks of this way make no tasks.
  [[nodiscard]] virtual task_maker* spawns() { return nullptr; }
  /// Null if this way has no keys.
  [[nodiscard]] virtual keyed_tasks* graph() { return nullptr; }

 private:
  ranks_of_way alone_;
};

/// An app's steps. Called once a run.
using program = std::function<void(way&)>;

/// Loops whose next step begins when the step has ended: `loop(count, body)` runs a loop.
template <class Loop>
class loops final : public way {
 public:
  explicit loops(Loop loop) : loop_(std::move(loop)) {}
  void run(const step& each) override {
    if (each.count == 1)
      each.body({0, 1});
    else
      loop_(each.count, each.body);
  }
  void wait() override {}

 private:
  Loop loop_;
};

}  // namespace teff::apps
