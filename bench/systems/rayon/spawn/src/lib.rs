//! The spawn patterns on rayon, for the class in ../../tasks.hpp: join for a fork of two and for a tree's children, scope
//! where both of Fibonacci's calls are tasks, and a parallel iterator down to single indices. Null tasks, nodes and
//! digests are C++'s.

use rayon::prelude::*;
use std::os::raw::c_void;

/// As teff::spawn::node: a digest and a depth.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Node {
    state: [u32; 5],
    depth: i32,
}

/// As teff::spawn::tree_counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Counts {
    nodes: i64,
    leaves: i64,
    depth: i32,
}

/// A tree that only C++ looks into.
#[derive(Clone, Copy)]
struct Tree(*const c_void);
// It is constant while it is searched.
unsafe impl Send for Tree {}
unsafe impl Sync for Tree {}

extern "C" {
    fn teff_null_task(index: i64);
    fn teff_children(tree: *const c_void, of: *const Node) -> i32;
    fn teff_child(of: *const Node, index: i32, child: *mut Node);
    fn teff_pin(worker: i32);
}

/// Makes the workers, each bound to its core. False where they can't be had.
#[no_mangle]
pub extern "C" fn rayon_start(workers: i32) -> bool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(workers as usize)
        .start_handler(|worker| unsafe { teff_pin(worker as i32) })
        .stack_size(256 << 20)
        .build_global()
        .is_ok()
}

/// Calls `body` in a worker, once all of them are awake.
#[no_mangle]
pub extern "C" fn rayon_run(body: extern "C" fn(*mut c_void), context: *mut c_void) {
    struct Context(*mut c_void);
    unsafe impl Send for Context {}
    let context = Context(context);
    rayon::broadcast(|_| ());
    rayon::scope(|_| {
        let context = context;
        body(context.0)
    });
}

#[no_mangle]
pub extern "C" fn rayon_serial_spawn(tasks: i64) {
    rayon::scope(|scope| {
        for index in 0..tasks {
            scope.spawn(move |_| unsafe { teff_null_task(index) });
        }
    });
}

#[no_mangle]
pub extern "C" fn rayon_parallel_spawn(tasks: i64) {
    (0..tasks as usize)
        .into_par_iter()
        .with_max_len(1)
        .for_each(|index| unsafe { teff_null_task(index as i64) });
}

#[no_mangle]
pub extern "C" fn rayon_fibonacci_both(n: i32) -> i64 {
    if n < 2 {
        return n as i64;
    }
    let (mut a, mut b) = (0, 0);
    rayon::scope(|scope| {
        scope.spawn(|_| a = rayon_fibonacci_both(n - 1));
        scope.spawn(|_| b = rayon_fibonacci_both(n - 2));
    });
    a + b
}

#[no_mangle]
pub extern "C" fn rayon_fibonacci_one(n: i32) -> i64 {
    if n < 2 {
        return n as i64;
    }
    let (a, b) = rayon::join(|| rayon_fibonacci_one(n - 1), || rayon_fibonacci_one(n - 2));
    a + b
}

#[no_mangle]
pub extern "C" fn rayon_search_tree(tree: *const c_void, from: *const Node, found: *mut Counts) {
    unsafe { *found = search(Tree(tree), *from) }
}

fn child(of: &Node, index: i32) -> Node {
    let mut child = Node {
        state: [0; 5],
        depth: 0,
    };
    unsafe { teff_child(of, index, &mut child) };
    child
}

fn search(tree: Tree, from: Node) -> Counts {
    let children = unsafe { teff_children(tree.0, &from) };
    if children == 0 {
        return Counts {
            nodes: 1,
            leaves: 1,
            depth: from.depth,
        };
    }
    search_children(tree, &from, 0, children)
}

/// Counts a node and what is below its children from the first on. Each child but the last makes the search of its
/// later siblings a task.
fn search_children(tree: Tree, from: &Node, first: i32, end: i32) -> Counts {
    let (here, later) = if first + 1 == end {
        let itself = Counts {
            nodes: 1,
            leaves: 0,
            depth: from.depth,
        };
        (search(tree, child(from, first)), itself)
    } else {
        rayon::join(
            || search(tree, child(from, first)),
            || search_children(tree, from, first + 1, end),
        )
    };
    Counts {
        nodes: here.nodes + later.nodes,
        leaves: here.leaves + later.leaves,
        depth: here.depth.max(later.depth),
    }
}
