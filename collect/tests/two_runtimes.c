// Loads shared libraries and runs cases of programs.c in each, as Python loads modules with their OpenMP.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** words) {
  char *tasks[] = {"run", "tasks", "100", "50", NULL}, *barrier[] = {"run", "barrier", NULL};
  for (int i = 1; i < count; ++i) {
    void* library = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
    int (*run)(int, char**) = library == NULL ? NULL : (int (*)(int, char**))dlsym(library, "run");
    if (run == NULL || run(4, tasks) != 0 || run(2, barrier) != 0) return 1;
  }
  return 0;
}
