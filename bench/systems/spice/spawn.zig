// The spawn patterns as futures of Spice: a task that nobody has taken until it is waited for is called in place. Futures
// are waited for in the reverse order of their forks, as Spice wants it.
const std = @import("std");
const builtin = @import("builtin");
const spice = @import("spice");
const pool = @import("pool.zig");

const Tree = opaque {};
const Node = extern struct { state: [5]u32, depth: i32 };
const Counts = extern struct { nodes: i64, leaves: i64, depth: i32 };

extern fn teff_spawn_null_task(index: i64) void;
extern fn teff_spawn_children(tree: *const Tree, of: *const Node) i32;
extern fn teff_spawn_child(tree: *const Tree, of: *const Node, index: i32, child: *Node) i32;
extern fn teff_spawn_pin(worker: i32) void;

/// The thread that calls is a worker, too.
export fn teff_spawn_start(workers: i32) i32 {
    return pool.start(workers, teff_spawn_pin);
}

/// Spice's workers sleep until one is offered a task.
export fn teff_spawn_run(body: *const fn (?*anyopaque) callconv(.C) void, context: ?*anyopaque) void {
    body(context);
}

export fn teff_spawn_serial(tasks: i64) void {
    _ = pool.threads.call(bool, inARow, tasks);
}

export fn teff_spawn_parallel(tasks: i64) void {
    _ = pool.threads.call(bool, halves, Range{ .first = 0, .end = tasks });
}

export fn teff_spawn_fibonacci_both(n: i32) i64 {
    return pool.threads.call(i64, fibBoth, n);
}

export fn teff_spawn_fibonacci_one(n: i32) i64 {
    return pool.threads.call(i64, fibOne, n);
}

export fn teff_spawn_search_tree(tree: *const Tree, from: *const Node, found: *Counts) void {
    found.* = pool.threads.call(Counts, search, Search{
        .tree = tree,
        .node = from.*,
        .children = teff_spawn_children(tree, from),
    });
}

export fn spice_zig_version() [*:0]const u8 {
    return builtin.zig_version_string;
}

/// The value of a future, or else the call in place.
fn joined(t: *spice.Task, comptime Result: type, future: anytype, comptime func: anytype) Result {
    const input = future.input;
    return future.join(t) orelse t.call(Result, func, input);
}

/// A future has to hold something.
fn nullTask(_: *spice.Task, i: i64) bool {
    teff_spawn_null_task(i);
    return true;
}

fn inARow(t: *spice.Task, tasks: i64) bool {
    const Future = spice.Future(i64, bool);
    const all = std.heap.c_allocator.alloc(Future, @intCast(tasks)) catch @panic("out of memory");
    defer std.heap.c_allocator.free(all);
    for (all, 0..) |*each, i| {
        each.* = Future.init();
        each.fork(t, nullTask, @intCast(i));
        t.tick();
    }
    var i = all.len;
    while (i > 0) {
        i -= 1;
        _ = joined(t, bool, &all[i], nullTask);
    }
    return true;
}

const Range = struct { first: i64, end: i64 };

fn halves(t: *spice.Task, range: Range) bool {
    if (range.end - range.first == 1) return nullTask(t, range.first);
    const middle = range.first + @divTrunc(range.end - range.first, 2);
    var second = spice.Future(Range, bool).init();
    second.fork(t, halves, .{ .first = middle, .end = range.end });
    _ = t.call(bool, halves, Range{ .first = range.first, .end = middle });
    return joined(t, bool, &second, halves);
}

fn fibBoth(t: *spice.Task, n: i32) i64 {
    if (n < 2) return n;
    var a = spice.Future(i32, i64).init();
    var b = spice.Future(i32, i64).init();
    a.fork(t, fibBoth, n - 1);
    b.fork(t, fibBoth, n - 2);
    const second = joined(t, i64, &b, fibBoth);
    return joined(t, i64, &a, fibBoth) + second;
}

fn fibOne(t: *spice.Task, n: i32) i64 {
    if (n < 2) return n;
    var a = spice.Future(i32, i64).init();
    a.fork(t, fibOne, n - 1);
    const b = t.call(i64, fibOne, n - 2);
    return joined(t, i64, &a, fibOne) + b;
}

const Search = struct { tree: *const Tree, node: Node, children: i32 };

fn search(t: *spice.Task, of: Search) Counts {
    const own = Counts{ .nodes = 1, .leaves = @intFromBool(of.children == 0), .depth = of.node.depth };
    if (of.children == 0) return own;
    return sum(own, t.call(Counts, searchFrom, From{ .of = &of, .first = 0 }));
}

const From = struct { of: *const Search, first: i32 };

/// A child as a task, and those after it.
fn searchFrom(t: *spice.Task, from: From) Counts {
    var child = Search{ .tree = from.of.tree, .node = undefined, .children = 0 };
    child.children = teff_spawn_child(from.of.tree, &from.of.node, from.first, &child.node);
    if (from.first + 1 == from.of.children) return t.call(Counts, search, child);
    var first = spice.Future(Search, Counts).init();
    first.fork(t, search, child);
    const others = t.call(Counts, searchFrom, From{ .of = from.of, .first = from.first + 1 });
    return sum(joined(t, Counts, &first, search), others);
}

fn sum(a: Counts, b: Counts) Counts {
    return .{ .nodes = a.nodes + b.nodes, .leaves = a.leaves + b.leaves, .depth = @max(a.depth, b.depth) };
}
