#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace teff::graphs {

/// The work of a task. The names are the published Task Bench's.
enum class kernel_kind : std::uint8_t {
  empty,           ///< nothing
  busy_wait,       ///< a chain of dependent integer multiplications and remainders
  compute_bound,   ///< A = A * A + A on 64 doubles, then the product of all
  compute_bound2,  ///< C = C + A * B on 32 doubles
  memory_bound,    ///< copies half a window of the scratch onto the other half
  compute_dgemm,   ///< C = A * B, the three matrices filling the scratch, by OpenBLAS on one thread
  memory_daxpy,    ///< y = y + a * x, the halves of a window of the scratch
  io_bound,        ///< writes 4 KiB to a temporary file and reads them back
  load_imbalance,  ///< compute_bound with a random number of iterations
};

/// "compute_bound" and so on, as the flag -kernel takes it.
[[nodiscard]] std::string_view name(kernel_kind kind);
[[nodiscard]] std::optional<kernel_kind> parse_kernel_kind(std::string_view text);
/// All kinds, in the order of the enumeration.
[[nodiscard]] std::span<const kernel_kind> kernel_kinds();

/// The kernel of a graph's tasks. Valid where check() says nothing.
struct kernel {
  kernel_kind kind = kernel_kind::empty;
  std::int64_t iterations = 0;
  std::int64_t samples = 16;          ///< windows that the scratch (io_bound: the file) is cut into
  double imbalance = 0.0;             ///< of load_imbalance, in [0, 2]
  bool persistent_imbalance = false;  ///< a point draws once for all its timesteps

  /// Iterations of the task (graph, timestep, point). load_imbalance runs round((1 + (u - 0.5) * imbalance) *
  /// iterations). It draws u in [0, 1) for each task, or if persistent for each point.
  [[nodiscard]] std::int64_t iterations_of(std::int64_t graph, std::int64_t timestep,
                                           std::int64_t point) const;

  /// Floating-point operations of a task that runs `iterations`; a fused multiply-add counts as two.
  [[nodiscard]] std::int64_t flops(std::int64_t iterations, std::int64_t scratch_bytes) const;

  /// Bytes of memory that a task with `iterations` reads plus bytes that it writes, by the published formula.
  /// In memory_bound and memory_daxpy it is scratch_bytes * iterations / samples, although memory_daxpy both
  /// reads and writes y. The other kernels, io_bound's file included, count none.
  [[nodiscard]] std::int64_t bytes(std::int64_t iterations, std::int64_t scratch_bytes) const;
};

/// One line with the value and the reason why a kernel with a scratch of this size can't run, and a size that
/// can; empty if it can run. Loads OpenBLAS where the kernel needs it.
[[nodiscard]] std::string check(const kernel& kernel, std::int64_t scratch_bytes);

/// The instruction sets that kernels are compiled for. `baseline` is what every processor of the architecture
/// has (SSE2 on x86-64); `avx2` comes with FMA.
enum class isa : std::uint8_t { baseline, avx2, avx512 };

[[nodiscard]] std::string_view name(isa level);
[[nodiscard]] std::optional<isa> parse_isa(std::string_view text);
/// Whether the kernels for `level` are compiled in, and this processor and its operating system run them.
[[nodiscard]] bool supported(isa level);
/// The widest set that is supported.
[[nodiscard]] isa best_isa();

/// Runs one task. `scratch` belongs to the worker, not to the point, so a worker's working set is the whole
/// scratch. It is aligned for doubles and was filled by prepare_scratch. io_bound throws std::system_error if
/// the temporary file fails; no other kernel throws.
using kernel_function = void (*)(const kernel& kernel, std::int64_t iterations, std::int64_t timestep,
                                 std::span<std::byte> scratch);

/// The function of a kind at an instruction set. compute_dgemm is the same at each: OpenBLAS chooses for
/// itself. Throws std::invalid_argument where the set isn't supported and std::runtime_error where OpenBLAS
/// is missing. Not for a task's critical path.
[[nodiscard]] kernel_function select_kernel(kernel_kind kind, isa level);

/// Touches every page: fills the scratch with doubles in [0.5, 1). Call it on the worker that will use it.
void prepare_scratch(std::span<std::byte> scratch);

}  // namespace teff::graphs
