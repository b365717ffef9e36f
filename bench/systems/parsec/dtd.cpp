// PaRSEC's dynamic task discovery. The main thread inserts all tasks, timestep by timestep, each with the
// data that it reads and writes. PaRSEC derives the order and the messages. Each rank inserts all of them,
// and runs the tasks whose output it has.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "outputs.hpp"
#include "release.hpp"
#include "teff/graphs/mpi_adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// The arguments of a task besides its data.
struct task_name {
  workload* work;
  std::size_t graph;
  std::int64_t timestep;
  std::int64_t point;
};

/// The most data that this PaRSEC was configured for, of a task: its inputs and its output.
constexpr std::size_t most_data = MAX_PARAM_COUNT;

/// The functions of PaRSEC take as many arguments as a task has data, two for each.
using tiles = std::array<parsec_dtd_tile_t*, most_data>;
template <std::size_t Argument>
auto argument(int region, const tiles& data) {
  if constexpr (Argument % 2 == 0) {
    return region;
  } else {
    return static_cast<void*>(data[Argument / 2]);
  }
}

/// Executes a task on the thread that calls. The first pointer is to its output, the others are to its
/// inputs.
void execute(const task_name& task, int thread, void* const* pointers, std::size_t inputs) {
  const auto bytes = static_cast<std::size_t>(task.work->graph(task.graph).output_bytes);
  std::array<input, most_data> all;
  for (std::size_t i = 0; i < inputs; ++i) all[i] = {static_cast<const std::byte*>(pointers[i + 1]), bytes};
  task.work->worker(thread).execute(task.graph, task.timestep, task.point,
                                    {static_cast<std::byte*>(pointers[0]), bytes}, {all.data(), inputs});
}

template <class Data, class Arguments>
struct data_of;

/// Tasks with so many data.
template <std::size_t... Datum, std::size_t... Argument>
struct data_of<std::index_sequence<Datum...>, std::index_sequence<Argument...>> {
  static parsec_hook_return_t run(parsec_execution_stream_t* thread, parsec_task_t* task) {
    task_name name{};
    std::array<void*, sizeof...(Datum)> pointers{};
    (parsec_dtd_unpack_args)(task, &name, &pointers[Datum]..., static_cast<void*>(nullptr));
    execute(name, thread->th_id, pointers.data(), sizeof...(Datum) - 1);
    return PARSEC_HOOK_RETURN_DONE;
  }

  static parsec_task_class_t* make(parsec_taskpool_t* pool) {
    const auto use = [](std::size_t argument) {
      if (argument % 2 == 0) return static_cast<int>(PASSED_BY_REF);
      return argument == 1 ? PARSEC_OUTPUT | PARSEC_AFFINITY : static_cast<int>(PARSEC_INPUT);
    };
    parsec_task_class_t* const made =
        parsec_dtd_create_task_class(pool, "task", static_cast<int>(sizeof(task_name)), PARSEC_VALUE,
                                     use(Argument)..., PARSEC_DTD_ARG_END);
    parsec_dtd_task_class_add_chore(pool, made, PARSEC_DEV_CPU, reinterpret_cast<void*>(run));
    return made;
  }

  static void insert(parsec_taskpool_t* pool, parsec_task_class_t* kind, task_name name, int region,
                     const tiles& data) {
    parsec_dtd_insert_task_with_task_class(pool, kind, 0, PARSEC_DEV_CPU, PARSEC_DTD_EMPTY_FLAG, &name,
                                           argument<Argument>(region, data)..., PARSEC_DTD_ARG_END);
  }
};

/// The same by a number that is known when the program runs.
struct by_number {
  parsec_task_class_t* (*make)(parsec_taskpool_t*);
  void (*insert)(parsec_taskpool_t*, parsec_task_class_t*, task_name, int, const tiles&);
};
template <std::size_t... Inputs>
constexpr std::array<by_number, sizeof...(Inputs)> all_numbers(std::index_sequence<Inputs...>) {
  return {by_number{
      data_of<std::make_index_sequence<Inputs + 1>, std::make_index_sequence<2 * (Inputs + 1)>>::make,
      data_of<std::make_index_sequence<Inputs + 1>, std::make_index_sequence<2 * (Inputs + 1)>>::insert}...};
}
constexpr auto with_inputs = all_numbers(std::make_index_sequence<most_data>());

/// A task pool of PaRSEC's, with a class of tasks for each number of inputs.
class task_pool {
 public:
  task_pool(parsec_context_t* context, std::size_t most_inputs)
      : context_(context), pool_(parsec_dtd_taskpool_new()) {
    parsec_context_add_taskpool(context_, pool_);
    parsec_context_start(context_);
    for (std::size_t inputs = 0; inputs <= most_inputs; ++inputs)
      kinds_.push_back(with_inputs[inputs].make(pool_));
  }
  ~task_pool() {
    parsec_context_wait(context_);
    for (parsec_task_class_t* const each : kinds_) parsec_dtd_task_class_release(pool_, each);
    parsec_taskpool_free(pool_);
  }
  task_pool(const task_pool&) = delete;
  task_pool& operator=(const task_pool&) = delete;

  void insert(const task_name& name, outputs& data) const {
    tiles used{data.tile(name.timestep, name.point)};
    std::size_t inputs = 0;
    for (const std::int64_t each : name.work->table(name.graph).inputs(name.timestep, name.point))
      used[++inputs] = data.tile(name.timestep - 1, each);
    with_inputs[inputs].insert(pool_, kinds_[inputs], name, data.region(), used);
  }
  void wait(std::deque<outputs>& data) const {
    for (outputs& each : data) parsec_dtd_data_flush_all(pool_, each.collection());
    parsec_taskpool_wait(pool_);
  }

 private:
  parsec_context_t* context_;
  parsec_taskpool_t* pool_;
  std::vector<parsec_task_class_t*> kinds_;  ///< by the number of inputs
};

/// Every rank has a thread at least.
class dtd final : public mpi_adapter {
 public:
  explicit dtd(int workers) : dtd(workers, ranks_of_job()) {}
  ~dtd() override { parsec_fini(&context_); }

  [[nodiscard]] identity describe() const override { return identify("parsec", "dtd", parsec_release()); }

 private:
  dtd(int workers, int ranks) : mpi_adapter(std::max(workers, ranks)) {
    char name[] = "parsec";  // flags for PaRSEC: it must not read this program's flags
    char* flags[] = {name, nullptr};
    char** arguments = flags;
    int count = 1;
    together([&] {
      context_ = parsec_init(local_workers(), &count, &arguments);
      if (context_ == nullptr) throw std::runtime_error("PaRSEC does not start");
    });
    saw_workers(parsec_workers(context_));
  }
  static int ranks_of_job() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
  }

  void prepare(workload& work) override {
    outputs_.clear();
    most_inputs_ = 0;
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      const task_graph& graph = work.graph(i);
      most_inputs_ = std::max(most_inputs_, work.table(i).max_inputs());
      outputs_.emplace_back(context_, graph, partition(graph.width, describe().workers, ranks()), ranks(),
                            rank());
    }
    if (most_inputs_ >= most_data)
      throw usage_error("a task reads " + std::to_string(most_inputs_) +
                        " outputs: this PaRSEC was configured for " + std::to_string(most_data - 1) +
                        " (PARSEC_MAX_PARAM_COUNT)");
  }
  void execute(workload& work) override {
    {
      const task_pool pool(context_, most_inputs_);
      start(work);
      const std::int64_t steps = work.steps();
      for (std::int64_t timestep = 0; timestep < steps; ++timestep)
        for (std::size_t index = 0; index < work.graphs(); ++index) {
          const interval points = work.table(index).points(timestep);
          for (std::int64_t point = points.first; point <= points.last; ++point)
            pool.insert({&work, index, timestep, point}, outputs_[index]);
        }
      pool.wait(outputs_);
      stop(work);
    }
    outputs_.clear();
  }

  parsec_context_t* context_ = nullptr;
  std::deque<outputs> outputs_;
  std::size_t most_inputs_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_MULTIPLE,
                     [](int workers) { return std::make_unique<dtd>(workers); });
}
