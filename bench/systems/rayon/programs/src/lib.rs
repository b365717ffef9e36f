//! The calls of rayon's users in programs, for the class in ../../programs.hpp: join, scope, and parallel
//! iterators. The bodies are C++'s, compiled with the loop over a part of the indices, as Rust compiles an
//! iterator's.

use rayon::prelude::*;
use rayon::ThreadPool;
use std::ops::Range;
use std::os::raw::c_void;

extern "C" {
    fn teff_pin(worker: i32);
}

/// A function of C++ that is called with its context. Workers share it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Call {
    run: extern "C" fn(*mut c_void),
    context: *mut c_void,
}
unsafe impl Send for Call {}
unsafe impl Sync for Call {}

impl Call {
    fn call(self) {
        (self.run)(self.context)
    }
}

/// The same for a part of a loop. A sum adds up the values that it returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Part {
    run: extern "C" fn(*const c_void, i64, i64) -> f64,
    context: *const c_void,
}
unsafe impl Send for Part {}
unsafe impl Sync for Part {}

impl Part {
    fn call(&self, indices: Range<i64>) -> f64 {
        (self.run)(self.context, indices.start, indices.end)
    }
}

/// A closure of C++ that is copied with the task.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Closure {
    words: [u64; 6],
}

/// Makes the workers, each bound to its core. Null where they can't be had.
#[no_mangle]
pub extern "C" fn rayon_start(workers: i32) -> *mut ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(workers as usize)
        .start_handler(|worker| unsafe { teff_pin(worker as i32) })
        .stack_size(256 << 20)
        .build()
        .map_or(std::ptr::null_mut(), |pool| Box::into_raw(Box::new(pool)))
}

/// How many threads have run a function that all run.
#[no_mangle]
pub extern "C" fn rayon_workers(pool: &ThreadPool) -> i32 {
    pool.broadcast(|_| ()).len() as i32
}

/// # Safety
/// `pool` is one that rayon_start() made, and is not used any more.
#[no_mangle]
pub unsafe extern "C" fn rayon_stop(pool: *mut ThreadPool) {
    drop(Box::from_raw(pool));
}

/// Calls `body` in a worker.
#[no_mangle]
pub extern "C" fn rayon_run(pool: &ThreadPool, body: Call) {
    pool.install(|| body.call());
}

#[no_mangle]
pub extern "C" fn rayon_join(first: Call, second: Call) {
    rayon::join(|| first.call(), || second.call());
}

/// Calls `body` with a scope for rayon_spawn().
#[no_mangle]
pub extern "C" fn rayon_scope(
    body: extern "C" fn(*const c_void, *mut c_void),
    context: *mut c_void,
) {
    struct Context(*mut c_void);
    unsafe impl Send for Context {}
    let context = Context(context);
    rayon::scope(|scope| {
        let context = context;
        body(scope as *const rayon::Scope as *const c_void, context.0)
    });
}

/// # Safety
/// `scope` is one for which rayon_scope() has called a body that has not returned.
#[no_mangle]
pub unsafe extern "C" fn rayon_spawn(
    scope: *const c_void,
    run: extern "C" fn(*mut Closure),
    closure: &Closure,
) {
    let scope = &*(scope as *const rayon::Scope<'static>);
    let mut copy = *closure;
    scope.spawn(move |_| run(&mut copy));
}

/// The indices in parts, as rayon divides a range.
fn parts(first: i64, last: i64) -> impl ParallelIterator<Item = Range<i64>> {
    rayon::iter::split(first..last, |all| {
        let middle = all.start + (all.end - all.start) / 2;
        if middle == all.start {
            (all, None)
        } else {
            (all.start..middle, Some(middle..all.end))
        }
    })
}

/// By blocks of `grain`; 0: as rayon divides loops.
#[no_mangle]
pub extern "C" fn rayon_for(pool: &ThreadPool, first: i64, last: i64, grain: i64, body: Part) {
    pool.install(|| {
        if grain == 0 {
            return parts(first, last).for_each(|part| {
                body.call(part);
            });
        }
        let blocks = (last - first + grain - 1) / grain;
        (0..blocks as usize)
            .into_par_iter()
            .with_max_len(1)
            .for_each(|block| {
                let start = first + block as i64 * grain;
                body.call(start..last.min(start + grain));
            })
    })
}

#[no_mangle]
pub extern "C" fn rayon_sum(pool: &ThreadPool, first: i64, last: i64, part: Part) -> f64 {
    pool.install(|| parts(first, last).map(|each| part.call(each)).sum())
}
