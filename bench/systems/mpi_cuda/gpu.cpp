#include "gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>

namespace teff::gpu {
namespace {

using graphs::kernel_kind;

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(fmt::format("{}: {}", what, cudaGetErrorString(error)));
}

constexpr std::int64_t pair_bytes = 2 * sizeof(double);  // of doubles in a window, one in each half

/// Scratch on the GPU, filled anew: the check must not find copies that other windows left in another
/// scratch.
std::unique_ptr<double, deleter> make_scratch(std::int64_t bytes, cudaStream_t stream) {
  void* made = nullptr;
  check(cudaMalloc(&made, static_cast<std::size_t>(bytes)), "no memory of the GPU for -scratch");
  std::unique_ptr<double, deleter> scratch(static_cast<double*>(made));
  check(launch_fill(scratch.get(), bytes / static_cast<std::int64_t>(sizeof(double)), stream), "-scratch");
  check(cudaStreamSynchronize(stream), "-scratch");
  return scratch;
}

}  // namespace

int count_gpus() {
  int driver = 0;
  int found = 0;
  cudaDriverGetVersion(&driver);
  const cudaError_t error = cudaGetDeviceCount(&found);
  if (error == cudaSuccess && found > 0) return found;
  const char* why = driver == 0 ? "there is no NVIDIA driver" : "its driver shows none";
  if (driver != 0 && error != cudaSuccess) why = cudaGetErrorString(error);
  throw std::runtime_error(fmt::format(
      "no GPU can be used: {}; run it where nvidia-smi lists one, of a driver for CUDA {} or newer", why,
      CUDART_VERSION / 1000));
}

void refuse_other_kernels(const graphs::workload& work) {
  for (std::size_t i = 0; i < work.graphs(); ++i) {
    const kernel_kind kind = work.graph(i).kernel.kind;
    if (kind != kernel_kind::empty && kind != kernel_kind::compute_bound &&
        kind != kernel_kind::load_imbalance && kind != kernel_kind::memory_bound)
      throw std::invalid_argument(fmt::format(
          "-kernel {} is not made for GPUs: take empty, compute_bound, load_imbalance or memory_bound",
          graphs::name(kind)));
  }
}

device::device(int number) : number_(number) {
  use();
  check(cudaGetDeviceProperties(&properties_, number), "the GPU does not say what it is");
  check(most_compute_threads(processors(), most_threads_), "the GPU does not take the kernels");
  for (auto& each : streams_) {
    cudaStream_t made = nullptr;
    check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "no stream of the GPU");
    each.reset(made);
  }
}

void device::use() const {
  check(cudaSetDevice(number_), "the GPU can't be used");
}

std::string device::version() const {
  return fmt::format("CUDA {}.{} on {}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, properties_.name);
}

std::string device::isa() const {
  return fmt::format("sm_{}{}", properties_.major, properties_.minor);
}

tasks::tasks(device& on, const graphs::task_graph& graph, std::size_t places)
    : on_(&on), graph_(&graph), places_(places) {
  if (graph.kernel.kind == kernel_kind::memory_bound) {
    scratch_ = make_scratch(graph.scratch_bytes, on.stream(0));
    cut_ = {scratch_.get(), graph.kernel.samples, graph.scratch_bytes / pair_bytes / graph.kernel.samples,
            graph.scratch_bytes / pair_bytes % graph.kernel.samples, 0};
  }
  const auto pairs = static_cast<std::size_t>(graph.output_bytes) / sizeof(graphs::payload);
  const std::size_t stride = sizeof(result) + (pairs + 1) * sizeof(graphs::payload);
  void* made = nullptr;
  check(cudaHostAlloc(&made, std::max<std::size_t>(1, places) * stride, cudaHostAllocDefault),
        "no memory that the GPU can write to");
  shared_.reset(static_cast<std::byte*>(made));
  std::memset(made, 0xff, places * stride);  // no task's name
  for (std::size_t i = 0; i < places; ++i) {
    std::byte* const own = shared_.get() + i * stride;
    places_[i].it.result = new (own) result;
    places_[i].it.output = reinterpret_cast<std::int64_t*>(own + sizeof(result));
    places_[i].it.pairs = static_cast<std::int64_t>(pairs);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "no event of the GPU");
    places_[i].ended.reset(event);
    launch(i, -1, -1, graph.kernel.kind == kernel_kind::memory_bound ? 1 : 0);
    wait(i);
  }
}

void tasks::launch(std::size_t place, std::int64_t timestep, std::int64_t point, std::int64_t iterations) {
  task& it = places_[place].it;
  it.timestep = timestep;
  it.point = point;
  it.iterations = iterations;
  *it.result = {std::numeric_limits<double>::quiet_NaN(), 0};
  const cudaStream_t stream = on_->stream(place);
  if (copies(it)) {
    cut_.first = first_window(it);
    check(launch_copy(it, cut_, on_->processors(), stream), "the kernel does not start");
  } else {
    check(launch_compute(it, on_->most_threads(), stream), "the kernel does not start");
  }
  check(cudaEventRecord(places_[place].ended.get(), stream), "the GPU does not say when the kernel ends");
}

landed tasks::wait(std::size_t place) {
  const task& it = places_[place].it;
  const double due = expected(it);  // the GPU takes longer over the same
  check(cudaEventSynchronize(places_[place].ended.get()), "the kernel failed");
  const bool computed = it.result->value == due && it.result->odd == 0;
  return {it.timestep,
          it.point,
          {reinterpret_cast<const std::byte*>(it.output), static_cast<std::size_t>(graph_->output_bytes)},
          computed};
}

bool tasks::copies(const task& it) const {
  return graph_->kernel.kind == kernel_kind::memory_bound && it.iterations > 0;
}

std::int64_t tasks::first_window(const task& it) const {
  const std::int64_t samples = cut_.samples;
  return std::max<std::int64_t>(0, it.timestep) % samples * (it.iterations % samples) % samples;
}

double tasks::expected(const task& it) {
  if (copies(it)) {
    const std::int64_t last = (first_window(it) + it.iterations - 1) % cut_.samples;
    return filled(2 * (last * cut_.pairs + std::min(last, cut_.larger)));
  }
  const std::int64_t threads = compute_threads(it.iterations, on_->most_threads());
  const std::int64_t share = (it.iterations + threads - 1) / threads;
  if (share != known_iterations_) {
    known_value_ = first_start_value;
    for (std::int64_t i = 0; i < share; ++i)
      known_value_ = std::fma(known_value_, known_value_, known_value_);
    known_iterations_ = share;
  }
  return known_value_;
}

}  // namespace teff::gpu
