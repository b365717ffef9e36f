#include <teff/teff.h>
#include <teff/error.hpp>
#include <teff/flow.hpp>

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

struct teff_flow {
  teff::flow tasks;
};

namespace {

teff::access access_of(const teff_access& given, const std::string& function) {
  using teff::detail::access_mode;
  teff::access made{static_cast<const std::byte*>(given.first), given.bytes, given.rows == 0 ? 1 : given.rows,
                    given.stride};
  switch (given.kind) {
    case teff_in:
      made.mode = access_mode::in;
      break;
    case teff_out:
    case teff_inout:
      made.mode = access_mode::write;
      break;
    case teff_commutative:
      made.mode = access_mode::commutative;
      break;
    case teff_concurrent:
      made.mode = access_mode::concurrent;
      break;
    default:
      throw teff::misuse(function + ": the kind of an access is " + std::to_string(given.kind) +
                         ": set it to teff_in, teff_out, teff_inout, teff_commutative or teff_concurrent");
  }
  return made;
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
