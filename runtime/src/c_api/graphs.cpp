// Task graphs and data flow for C.
#include <teff/teff.h>
#include <teff/error.hpp>
#include <teff/flow.hpp>
#include <teff/task_graph.hpp>

#include "c_api/status.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

using namespace teff::detail::c_api;

// ---- Task graphs ----

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

// ---- Data flow ----

struct teff_flow {
  teff::flow tasks;
};

namespace {

teff::access access_of(const teff_access& given, const std::string& function) {
  using enum teff::detail::access_mode;
  static constexpr teff::detail::access_mode modes[] = {in, write, write, commutative, concurrent};
  static_assert(teff_in == 1 && teff_out == 2 && teff_inout == 3 && teff_commutative == 4 &&
                teff_concurrent == 5);
  if (given.kind < teff_in || given.kind > teff_concurrent)
    throw teff::misuse(function + ": the kind of an access is " + std::to_string(given.kind) +
                       ": set it to teff_in, teff_out, teff_inout, teff_commutative or teff_concurrent");
  return {static_cast<const std::byte*>(given.first), given.bytes, given.rows == 0 ? 1 : given.rows,
          given.stride, modes[given.kind - teff_in]};
}

std::vector<teff::access> list_of(const teff_access* accesses, std::size_t count, const char* function) {
  if (accesses == nullptr && count != 0)
    throw teff::misuse(std::string(function) + ": the accesses are NULL, and their count is not 0");
  std::vector<teff::access> made;
  made.reserve(count);
  for (const auto& each : std::span(accesses, count)) made.push_back(access_of(each, function));
  return made;
}

// The context of a body: that of the program, or a copy of so many bytes of it.
using kept_context = std::unique_ptr<void, void (*)(void*)>;
kept_context keep(void* context, std::size_t bytes, const char* function) {
  if (bytes == 0) return {context, [](void*) {}};
  if (context == nullptr)
    throw teff::misuse(std::string(function) + ": the context is NULL, and its size is not 0");
  void* const copy = ::operator new(bytes);
  return {std::memcpy(copy, context, bytes), [](void* made) { ::operator delete(made); }};
}

template <class Body>
Body* expect_body(Body* body, const char* function) {
  if (body == nullptr) throw teff::misuse(std::string(function) + ": the body is NULL");
  return body;
}

}  // namespace

int teff_flow_make(teff_runtime* runtime, teff_flow** made) {
  return status_of([=] {
    begin_to_make(made, "teff_flow_make");
    *made = new teff_flow{teff::flow(runtime_of(existing(runtime, "teff_flow_make")))};
  });
}

int teff_flow_task(teff_flow* flow, const teff_access* accesses, size_t count, int (*body)(void* context),
                   void* context, size_t bytes) {
  return status_of([=] {
    static constexpr auto call = "teff_flow_task";
    existing(flow, call)
        .tasks.task(list_of(accesses, count, call),
                    [body = expect_body(body, call), kept = keep(context, bytes, call)] {
                      expect_ok(body(kept.get()));
                    });
  });
}

int teff_flow_task_for(teff_flow* flow, int64_t first, int64_t last, size_t chunk,
                       const teff_access* accesses, size_t count,
                       int (*body)(int64_t begin, int64_t end, void* context), void* context, size_t bytes) {
  return status_of([=] {
    static constexpr auto call = "teff_flow_task_for";
    existing(flow, call)
        .tasks.task_for(
            first, last, {.chunk = chunk}, list_of(accesses, count, call),
            [body = expect_body(body, call), kept = keep(context, bytes, call)](
                std::int64_t begin, std::int64_t end) { expect_ok(body(begin, end, kept.get())); });
  });
}

int teff_flow_wait(teff_flow* flow) {
  return status_of([=] { existing(flow, "teff_flow_wait").tasks.wait(); });
}

int teff_flow_wait_for(teff_flow* flow, const teff_access* accesses, size_t count) {
  return status_of([=] {
    static constexpr auto call = "teff_flow_wait_for";
    existing(flow, call).tasks.wait(list_of(accesses, count, call));
  });
}

void teff_flow_end(teff_flow* flow) {
  delete flow;
}
