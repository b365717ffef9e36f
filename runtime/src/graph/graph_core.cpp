#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/graph_core.hpp>
#include <teff/detail/graph/keys.hpp>
#include <teff/error.hpp>

#include <sstream>
#include <utility>

namespace teff::detail {

std::string printed(void (*print)(std::ostream& out, const void* what), const void* what) {
  std::ostringstream out;
  print(out, what);
  return out.str();
}

void graph_functions::throw_incomplete(const char* caller) const {
  throw misuse(std::string(caller) + ": the graph has " + (indegree ? "no body()" : "no indegree()"));
}

graph_core::graph_core(scheduler& runtime, unsigned workers, const key_shape& shape)
    : base(runtime, workers, "teff::task_graph"),
      shape_(shape),
      nodes_(shape.node_bytes, shape.node_alignment),
      states_(workers, [this, workers](graph_worker* at, std::size_t i) {
        std::construct_at(at, static_cast<unsigned>(i), workers == 1, nodes_);
      }) {}

void graph_core::drop_keys() noexcept {
  const auto destroy = [this](graph_node* left) { destroy_key(*left); };
  for (auto& each : states_.all()) each.placed.clear(destroy);
  unplaced_.clear(destroy);
  for (auto& each : states_.all()) {
    while (auto* const left = static_cast<graph_node*>(each.ready.take([] {})))
      if (left->counted == counting::counters || left->counted == counting::none) destroy(left);
  }
  // Ends that are held are none of the graph's.
  const auto drop_keys_in = [this](auto& of) {
    for (auto* each = of.take_all(); each != nullptr;) {
      auto& one = *std::exchange(each, each->next_in_line);
      if (one.kind == runnable_kind::key) drop_node(*states_[0], static_cast<graph_node&>(one));
    }
  };
  for (unsigned i = 0; i < workers(); ++i) drop_keys_in(inbox_of(i));
  drop_keys_in(inbox_of(any_worker));
}

void graph_core::prefer_places(bool prefers) noexcept {
  share_places(prefers);
  for (auto& each : states_.all()) each.steps_out = shares_places();
}

held_end<>& graph_core::hold_end_of_body(const char* call) {
  if (held_end<>* const held = hold_end()) return *held;
  if (being_observed.load(std::memory_order_relaxed))
    throw not_replayable(std::string(call) +
                         ": called while the graph is recorded or replayed, where a task ends with its "
                         "body: run the graph itself, without a recording");
  throw misuse(std::string(call) +
               ": called outside the graph's bodies: call it in the body of the task whose end is to "
               "wait, on the thread of that body");
}

// ---- Errors ----

void graph_core::refuse_number(const void* key, std::size_t number) const {
  throw misuse("teff::task_graph: the number of the task " + text_of(key) + " is " + std::to_string(number) +
               ", and dense() says that all are below " + std::to_string(counters_->size()));
}

void graph_core::refuse_place(const void* key, unsigned place) const {
  throw misuse("teff::task_graph: the place of the task " + text_of(key) + " is worker " +
               std::to_string(place) + ", and the workers are 0 to " + std::to_string(workers() - 1) +
               ": return one of these, or teff::anywhere");
}

void graph_core::refuse_indegree(const void* key, int indegree) const {
  throw negative_indegree("teff::task_graph: the indegree of the task " + text_of(key) + " is " +
                          std::to_string(indegree));
}

void graph_core::expect_to_start(const void* key, const char* call) const {
  functions.expect_complete(call);
  if (const int needed = indegree_of(key); needed != 0) [[unlikely]]
    throw misuse(std::string(call) + ": the indegree of the key " + text_of(key) + " is " +
                 std::to_string(needed) +
                 ", and start() is for tasks of indegree 0: the tasks that it depends on fulfil it");
}

void graph_core::fail_over_fulfilled(const void* key, int needed) noexcept {
  // An indegree of 0 is kept as 1: either needs one fulfilment.
  fail(std::make_exception_ptr(over_fulfilled("teff::task_graph: the task " + text_of(key) +
                                              " was fulfilled more often than its indegree, " +
                                              (needed <= 1 ? "0 or 1" : std::to_string(needed)) + ", says")));
}

std::string graph_core::running_task_on(unsigned worker) const {
  const auto* const running = states_[worker]->running;
  return running == nullptr ? std::string() : text_of(key_in(static_cast<graph_node&>(*running->task)));
}

// ---- The end ----

// Keys that wait for fulfilments that nobody will make, for an error that names some of them.
struct graph_core::leftovers {
  // How many keys an error names.
  static constexpr std::size_t most_names = 8;

  std::size_t count = 0;
  std::string names;  // of some, in words

  // Null if there are none.
  [[nodiscard]] std::exception_ptr error() const {
    if (count == 0) return nullptr;
    const std::string text =
        "teff::task_graph: " + std::to_string(count) + (count == 1 ? " key was" : " keys were") +
        " fulfilled, but less often than the indegree says, or once more after the task had run: " + names +
        (count > most_names ? ", ..." : "");
    return std::make_exception_ptr(never_satisfied(text, count));
  }

  // A name that can't be made is left out: the graph has to be empty in any case.
  template <class Name>
  void add(Name name) noexcept {
    if (++count <= most_names) catch_all([&] { names += (names.empty() ? "" : ", ") + name(); }, [] {});
  }
};

std::exception_ptr graph_core::forget_waiting(bool named) {
  leftovers all;
  const auto note = [&](graph_node& left) {
    all.add([&] {
      return text_of(key_in(left)) + " (" + std::to_string(left.received) + " of " +
             std::to_string(left.needed) + ")";
    });
  };
  enter_all();
  for (auto& each : states_.all()) {
    each.placed.clear([&](graph_node* left) {
      note(*left);
      drop_node(each, *left);
    });
    each.unplaced.store(0, std::memory_order_relaxed);
    account(each.index).waiting.store(0, std::memory_order_relaxed);
  }
  unplaced_.clear([&](graph_node* left) {
    if (!left->ran.load(std::memory_order_relaxed)) note(*left);
    drop_node(*states_[0], *left);
  });
  if (counters_)
    counters_->clear([&](std::size_t number, std::uint32_t missing) {
      all.add([&] {
        return "the one with number " + std::to_string(number) + " (" + std::to_string(missing) + " missing)";
      });
    });
  leave_all();
  return named ? all.error() : nullptr;
}

}  // namespace teff::detail
