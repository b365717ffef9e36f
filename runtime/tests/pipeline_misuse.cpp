// A test compiles this file once for each CASE, to see its error. CMakeLists.txt has the expected texts.
#include <teff/pipeline.hpp>

#include <memory>
#include <optional>
#include <string>

void misuse(int& somewhere) {
  using teff::parallel, teff::serial, teff::parallel_pipeline;
  const auto source = serial([]() -> std::optional<int> { return std::nullopt; });
  const auto sink = serial([](int) {});
  static_cast<void>(somewhere);
#if CASE == 1
  parallel_pipeline(1, source, parallel([](const std::string&) { return 1; }), sink);
#elif CASE == 2
  parallel_pipeline(1, source, parallel([n = 0](int) mutable { return ++n; }), sink);
#elif CASE == 3
  parallel_pipeline(1, source, serial([](int i) { return i; }));
#elif CASE == 4
  parallel_pipeline(1, source, serial([](int) {}), sink);
#elif CASE == 5
  parallel_pipeline(1, source, serial([&](int) -> int& { return somewhere; }), sink);
#elif CASE == 6
  parallel_pipeline(1, source, [](int) {});
#elif CASE == 7
  parallel_pipeline(1, source);
#elif CASE == 8
  parallel_pipeline(1, parallel([]() -> std::optional<int> { return 1; }), sink);
#elif CASE == 9
  parallel_pipeline(1, serial([] { return 1; }), sink);
#else
  parallel_pipeline(1, source, sink);  // no error
#endif
}
