// Spice's threads, each bound to a core.
const std = @import("std");
const spice = @import("spice");

const Cores = [128]u8; // a set of cores, as the kernel takes it
extern fn pthread_self() std.c.pthread_t;
extern fn pthread_getaffinity_np(thread: std.c.pthread_t, size: usize, cores: *Cores) c_int;
extern fn pthread_setaffinity_np(thread: std.c.pthread_t, size: usize, cores: *const Cores) c_int;

pub var threads: spice.ThreadPool = undefined;

/// The thread that calls is a worker, too. `pin` binds the thread that calls it. Spice binds none of its own, and
/// tells them nothing when they begin. Returns how many threads there are.
pub fn start(workers: i32, pin: *const fn (i32) callconv(.C) void) i32 {
    threads = spice.ThreadPool.init(std.heap.c_allocator);
    threads.start(.{ .background_worker_count = @intCast(workers - 1) });
    for (threads.background_threads.items, 1..) |thread, worker| {
        var cores: Cores = undefined;
        pin(@intCast(worker));
        if (pthread_getaffinity_np(pthread_self(), @sizeOf(Cores), &cores) == 0)
            _ = pthread_setaffinity_np(thread.getHandle(), @sizeOf(Cores), &cores);
    }
    pin(0);
    return @intCast(threads.background_threads.items.len + 1);
}
