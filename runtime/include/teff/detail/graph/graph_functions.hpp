// The functions by which the user describes the tasks of a graph.
#pragma once

#include <teff/detail/scheduler/tracing.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace teff::detail {

template <class Answer>
concept yes_or_no = std::is_void_v<Answer> || std::is_constructible_v<bool, Answer>;

// Can be called with these arguments, and answers with yes or no, or not at all.
template <class F, class... Arguments>
concept says_whether =
    std::is_invocable_v<F&, Arguments...> && yes_or_no<std::invoke_result_t<F&, Arguments...>>;

// Returns f(arguments...); for a function without an answer, yes.
template <class Result, class F, class... Arguments>
Result answer_of(F& f, Arguments&&... arguments) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&, Arguments...>> && !std::is_void_v<Result>) {
    std::invoke(f, std::forward<Arguments>(arguments)...);
    return true;
  } else {
    return static_cast<Result>(std::invoke(f, std::forward<Arguments>(arguments)...));
  }
}

// A function from a `const Argument&` to `Result`, kept without the types of both: one indirect call, nothing
// else. Unlike std::function it is called without being copyable, and without a check whether there is one.
template <class Result>
class function_of {
 public:
  // Throws std::bad_alloc, and what moving or copying the callable throws.
  template <class Argument, class F>
  void set(F&& f) {
    using callable = std::decay_t<F>;
    object_ = {new callable(std::forward<F>(f)), [](void* object) { delete static_cast<callable*>(object); }};
    call_ = [](void* object, const void* argument) -> Result {
      return answer_of<Result>(*static_cast<callable*>(object), *static_cast<const Argument*>(argument));
    };
  }
  explicit operator bool() const noexcept { return call_ != nullptr; }
  // `argument`: the address of an Argument.
  Result operator()(const void* argument) const { return call_(object_.get(), argument); }

 private:
  std::unique_ptr<void, void (*)(void*)> object_{nullptr, [](void*) {}};
  Result (*call_)(void*, const void*) = nullptr;
};

// The functions that the user has set, of the graph's keys.
struct graph_functions {
  function_of<int> indegree;
  function_of<void> body;
  function_of<unsigned> place;
  function_of<int> priority;
  function_of<bool> received;  // whether the key counts
  function_of<std::size_t> number;

  // Throws misuse where one of the two is missing that every graph needs.
  void expect_complete(const char* caller) const {
    if (!indegree || !body) [[unlikely]]
      throw_incomplete(caller);
  }

 private:
  [[noreturn, gnu::cold]] void throw_incomplete(const char* caller) const;
};

// A body that a trace records. No worker pushes a task of a graph, so it counts as spawned when it begins.
template <class Body>
struct traced_body {
  Body body;

  template <class... Arguments>
  void operator()(Arguments&&... arguments) {
    if (trace_ring* const ring = ring_here(); ring != nullptr) [[unlikely]]
      record_spawn(*ring);
    const traced_span span(event_kind::task, name_of<std::remove_cvref_t<Body>>());
    std::invoke(body, std::forward<Arguments>(arguments)...);
  }
};

}  // namespace teff::detail
