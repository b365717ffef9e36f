// Helpers of the tests of the C interface: runtimes, graphs and flows that end by themselves.
#pragma once

#include "workers.hpp"

#include <teff/teff.h>

#include <memory>

namespace teff::test {

struct ends {
  void operator()(teff_runtime* runtime) const { EXPECT_EQ(teff_runtime_end(runtime), teff_ok); }
  void operator()(teff_graph* graph) const { teff_graph_end(graph); }
  void operator()(teff_flow* flow) const { teff_flow_end(flow); }
};
using c_runtime = std::unique_ptr<teff_runtime, ends>;
using c_graph = std::unique_ptr<teff_graph, ends>;
using c_flow = std::unique_ptr<teff_flow, ends>;

inline c_runtime made(unsigned workers) {
  teff_runtime* runtime = nullptr;
  EXPECT_EQ(teff_runtime_make(workers, &runtime), teff_ok) << teff_last_error();
  return c_runtime(runtime);
}

inline c_graph made(const c_runtime& runtime, const teff_graph_functions& functions) {
  teff_graph* graph = nullptr;
  EXPECT_EQ(teff_graph_make(runtime.get(), &functions, &graph), teff_ok) << teff_last_error();
  return c_graph(graph);
}

inline c_flow flow_on(const c_runtime& runtime) {
  teff_flow* flow = nullptr;
  EXPECT_EQ(teff_flow_make(runtime.get(), &flow), teff_ok) << teff_last_error();
  return c_flow(flow);
}

template <class Check>
void on_c_runtimes(Check check) {
  for (const unsigned workers : worker_counts) {
    SCOPED_TRACE(testing::Message() << workers << " workers");
    check(made(workers));
  }
}

// Calls `f()` on a worker as the body of teff_run(). Returns the status of teff_run().
template <class F>
int run(const c_runtime& runtime, F f) {
  return teff_run(runtime.get(), [](void* context) -> int { return (*static_cast<F*>(context))(); }, &f);
}

}  // namespace teff::test
