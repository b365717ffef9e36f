// The functions by which the user describes the tasks of a graph.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace teff::detail {

template <class Answer>
concept yes_or_no = std::is_void_v<Answer> || std::is_constructible_v<bool, Answer>;

// Can be called with these arguments, and answers with yes or no, or not at all.
template <class F, class... Arguments>
concept says_whether =
    std::is_invocable_v<F&, Arguments...> && yes_or_no<std::invoke_result_t<F&, Arguments...>>;

// A function from `const Argument&` to `Result`, kept without its type: one indirect call, nothing else.
// Unlike std::function it is called without being copyable, and without a check whether there is one.
template <class Result, class Argument>
class function_of {
 public:
  function_of() = default;

  // Throws std::bad_alloc, and what moving or copying the callable throws.
  template <class F>
  void set(F&& f) {
    using callable = std::decay_t<F>;
    object_ = {new callable(std::forward<F>(f)), [](void* object) { delete static_cast<callable*>(object); }};
    call_ = [](void* object, const Argument& argument) -> Result {
      return static_cast<Result>(std::invoke(*static_cast<callable*>(object), argument));
    };
  }
  explicit operator bool() const noexcept { return call_ != nullptr; }
  Result operator()(const Argument& argument) const { return call_(object_.get(), argument); }

 private:
  std::unique_ptr<void, void (*)(void*)> object_{nullptr, [](void*) {}};
  Result (*call_)(void*, const Argument&) = nullptr;
};

// The functions that the user has set, of any callable types: a call is one indirect call.
template <class Key>
struct graph_functions {
  function_of<int, Key> indegree;
  function_of<void, Key> body;
  function_of<unsigned, Key> place;
  function_of<int, Key> priority;
  function_of<bool, Key> received;  // whether the key counts
  function_of<std::size_t, Key> number;

  // Throws misuse where one of the two is missing that every graph needs.
  void expect_complete(const char* caller) const {
    if (!indegree || !body) [[unlikely]]
      throw_incomplete(caller);
  }

 private:
  [[noreturn, gnu::cold]] void throw_incomplete(const char* caller) const {
    throw_error(
        misuse(std::string(caller) + ": the graph has " + (indegree ? "no body()" : "no indegree()")));
  }
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
