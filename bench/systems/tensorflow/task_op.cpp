// A task as an op of TensorFlow's: its inputs and its output are tensors of bytes. It has no state that
// TensorFlow knows of, or a tf.function would run all ops in a row. Instead each op reads the timestep at
// which its function starts. TensorFlow would compute an op without any input once for all calls, as a
// constant.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "teff_bench.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace {

namespace tf = tensorflow;

teff_workload* workload = nullptr;  // set by the script while no op runs; without one, ops do nothing
int workers_here = 0;
std::array<std::atomic<bool>, 1024> taken;  // which workers are at a task

/// A worker of the workload. No other thread acts as this worker meanwhile. TensorFlow runs ops on its
/// inter-op threads, or on the thread that calls a function. It never runs more at once than there are
/// workers, if it keeps to its configuration.
class worker {
 public:
  worker() {
    thread_local const int own = bound();
    const int all = workers_here;
    for (int i = 0; i < all; ++i) {
      const int each = (own + i) % all;
      // Acquires the writes of the thread that was this worker before.
      if (!taken[static_cast<std::size_t>(each)].exchange(true, std::memory_order_acquire)) {
        number_ = each;
        return;
      }
    }
    number_ = all;  // there is no such worker: the task is not executed, and the run fails
  }
  ~worker() {
    if (number_ < workers_here)
      taken[static_cast<std::size_t>(number_)].store(false, std::memory_order_release);
  }
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  [[nodiscard]] int number() const { return number_; }

 private:
  /// Binds the calling thread to its own core, as threads of other systems are.
  static int bound() {
    static std::atomic<int> threads{0};
    const int number = threads.fetch_add(1, std::memory_order_relaxed);
    teff_bind_to_core(number);
    return number;
  }

  int number_;
};

class task_op final : public tf::OpKernel {
 public:
  explicit task_op(tf::OpKernelConstruction* made) : OpKernel(made) {
    OP_REQUIRES_OK(made, made->GetAttr("graph", &graph_));
    OP_REQUIRES_OK(made, made->GetAttr("timestep", &timestep_));
    OP_REQUIRES_OK(made, made->GetAttr("point", &point_));
    OP_REQUIRES_OK(made, made->GetAttr("bytes", &bytes_));
  }

  void Compute(tf::OpKernelContext* task) override {
    tf::Tensor* output = nullptr;
    OP_REQUIRES_OK(task, task->allocate_output(0, tf::TensorShape({bytes_}), &output));
    const worker here;
    if (workload == nullptr) return;
    thread_local std::vector<const void*> inputs;
    thread_local std::vector<std::size_t> sizes;
    inputs.clear();
    sizes.clear();
    for (int i = first_input; i < task->num_inputs(); ++i) {
      const tf::Tensor& input = task->input(i);
      inputs.push_back(input.data());
      sizes.push_back(input.TotalBytes());
    }
    // A task that could not be executed stands in the run's outcome.
    const std::int64_t timestep = task->input(0).scalar<std::int64_t>()() + timestep_;
    teff_execute(workload, static_cast<std::int32_t>(graph_), timestep, point_, here.number(), output->data(),
                 output->TotalBytes(), inputs.data(), sizes.data(), static_cast<std::int64_t>(inputs.size()));
  }

 private:
  static constexpr int first_input = 1;  // of a task's, behind the timestep

  std::int64_t graph_ = 0;
  std::int64_t timestep_ = 0;  ///< counted from the function's first
  std::int64_t point_ = 0;
  std::int64_t bytes_ = 0;
};

REGISTER_OP("TeffTask")
    .Input("first: int64")
    .Input("inputs: count * uint8")
    .Output("output: uint8")
    .Attr("count: int >= 0")
    .Attr("graph: int")
    .Attr("timestep: int")
    .Attr("point: int")
    .Attr("bytes: int")
    .SetShapeFn([](tf::shape_inference::InferenceContext* op) {
      std::int64_t bytes = 0;
      TF_RETURN_IF_ERROR(op->GetAttr("bytes", &bytes));
      op->set_output(0, op->Vector(bytes));
      return absl::OkStatus();
    });
REGISTER_KERNEL_BUILDER(Name("TeffTask").Device(tf::DEVICE_CPU), task_op);

}  // namespace

/// For the script: the workload of the functions that it is about to call; null if there is none.
extern "C" __attribute__((visibility("default"))) void teff_tensorflow_run(teff_workload* work,
                                                                           std::int32_t workers) {
  workload = work;
  workers_here = std::min(workers, static_cast<std::int32_t>(taken.size()));
}
