// One worker's part of a GPU: its streams, its scratch, and the tasks that are on their way through it.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::gpu {

/// How many GPUs this process may use. Throws if there is none, with the reason and the way out.
int count_gpus();

/// Throws where a graph has a kernel that is not made for GPUs.
void refuse_other_kernels(const graphs::workload& work);

struct deleter {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  void operator()(double* scratch) const { cudaFree(scratch); }
  void operator()(std::byte* shared) const { cudaFreeHost(shared); }
};

class device {
 public:
  /// Of the GPUs from 0 on; the calling thread uses it from then on.
  explicit device(int number);

  /// The calling thread uses it from here on.
  void use() const;
  /// "CUDA 13.5 on NVIDIA H100".
  [[nodiscard]] std::string version() const;
  /// The target of its kernels, as "sm_90".
  [[nodiscard]] std::string isa() const;

  [[nodiscard]] int processors() const { return properties_.multiProcessorCount; }
  [[nodiscard]] std::int64_t most_threads() const { return most_threads_; }
  /// Tasks take turns on the streams: several that are small run side by side.
  [[nodiscard]] cudaStream_t stream(std::size_t turn) const { return streams_[turn % streams_.size()].get(); }

 private:
  int number_;
  cudaDeviceProp properties_{};
  std::int64_t most_threads_ = 0;
  std::array<std::unique_ptr<CUstream_st, deleter>, 8> streams_;
};

/// A task whose kernel has ended. `computed`: whether the kernel's result is right.
struct landed {
  std::int64_t timestep;
  std::int64_t point;
  graphs::input output;
  bool computed;
};

/// The tasks of one graph that are on their way through a GPU, each in a separate place. They leave outputs
/// and results in memory of the host.
class tasks {
 public:
  /// Runs a first kernel in each place: loading its code takes longer than many tasks.
  tasks(device& on, const graphs::task_graph& graph, std::size_t places);

  /// The place has to be free.
  void launch(std::size_t place, std::int64_t timestep, std::int64_t point, std::int64_t iterations);
  /// Waits until the kernel has ended; its place is free then, and its output stays until the next launch.
  landed wait(std::size_t place);

 private:
  struct under_way {
    task it{};
    std::unique_ptr<CUevent_st, deleter> ended;
  };

  /// The result that a task must have.
  [[nodiscard]] double expected(const task& it);
  [[nodiscard]] bool copies(const task& it) const;
  [[nodiscard]] std::int64_t first_window(const task& it) const;

  device* on_;
  const graphs::task_graph* graph_;
  std::unique_ptr<double, deleter> scratch_;  ///< as on the cores, tasks of a worker share it
  windows cut_{};
  std::unique_ptr<std::byte, deleter> shared_;
  std::vector<under_way> places_;
  std::int64_t known_iterations_ = -1;  ///< of one value, after which
  double known_value_ = 0;              ///< it is this
};

}  // namespace teff::gpu
