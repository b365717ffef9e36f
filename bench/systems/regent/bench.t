-- The task bench for Regent: the C ABI of teff_bench.h, in Terra. Nothing here launches a task.
local c = regentlib.c
local std = terralib.includec("stdlib.h")
local text = terralib.includec("string.h")
local threads = terralib.includec("sched.h")
local teff = terralib.includec("teff_bench.h", {"-I", os.getenv("TEFF_INCLUDE")})
local stdio = terralib.includec("stdio.h")
local host = terralib.includecstring [[
#include "legion_defines.h"
const char* teff_legion_version(void) { return LEGION_VERSION; }
static _Thread_local int this_worker = -1;
int teff_this_worker(void) { return this_worker; }
void teff_become_worker(int worker) { this_worker = worker; }
]]

local bench = {}

-- What is being run.
local session = global(&teff.teff_session, nil)
local work = global(&teff.teff_workload, nil)

terra bench.graphs() return teff.teff_graphs(work) end
terra bench.steps(graph : int32) return teff.teff_steps(work, graph) end
terra bench.width(graph : int32) return teff.teff_width(work, graph) end
terra bench.output_bytes(graph : int32) return teff.teff_output_bytes(work, graph) end
terra bench.start() teff.teff_start(work) end
terra bench.stop() teff.teff_stop(work) end

-- The inputs of timestep 0, then the inputs of the timesteps that repeat by teff_cycle. Where widths vary,
-- many timesteps have the same inputs: each different row is kept once.
struct bench.rows {
  count : int64
  timesteps : int64
  kept : &&int64 -- first point, number of points, and what teff_inputs_of_timestep gives
  of : &int64 -- by timestep
}
local rows = bench.rows

terra rows:at(timestep : int64) : int64
  if timestep < self.timesteps then return self.of[timestep] end
  return self.of[1 + (timestep - 1) % (self.timesteps - 1)]
end

terra rows:first(row : int64) : int64
  return self.kept[row][0]
end

terra rows:points(row : int64) : int64
  return self.kept[row][1]
end

terra rows:keep(row : &int64) : int64
  var size = (3 + row[1] + row[2 + row[1]]) * sizeof(int64)
  for i = 0, self.count do
    if self.kept[i][1] == row[1] and text.memcmp(self.kept[i], row, size) == 0 then return i end
  end
  self.kept[self.count] = [&int64](std.malloc(size))
  text.memcpy(self.kept[self.count], row, size)
  self.count = self.count + 1
  return self.count - 1
end

terra bench.rows_of(graph : int32) : rows
  var steps = teff.teff_steps(work, graph)
  var cycle = teff.teff_cycle(work, graph)
  var made : rows
  made.count = 0
  made.timesteps = steps
  if cycle > 0 and cycle + 1 < steps then made.timesteps = cycle + 1 end
  made.kept = [&&int64](std.malloc(made.timesteps * sizeof([&int64])))
  made.of = [&int64](std.malloc(made.timesteps * sizeof(int64)))
  var width = teff.teff_width(work, graph)
  var most = width * teff.teff_max_inputs(work, graph)
  var row = [&int64](std.malloc((3 + width + most) * sizeof(int64)))
  for timestep = 0, made.timesteps do
    row[1] = teff.teff_points(work, graph, timestep, row)
    teff.teff_inputs_of_timestep(work, graph, timestep, row + 2, row + 3 + row[1], most)
    made.of[timestep] = made:keep(row)
  end
  std.free(row)
  return made
end

-- Gives colour (row, point) the bytes that the point's task reads.
terra rows:colour(coloring : c.legion_multi_domain_point_coloring_t, bytes : int64)
  for row = 0, self.count do
    var first, points, starts = self.kept[row][0], self.kept[row][1], self.kept[row] + 2
    var inputs = starts + points + 1
    for point = 0, points do
      var colour = c.legion_domain_point_from_point_2d(
        c.legion_point_2d_t {x = arrayof(c.coord_t, row, first + point)})
      for i = starts[point], starts[point + 1] do
        c.legion_multi_domain_point_coloring_color_domain(coloring, colour, c.legion_domain_from_rect_1d(
          c.legion_rect_1d_t {
            lo = c.legion_point_1d_t {x = arrayof(c.coord_t, inputs[i] * bytes)},
            hi = c.legion_point_1d_t {x = arrayof(c.coord_t, (inputs[i] + 1) * bytes - 1)}}))
      end
    end
  end
end

terra rows:free()
  for i = 0, self.count do std.free(self.kept[i]) end
  std.free(self.kept)
  std.free(self.of)
end

-- After how many timesteps the launches repeat, which read and write two fields by turns; 0 where they don't.
terra bench.cycle_of_launches(graph : int32) : int64
  var cycle = teff.teff_cycle(work, graph)
  if cycle % 2 == 0 then return cycle end
  return 2 * cycle
end

terra bench.workers() : int32
  var query = c.legion_processor_query_create(c.legion_machine_create())
  c.legion_processor_query_only_kind(query, c.LOC_PROC)
  var count = c.legion_processor_query_count(query)
  c.legion_processor_query_destroy(query)
  return count
end

-- Makes the calling thread of a processor a worker on its own core, and waits for the other workers.
local arrived = global(int32, 0)
terra bench.become_worker(worker : int32, workers : int32)
  host.teff_become_worker(worker)
  teff.teff_bind_to_core(worker)
  var before = terralib.atomicrmw("add", &arrived, 1, {ordering = "acq_rel"})
  var all = (before / workers + 1) * workers
  while terralib.atomicrmw("add", &arrived, 0, {ordering = "acq_rel"}) < all do threads.sched_yield() end
end

-- The bytes of a point in the field of a region that is mapped.
local terra bytes_of(accessor : c.legion_accessor_array_1d_t, point : int64, bytes : int64) : &opaque
  return c.legion_accessor_array_1d_ref_point(accessor, c.legion_point_1d_t {x = arrayof(c.coord_t, point * bytes)})
end

local few = 64 -- inputs for which nothing is allocated

terra bench.execute(graph : int32, timestep : int64, point : int64,
                    own : c.legion_physical_region_t, own_field : c.legion_field_id_t,
                    inputs : c.legion_physical_region_t, inputs_field : c.legion_field_id_t)
  var few_points : int64[few]
  var few_addresses : (&opaque)[few]
  var few_sizes : uint64[few]
  var points, addresses, sizes = &few_points[0], &few_addresses[0], &few_sizes[0]
  var count = teff.teff_inputs(work, graph, timestep, point, points, few)
  if count > few then
    points = [&int64](std.malloc(count * sizeof(int64)))
    addresses = [&&opaque](std.malloc(count * sizeof([&opaque])))
    sizes = [&uint64](std.malloc(count * sizeof(uint64)))
    teff.teff_inputs(work, graph, timestep, point, points, count)
  end
  var bytes = teff.teff_output_bytes(work, graph)
  var written = c.legion_physical_region_get_field_accessor_array_1d(own, own_field)
  if count > 0 then
    var read = c.legion_physical_region_get_field_accessor_array_1d(inputs, inputs_field)
    for i = 0, count do
      addresses[i] = bytes_of(read, points[i], bytes)
      sizes[i] = bytes
    end
    c.legion_accessor_array_1d_destroy(read)
  end
  teff.teff_execute(work, graph, timestep, point, host.teff_this_worker(), bytes_of(written, point, bytes), bytes,
                    addresses, sizes, count)
  c.legion_accessor_array_1d_destroy(written)
  if count > few then
    std.free(points)
    std.free(addresses)
    std.free(sizes)
  end
end

-- Opens the session of the flags that Legion left on the command line.
terra bench.open_session(workers : int32) : bool
  var args = c.legion_runtime_get_input_args()
  session = teff.teff_session_open(args.argc - 1, [&rawstring](args.argv + 1))
  if session == nil then
    stdio.fputs("error: ", stdio.stderr)
    stdio.fputs(teff.teff_error(), stdio.stderr)
    stdio.fputs("\n", stdio.stderr)
    return false
  end
  var who : teff.teff_identity
  who.system = "regent"
  who.variant = "tracing"
  who.version = host.teff_legion_version()
  who.workers = workers
  who.ranks = 1
  teff.teff_session_identify(session, &who)
  return true
end

-- Whether there is one more configuration to run.
terra bench.next(workers : int32) : bool
  work = teff.teff_session_next(session, workers)
  if work == nil then return false end
  var asked = teff.teff_session_workers(session)
  if asked ~= workers then
    var reason : int8[128]
    stdio.snprintf(reason, 128, "--workers %d, but Legion has %d processors: REALM_DEFAULT_ARGS=\"-ll:cpu %d\"", asked,
                   workers, asked)
    teff.teff_fail(work, reason)
  end
  return true
end

terra bench.answer() teff.teff_session_answer(session, work, nil, 0) end

-- Returns the program's exit code.
terra bench.close_session() : int32
  if session == nil then return 2 end
  return teff.teff_session_close(session)
end

return bench
