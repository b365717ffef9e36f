//! The task bench for adapters in Rust: libteff_bench.so, as teff_bench.h describes it.

use std::ffi::{c_char, c_void, CStr, CString};

mod c {
    use std::ffi::{c_char, c_void};

    #[repr(C)]
    pub struct Identity {
        pub system: *const c_char,
        pub variant: *const c_char,
        pub version: *const c_char,
        pub workers: i32,
        pub ranks: i32,
    }

    pub type Points = unsafe extern "C" fn(*const c_void, i32, i64, i64, *mut i64, i64) -> i64;

    #[link(name = "teff_bench")]
    extern "C" {
        pub fn teff_error() -> *const c_char;
        pub fn teff_session_open(count: i32, flags: *const *const c_char) -> *mut c_void;
        pub fn teff_session_workers(session: *const c_void) -> i32;
        pub fn teff_session_identify(session: *mut c_void, who: *const Identity);
        pub fn teff_session_next(session: *mut c_void, workers: i32) -> *mut c_void;
        pub fn teff_session_answer(
            session: *mut c_void,
            work: *mut c_void,
            outcomes: *const c_void,
            count: i32,
        );
        pub fn teff_session_close(session: *mut c_void) -> i32;
        pub fn teff_graphs(work: *const c_void) -> i32;
        pub fn teff_steps(work: *const c_void, graph: i32) -> i64;
        pub fn teff_width(work: *const c_void, graph: i32) -> i64;
        pub fn teff_cycle(work: *const c_void, graph: i32) -> i64;
        pub fn teff_max_inputs(work: *const c_void, graph: i32) -> i64;
        pub fn teff_output_bytes(work: *const c_void, graph: i32) -> i64;
        pub fn teff_points(work: *const c_void, graph: i32, timestep: i64, first: *mut i64) -> i64;
        pub fn teff_inputs(
            work: *const c_void,
            graph: i32,
            timestep: i64,
            point: i64,
            to: *mut i64,
            room: i64,
        ) -> i64;
        pub fn teff_consumers(
            work: *const c_void,
            graph: i32,
            timestep: i64,
            point: i64,
            to: *mut i64,
            room: i64,
        ) -> i64;
        pub fn teff_predecessors(
            work: *const c_void,
            graph: i32,
            timestep: i64,
            point: i64,
            to: *mut i64,
            room: i64,
        ) -> i64;
        pub fn teff_successors(
            work: *const c_void,
            graph: i32,
            timestep: i64,
            point: i64,
            to: *mut i64,
            room: i64,
        ) -> i64;
        pub fn teff_start(work: *mut c_void);
        pub fn teff_stop(work: *mut c_void);
        pub fn teff_execute(
            work: *mut c_void,
            graph: i32,
            timestep: i64,
            point: i64,
            worker: i32,
            output: *mut c_void,
            size: usize,
            inputs: *const *const c_void,
            sizes: *const usize,
            count: i64,
        ) -> i32;
        pub fn teff_bind_to_core(index: i32);
    }
}

/// A task of a graph.
#[derive(Clone, Copy)]
pub struct Task {
    pub graph: i32,
    pub timestep: i64,
    pub point: i64,
}

/// One configuration made ready. Any number of threads may query it and execute tasks, each as a different
/// worker.
#[derive(Clone, Copy)]
pub struct Workload(*mut c_void);

unsafe impl Send for Workload {}
unsafe impl Sync for Workload {}

impl Workload {
    pub fn graphs(self) -> i32 {
        unsafe { c::teff_graphs(self.0) }
    }
    pub fn steps(self, graph: i32) -> i64 {
        unsafe { c::teff_steps(self.0, graph) }
    }
    pub fn width(self, graph: i32) -> i64 {
        unsafe { c::teff_width(self.0, graph) }
    }
    /// After how many timesteps the dependences repeat; 0 where they don't.
    pub fn cycle(self, graph: i32) -> i64 {
        unsafe { c::teff_cycle(self.0, graph) }
    }
    /// The most inputs of any task.
    pub fn max_inputs(self, graph: i32) -> usize {
        unsafe { c::teff_max_inputs(self.0, graph) as usize }
    }
    pub fn output_bytes(self, graph: i32) -> usize {
        unsafe { c::teff_output_bytes(self.0, graph) as usize }
    }
    pub fn exists(self, task: Task) -> bool {
        let mut first = 0;
        let count = unsafe { c::teff_points(self.0, task.graph, task.timestep, &mut first) };
        (first..first + count).contains(&task.point)
    }
    /// The points at timestep - 1 whose outputs a task reads, in the order in which execute() wants them.
    pub fn inputs(self, task: Task) -> Vec<i64> {
        self.points(task, c::teff_inputs)
    }
    /// The points at timestep + 1 that read a task's output.
    pub fn consumers(self, task: Task) -> Vec<i64> {
        self.points(task, c::teff_consumers)
    }
    /// The points at timestep - 1 that a task waits for where the outputs of two timesteps are kept.
    pub fn predecessors(self, task: Task) -> Vec<i64> {
        self.points(task, c::teff_predecessors)
    }
    /// The points at timestep + 1 that wait for a task, likewise.
    pub fn successors(self, task: Task) -> Vec<i64> {
        self.points(task, c::teff_successors)
    }
    fn points(self, of: Task, ask: c::Points) -> Vec<i64> {
        let asked = |to, room| unsafe { ask(self.0, of.graph, of.timestep, of.point, to, room) };
        let mut found = vec![0; asked(std::ptr::null_mut(), 0) as usize];
        asked(found.as_mut_ptr(), found.len() as i64);
        found
    }

    /// Begins the timed region: all is ready, and no task has started.
    pub fn start(self) {
        unsafe { c::teff_start(self.0) }
    }
    /// Ends it: all tasks are done.
    pub fn stop(self) {
        unsafe { c::teff_stop(self.0) }
    }

    /// Executes a task as a worker. No other thread may act as this worker meanwhile. The inputs lie where
    /// `inputs` says; all of them are as long as the output.
    ///
    /// # Safety The inputs are alive, and no thread writes to them.
    pub unsafe fn execute(
        self,
        task: Task,
        worker: i32,
        output: &mut [u8],
        inputs: &[*const u8],
        sizes: &[usize],
    ) {
        let Task {
            graph,
            timestep,
            point,
        } = task;
        let (to, size) = (output.as_mut_ptr().cast(), output.len());
        let (from, count) = (inputs.as_ptr().cast(), inputs.len() as i64);
        c::teff_execute(
            self.0,
            graph,
            timestep,
            point,
            worker,
            to,
            size,
            from,
            sizes.as_ptr(),
            count,
        );
    }
}

/// Binds the calling thread to a core.
pub fn bind_to_core(index: i32) {
    unsafe { c::teff_bind_to_core(index) }
}

/// Runs configurations of task graphs: every task of every graph between start() and stop().
pub trait Adapter {
    /// How many workers the runtime says that it has.
    fn workers(&self) -> i32;
    fn run(&self, work: Workload);
}

/// The main program of an adapter: flags, batch mode, records. Returns the exit code.
///
/// The first three arguments identify the adapter: the system's name, the variant's, and the runtime's
/// version.
pub fn drive<A: Adapter>(
    system: &str,
    variant: &str,
    version: &str,
    make: impl FnOnce(i32) -> A,
) -> i32 {
    let flags: Vec<CString> = std::env::args().skip(1).map(text).collect();
    let list: Vec<*const c_char> = flags.iter().map(|flag| flag.as_ptr()).collect();
    let session = unsafe { c::teff_session_open(list.len() as i32, list.as_ptr()) };
    if session.is_null() {
        eprintln!(
            "error: {}",
            unsafe { CStr::from_ptr(c::teff_error()) }.to_string_lossy()
        );
        return 2;
    }
    let adapter = make(unsafe { c::teff_session_workers(session) });
    let workers = adapter.workers();
    let names = [system, variant, version].map(text);
    let [system, variant, version] = names.each_ref().map(|name| name.as_ptr());
    let who = c::Identity {
        system,
        variant,
        version,
        workers,
        ranks: 1,
    };
    unsafe { c::teff_session_identify(session, &who) };
    loop {
        let work = unsafe { c::teff_session_next(session, workers) };
        if work.is_null() {
            return unsafe { c::teff_session_close(session) };
        }
        adapter.run(Workload(work));
        unsafe { c::teff_session_answer(session, work, std::ptr::null(), 0) };
    }
}

fn text(of: impl Into<Vec<u8>>) -> CString {
    CString::new(of).expect("no zero is part of it")
}
