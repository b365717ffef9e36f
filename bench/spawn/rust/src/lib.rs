//! The spawn patterns for systems in Rust: `offer!(System)` makes what foreign_patterns.hpp asks of a language out of
//! a `Patterns`. Null tasks, nodes and digests are C++'s, as teff_spawn.h describes them.

use std::ffi::c_void;
use std::ops::AddAssign;

mod c {
    use super::{Digest, TreeInC};

    extern "C" {
        pub fn teff_spawn_null_task(index: i64);
        pub fn teff_spawn_children(tree: *const TreeInC, of: *const Digest) -> i32;
        pub fn teff_spawn_child(
            tree: *const TreeInC,
            of: *const Digest,
            index: i32,
            child: *mut Digest,
        ) -> i32;
        pub fn teff_spawn_pin(worker: i32);
    }
}

/// The patterns on a system. They are called within the body of `run`.
pub trait Patterns {
    /// Makes the workers, each bound to its core by `pin`. Returns how many there are; 0 where they can't be had.
    fn start(workers: usize) -> usize;
    /// Calls the body when all workers are awake.
    fn run(body: Body);
    fn serial_spawn(tasks: i64);
    fn parallel_spawn(tasks: i64);
    /// Both calls are tasks.
    fn fibonacci_both(n: i32) -> i64;
    /// A task computes one of the two calls.
    fn fibonacci_one(n: i32) -> i64;
    fn search_tree(tree: Tree, root: Node) -> Counts;
}

/// A task that does nothing but count itself.
pub fn null_task(index: i64) {
    unsafe { c::teff_spawn_null_task(index) }
}

/// Binds the calling thread to a worker's core.
pub fn pin(worker: usize) {
    unsafe { c::teff_spawn_pin(worker as i32) }
}

/// What `Patterns::run` is to call.
pub struct Body {
    function: extern "C" fn(*mut c_void),
    context: *mut c_void,
}
unsafe impl Send for Body {}

impl Body {
    pub fn new(function: extern "C" fn(*mut c_void), context: *mut c_void) -> Body {
        Body { function, context }
    }
    pub fn call(self) {
        (self.function)(self.context)
    }
}

/// teff_spawn_tree
pub enum TreeInC {}

/// A tree that only C++ looks into.
#[derive(Clone, Copy)]
pub struct Tree(*const TreeInC);
// It is constant while it is searched.
unsafe impl Send for Tree {}
unsafe impl Sync for Tree {}

impl Tree {
    /// # Safety
    /// The tree outlives this.
    pub unsafe fn new(tree: *const TreeInC) -> Tree {
        Tree(tree)
    }
    pub fn node(self, digest: Digest) -> Node {
        let children = unsafe { c::teff_spawn_children(self.0, &digest) };
        Node { digest, children }
    }
    pub fn child(self, of: &Node, index: i32) -> Node {
        let mut digest = Digest::default();
        let children = unsafe { c::teff_spawn_child(self.0, &of.digest, index, &mut digest) };
        Node { digest, children }
    }
}

/// teff_spawn_node
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Digest {
    state: [u32; 5],
    depth: i32,
}

/// A node of a tree.
#[derive(Clone, Copy)]
pub struct Node {
    digest: Digest,
    /// How many it has.
    pub children: i32,
}

/// The counts of a search: teff_spawn_counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Counts {
    nodes: i64,
    leaves: i64,
    depth: i32,
}

impl Counts {
    /// A node alone.
    pub fn of(node: &Node) -> Counts {
        Counts {
            nodes: 1,
            leaves: (node.children == 0) as i64,
            depth: node.digest.depth,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.nodes += other.nodes;
        self.leaves += other.leaves;
        self.depth = self.depth.max(other.depth);
    }
}

/// Offers a `Patterns` to C++. Once in a library.
#[macro_export]
macro_rules! offer {
    ($patterns:ty) => {
        #[no_mangle]
        pub extern "C" fn teff_spawn_start(workers: i32) -> i32 {
            <$patterns as $crate::Patterns>::start(workers as usize) as i32
        }
        #[no_mangle]
        pub extern "C" fn teff_spawn_run(
            body: extern "C" fn(*mut std::ffi::c_void),
            context: *mut std::ffi::c_void,
        ) {
            <$patterns as $crate::Patterns>::run($crate::Body::new(body, context))
        }
        #[no_mangle]
        pub extern "C" fn teff_spawn_serial(tasks: i64) {
            <$patterns as $crate::Patterns>::serial_spawn(tasks)
        }
        #[no_mangle]
        pub extern "C" fn teff_spawn_parallel(tasks: i64) {
            <$patterns as $crate::Patterns>::parallel_spawn(tasks)
        }
        #[no_mangle]
        pub extern "C" fn teff_spawn_fibonacci_both(n: i32) -> i64 {
            <$patterns as $crate::Patterns>::fibonacci_both(n)
        }
        #[no_mangle]
        pub extern "C" fn teff_spawn_fibonacci_one(n: i32) -> i64 {
            <$patterns as $crate::Patterns>::fibonacci_one(n)
        }
        /// # Safety
        /// All three are C++'s, and outlive the call.
        #[no_mangle]
        pub unsafe extern "C" fn teff_spawn_search_tree(
            tree: *const $crate::TreeInC,
            from: *const $crate::Digest,
            found: *mut $crate::Counts,
        ) {
            let tree = $crate::Tree::new(tree);
            *found = <$patterns as $crate::Patterns>::search_tree(tree, tree.node(*from));
        }
    };
}
