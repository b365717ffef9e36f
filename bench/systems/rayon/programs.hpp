// Programs on rayon: join, scope and parallel iterators of programs/src/lib.rs. The body of a part of a loop
// is C++, and so is each task.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"
#include "teff/programs/ways.hpp"

extern "C" {
// What lib.rs offers.
struct rayon_call {
  void (*run)(void* context);
  void* context;
};
struct rayon_part {
  double (*run)(const void* context, std::int64_t first, std::int64_t last);
  const void* context;
};
struct rayon_closure {
  std::uint64_t words[6];
};
struct rayon_pool;
rayon_pool* rayon_start(int workers);
int rayon_workers(const rayon_pool* pool);
void rayon_stop(rayon_pool* pool);
void rayon_run(const rayon_pool* pool, rayon_call body);
void rayon_join(rayon_call first, rayon_call second);
void rayon_scope(void (*body)(const void* scope, void* context), void* context);
void rayon_spawn(const void* scope, void (*run)(rayon_closure*), const rayon_closure* closure);
void rayon_for(const rayon_pool* pool, std::int64_t first, std::int64_t last, std::int64_t grain,
               rayon_part body);
double rayon_sum(const rayon_pool* pool, std::int64_t first, std::int64_t last, rayon_part part);

// What lib.rs calls.
void teff_pin(int worker) {
  teff::bench::bind_to_core(worker);
}
}

namespace {

using namespace teff::programs;

class program_system {
 public:
  explicit program_system(int workers) : pool_(rayon_start(workers)) {
    if (!pool_) throw std::runtime_error("rayon's thread pool can't be started");
  }

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "rayon",
            .variant = "program",
            .version = TEFF_CRATE_VERSION,
            .workers = rayon_workers(pool_.get())};
  }

  template <class Body>
  void run_tasks(const Body& body) {
    rayon_run(pool_.get(), call(body));
  }
  template <class First, class Second>
  static void invoke(const First& first, const Second& second) {
    rayon_join(call(first), call(second));
  }
  struct tasks {
    const void* scope;

    template <class Function>
    void spawn(Function function) const {
      static_assert(std::is_trivially_copyable_v<Function> && sizeof(Function) <= sizeof(rayon_closure));
      rayon_closure copy{};
      std::memcpy(&copy, &function, sizeof(Function));
      rayon_spawn(scope, [](rayon_closure* own) { (*reinterpret_cast<Function*>(own))(); }, &copy);
    }
  };
  template <class Body>
  static void scope(const Body& body) {
    rayon_scope(
        [](const void* scope, void* context) {
          const tasks all{scope};
          (*static_cast<const Body*>(context))(all);
        },
        const_cast<Body*>(&body));
  }

  template <class Body>
  void run_loops(const Body& body) {
    rayon_run(pool_.get(), call(body));
  }
  template <class Body>
  void parallel_for(std::int64_t first, std::int64_t last, std::int64_t grain, const Body& body) {
    rayon_for(pool_.get(), first, last, grain,
              {[](const void* context, std::int64_t from, std::int64_t to) {
                 const Body each = *static_cast<const Body*>(context);
                 for (std::int64_t i = from; i < to; ++i) each(i);
                 return 0.0;
               },
               &body});
  }
  template <std::same_as<double> T, class Body>
  [[nodiscard]] T sum(std::int64_t first, std::int64_t last, const Body& body) {
    return rayon_sum(pool_.get(), first, last,
                     {[](const void* context, std::int64_t from, std::int64_t to) {
                        const Body each = *static_cast<const Body*>(context);
                        T total{};
                        for (std::int64_t i = from; i < to; ++i) total += each(i);
                        return total;
                      },
                      &body});
  }

 private:
  template <class Body>
  static rayon_call call(const Body& body) {
    return {[](void* context) { (*static_cast<const Body*>(context))(); }, const_cast<Body*>(&body)};
  }

  struct stops {
    void operator()(rayon_pool* pool) const { rayon_stop(pool); }
  };
  std::unique_ptr<rayon_pool, stops> pool_;
};

}  // namespace
