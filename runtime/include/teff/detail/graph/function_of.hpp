// A callable that a class keeps without knowing its type: one indirect call, nothing else.
#pragma once

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

// A function from `const Argument&` to `Result`. Unlike std::function it is called without being copyable,
// and without a check whether there is one.
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

}  // namespace teff::detail
