#include <teff/teff.h>
#include <teff/error.hpp>
#include <teff/task_graph.hpp>

#include "c_api/status.hpp"

#include <cstdint>

using namespace teff::detail::c_api;

struct teff_graph {
  teff_graph(teff::runtime& runtime, const teff_graph_functions& given) : functions(given), tasks(runtime) {
    if (given.indegree == nullptr) throw teff::misuse("teff_graph_make: there is no indegree()");
    if (given.body == nullptr) throw teff::misuse("teff_graph_make: there is no body()");
    tasks.indegree([this](std::uint64_t key) { return functions.indegree(key, functions.context); });
    tasks.body([this](std::uint64_t key) { expect_ok(functions.body(this, key, functions.context)); });
    if (given.dense != 0) tasks.dense(given.dense);
    if (given.place != nullptr) {
      const auto place = [this](std::uint64_t key) {
        const int worker = functions.place(key, functions.context);
        return worker == teff_anywhere ? teff::anywhere : static_cast<unsigned>(worker);
      };
      tasks.place(place, teff::placement::must);
    }
    if (given.priority != nullptr)
      tasks.priority([this](std::uint64_t key) { return functions.priority(key, functions.context); });
  }

  const teff_graph_functions functions;
  teff::task_graph<std::uint64_t> tasks;
};

int teff_graph_make(teff_runtime* runtime, const teff_graph_functions* functions, teff_graph** made) {
  return status_of([=] {
    begin_to_make(made, "teff_graph_make");
    if (runtime == nullptr || functions == nullptr)
      throw teff::misuse("teff_graph_make: the runtime or the functions are NULL");
    *made = new teff_graph(runtime_of(*runtime), *functions);
  });
}

int teff_graph_fulfill(teff_graph* graph, uint64_t key) {
  return status_of([=] { existing(graph, "teff_graph_fulfill").tasks.fulfill(key); });
}

int teff_graph_wait(teff_graph* graph) {
  return status_of([=] { existing(graph, "teff_graph_wait").tasks.wait(); });
}

void teff_graph_end(teff_graph* graph) {
  delete graph;
}
