// The data that a StarPU task names, and memory that StarPU gives back.
#pragma once

#include <starpu.h>

#include <cstddef>
#include <cstdlib>
#include <new>

/// Memory that StarPU gives back with free().
template <class Value>
Value* allocate(std::size_t count) {
  void* const memory = std::calloc(count, sizeof(Value));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<Value*>(memory);
}

/// Gives a task a copy of what its codelet is to know.
template <class Name>
void name_task(starpu_task& task, const Name& name) {
  task.cl_arg = allocate<Name>(1);
  task.cl_arg_size = sizeof(Name);
  task.cl_arg_free = 1;
  *static_cast<Name*>(task.cl_arg) = name;
}

/// Says which data a task uses, one after the other, as many as its constructor is told.
class named_data {
 public:
  named_data(starpu_task& task, std::size_t count) : handles_(task.handles), modes_(task.modes) {
    task.nbuffers = static_cast<int>(count);
    if (count > STARPU_NMAXBUFS) {  // StarPU frees these with the task
      handles_ = task.dyn_handles = allocate<starpu_data_handle_t>(count);
      modes_ = task.dyn_modes = allocate<starpu_data_access_mode>(count);
    }
  }
  void add(starpu_data_handle_t data, starpu_data_access_mode mode) {
    *handles_++ = data;
    *modes_++ = mode;
  }

 private:
  starpu_data_handle_t* handles_;
  starpu_data_access_mode* modes_;
};
