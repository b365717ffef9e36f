// The C interface, as a strict compiler of C99 has it.
#include <teff/teff.h>

static int count(void* context) {
  ++*(int*)context;
  return teff_ok;
}

int main(void) {
  teff_runtime* runtime = 0;
  int done = 0;
  if (teff_runtime_make(2, &runtime) != teff_ok) return 1;
  if (teff_run(runtime, count, &done) != teff_ok || done != 1) return 2;
  return teff_runtime_end(runtime);
}
