// Tasks of Java's ForkJoinPool: src/Patterns.java has the spawn patterns on them; their counts and their
// driver are C++.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>

#include "teff/spawn/null_task.hpp"
#include "teff/spawn/task_system.hpp"
#include "teff/spawn/tree.hpp"
#include "virtual_machine.hpp"

using namespace teff::spawn;

namespace {

/// A node as Patterns.java has it: the words of its state, its depth, how many children it has.
using node_in_java = std::array<jint, 7>;
using words_of_node = std::array<jint, 6>;

node_in_java to_java(const tree& of, const node& from) {
  node_in_java words{};
  std::ranges::copy(std::bit_cast<words_of_node>(from), words.begin());
  words.back() = of.children(from);
  return words;
}

node from_java(const node_in_java& words) {
  words_of_node of{};
  std::copy_n(words.begin(), of.size(), of.begin());
  return std::bit_cast<node>(of);
}

void JNICALL null_task_from_java(JNIEnv*, jclass, jlong index) {
  null_task(index);
}

void JNICALL child_from_java(JNIEnv* env, jclass, jlong tree_of, jintArray of, jint index, jintArray child) {
  const tree& all = *std::bit_cast<const tree*>(tree_of);
  node_in_java words{};
  env->GetIntArrayRegion(of, 0, words.size(), words.data());
  words = to_java(all, tree::child(from_java(words), index));
  env->SetIntArrayRegion(child, 0, words.size(), words.data());
}

class task_system {
 public:
  explicit task_system(int workers) : threads_(start(workers)) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "java", .variant = "fork_join", .version = TEFF_JAVA_VERSION, .workers = threads_};
  }

  template <class Body>
  void run(Body body) {
    warm_up();
    static_cast<void>(machine()->call_int("wakeAll", "()I"));
    body();
  }

  static void serial_spawn(std::int64_t tasks) { machine()->call("serialSpawn", "(J)V", jlong{tasks}); }
  static void parallel_spawn(std::int64_t tasks) { machine()->call("parallelSpawn", "(J)V", jlong{tasks}); }
  static std::int64_t fibonacci_both(std::int32_t n) {
    return machine()->call_long("fibonacciBoth", "(I)J", jint{n});
  }
  static std::int64_t fibonacci_one(std::int32_t n) {
    return machine()->call_long("fibonacciOne", "(I)J", jint{n});
  }
  static tree_counts search_tree(const tree& of, const node& from) {
    JNIEnv& env = machine()->env();
    const node_in_java words = to_java(of, from);
    jintArray const root = env.NewIntArray(words.size());
    env.SetIntArrayRegion(root, 0, words.size(), words.data());
    const auto counts = static_cast<jlongArray>(
        machine()->call_object("searchTree", "(J[I)[J", std::bit_cast<jlong>(&of), root));
    std::array<jlong, 3> seen{};
    env.GetLongArrayRegion(counts, 0, seen.size(), seen.data());
    env.DeleteLocalRef(counts);
    env.DeleteLocalRef(root);
    return {seen[0], seen[1], static_cast<std::int32_t>(seen[2])};
  }

 private:
  /// There is one in a process.
  static std::unique_ptr<virtual_machine>& machine() {
    static std::unique_ptr<virtual_machine> only;
    return only;
  }

  static int start(int workers) {
    machine() = std::make_unique<virtual_machine>();
    std::string null_name = "nullTask", null_signature = "(J)V";
    std::string child_name = "child", child_signature = "(J[II[I)V";
    const JNINativeMethod natives[] = {
        {null_name.data(), null_signature.data(), reinterpret_cast<void*>(null_task_from_java)},
        {child_name.data(), child_signature.data(), reinterpret_cast<void*>(child_from_java)}};
    machine()->give_natives(natives, std::size(natives));
    return machine()->call_int("start", "(I)I", jint{workers});
  }

  /// Before the first run, for it takes a while.
  void warm_up() {
    if (std::exchange(is_warm_, true)) return;
    machine()->call("warmUp", "()V");
    reset_null_tasks();  // it has run some, to have them compiled
  }

  int threads_;
  bool is_warm_ = false;
};

}  // namespace
