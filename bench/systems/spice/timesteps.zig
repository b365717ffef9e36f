// The columns of a timestep as futures of Spice, by halves down to one column. A future that no worker has
// taken until the wait is called in place. The end of all is the dependence of the next timestep.
const builtin = @import("builtin");
const spice = @import("spice");
const pool = @import("pool.zig");

const Timesteps = opaque {};
extern fn spice_execute(all: *Timesteps, timestep: i64, column: i64) void;
extern fn spice_pin(worker: i32) void;

export fn spice_start(workers: i32) i32 {
    return pool.start(workers, spice_pin);
}

export fn spice_run(all: *Timesteps, count: i64, columns: i64) void {
    _ = pool.threads.call(bool, oneAfterAnother, Columns{ .all = all, .timestep = count, .first = 0, .end = columns });
}

export fn spice_zig_version() [*:0]const u8 {
    return builtin.zig_version_string;
}

const Columns = struct { all: *Timesteps, timestep: i64, first: i64, end: i64 };

fn oneAfterAnother(t: *spice.Task, of: Columns) bool {
    var row = of;
    row.timestep = 0;
    while (row.timestep < of.timestep) : (row.timestep += 1) _ = halves(t, row);
    return true;
}

/// A future has to hold something. At a heartbeat, Spice offers the oldest future that a worker has forked,
/// but never its only future. So both halves are futures. A call by way of the task would look for a
/// heartbeat where there is only one, and use it up in vain.
fn halves(t: *spice.Task, of: Columns) bool {
    if (of.end - of.first == 1) {
        spice_execute(of.all, of.timestep, of.first);
        return true;
    }
    const middle = of.first + @divTrunc(of.end - of.first, 2);
    var second = spice.Future(Columns, bool).init();
    var first = spice.Future(Columns, bool).init();
    second.fork(t, halves, .{ .all = of.all, .timestep = of.timestep, .first = middle, .end = of.end });
    first.fork(t, halves, .{ .all = of.all, .timestep = of.timestep, .first = of.first, .end = middle });
    t.tick();
    _ = first.join(t) orelse halves(t, first.input);
    return second.join(t) orelse halves(t, second.input);
}
