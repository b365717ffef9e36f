#pragma once

#include <jni.h>

#include <stdexcept>
#include <string>
#include <utility>

/// A Java virtual machine in this process, and the class Patterns in it. Made by the thread that uses it.
class virtual_machine {
 public:
  virtual_machine() {
    std::string classes = "-Djava.class.path=" TEFF_JAVA_CLASSES;
    std::string stack =
        "-Xss512m";  // a steal that waits may go as deep as the tree: address space, not memory
    std::string collector = "-XX:+UseParallelGC";
    std::string output = "-XX:+DisplayVMOutputToStderr";
    std::string native = "--enable-native-access=ALL-UNNAMED";
    JavaVMOption options[] = {{classes.data(), nullptr},
                              {stack.data(), nullptr},
                              {collector.data(), nullptr},
                              {output.data(), nullptr},
                              {native.data(), nullptr}};
    JavaVMInitArgs arguments{JNI_VERSION_10, std::size(options), options, JNI_FALSE};
    JavaVM* machine = nullptr;
    if (JNI_CreateJavaVM(&machine, reinterpret_cast<void**>(&env_), &arguments) != JNI_OK)
      throw std::runtime_error("the Java virtual machine can't be started");
    patterns_ = static_cast<jclass>(env_->NewGlobalRef(found(env_->FindClass("Patterns"))));
  }

  [[nodiscard]] JNIEnv& env() const { return *env_; }

  void give_natives(const JNINativeMethod* natives, int count) {
    env_->RegisterNatives(patterns_, natives, count);
    check();
  }

  template <class... Arguments>
  void call(const char* name, const char* signature, Arguments... arguments) {
    env_->CallStaticVoidMethod(patterns_, method(name, signature), arguments...);
    check();
  }
  template <class... Arguments>
  int call_int(const char* name, const char* signature, Arguments... arguments) {
    const jint result = env_->CallStaticIntMethod(patterns_, method(name, signature), arguments...);
    check();
    return result;
  }
  template <class... Arguments>
  std::int64_t call_long(const char* name, const char* signature, Arguments... arguments) {
    const jlong result = env_->CallStaticLongMethod(patterns_, method(name, signature), arguments...);
    check();
    return result;
  }
  template <class... Arguments>
  jobject call_object(const char* name, const char* signature, Arguments... arguments) {
    return found(env_->CallStaticObjectMethod(patterns_, method(name, signature), arguments...));
  }

 private:
  jmethodID method(const char* name, const char* signature) {
    return found(env_->GetStaticMethodID(patterns_, name, signature));
  }
  template <class Value>
  Value found(Value value) {
    check();
    return value;
  }
  void check() {
    if (env_->ExceptionCheck() == JNI_FALSE) return;
    env_->ExceptionDescribe();
    env_->ExceptionClear();
    throw std::runtime_error("a Java method has thrown");
  }

  JNIEnv* env_ = nullptr;
  jclass patterns_ = nullptr;
};
