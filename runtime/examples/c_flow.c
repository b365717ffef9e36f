// Data flow from C: a blocked heat equation. Each task names the blocks that it reads and the block that it
// writes.
#include <teff/teff.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { blocks = 16, size = 1000, points = blocks * size, steps = 200 };
static double rod[2][points];

// The arguments of a task. The flow keeps a copy of them.
struct part {
  const double* from;
  double* to;
  size_t first, end;
};

static int relax(void* context) {
  const struct part* const my = context;
  for (size_t i = my->first; i < my->end; ++i)
    my->to[i] = (my->from[i - 1] + 2 * my->from[i] + my->from[i + 1]) / 4;
  return teff_ok;
}

// A chunk of a worksharing task.
static int to_percent(int64_t begin, int64_t end, void* context) {
  double* const values = context;
  for (int64_t i = begin; i < end; ++i) values[i] *= 100;
  return teff_ok;
}

static double heat;

static int add_up(void* context) {
  const double* const values = context;
  for (size_t i = 0; i < points; ++i) heat += values[i];
  return teff_ok;
}

static int make_tasks(teff_flow* flow) {
  int status = teff_ok;
  for (int step = 0; step < steps; ++step) {
    for (size_t block = 0; block < blocks && status == teff_ok; ++block) {
      const size_t first = block == 0 ? 1 : block * size;  // the ends stay as they are
      const size_t end = block + 1 == blocks ? points - 1 : (block + 1) * size;
      struct part part = {rod[step % 2], rod[(step + 1) % 2], first, end};
      const teff_access touched[] = {
          {.kind = teff_in, .first = part.from + first - 1, .bytes = (end - first + 2) * sizeof(double)},
          {.kind = teff_out, .first = part.to + first, .bytes = (end - first) * sizeof(double)}};
      status = teff_flow_task(flow, touched, 2, relax, &part, sizeof part);
    }
  }
  double* const last = rod[steps % 2];
  const teff_access percent[] = {{.kind = teff_inout, .first = last, .bytes = sizeof rod[0]}};
  if (status == teff_ok) status = teff_flow_task_for(flow, 0, points, 0, percent, 1, to_percent, last, 0);
  const teff_access sum[] = {{.kind = teff_in, .first = last, .bytes = sizeof rod[0]},
                             {.kind = teff_inout, .first = &heat, .bytes = sizeof heat}};
  if (status == teff_ok) status = teff_flow_task(flow, sum, 2, add_up, last, 0);
  return status;
}

int main(void) {
  rod[0][0] = rod[1][0] = 1;
  teff_runtime* runtime = NULL;
  teff_flow* flow = NULL;
  int status = teff_runtime_make(0, &runtime);
  if (status == teff_ok) status = teff_flow_make(runtime, &flow);
  if (status == teff_ok) status = make_tasks(flow);
  if (status == teff_ok) status = teff_flow_wait(flow);
  if (status != teff_ok) {
    fprintf(stderr, "%s\n", teff_last_error());
    return 1;
  }
  printf("heat %.4f %% after %d steps\n", heat, steps);
  teff_flow_end(flow);
  return teff_runtime_end(runtime);
}
