import x10.compiler.Native;
import x10.compiler.NativeCPPInclude;

/**
 * One configuration made ready in a place: libteff_bench.so, as teff_bench.h describes it. Any number of activities may use
 * it.
 */
@NativeCPPInclude("bench.hpp")
final class Workload(handle:Long) {
    static def make(flags:String, workers:Int) = new Workload(open(flags, workers));

    @Native("c++", "::teff_x10::handle(::teff_workload_new((#flags)->c_str(), #workers))")
    private static native def open(flags:String, workers:Int):Long;

    @Native("c++", "::teff_x10::ask< ::teff_workload_free>((#this)->FMGL(handle))")
    native def free():void;

    /** Those that make the same configuration in another place. */
    @Native("c++", "::x10::lang::String::_make(::teff_x10::ask< ::teff_flags>((#this)->FMGL(handle)), false)")
    native def flags():String;

    @Native("c++", "::teff_x10::ask< ::teff_graphs>((#this)->FMGL(handle))")
    native def graphs():Int;

    @Native("c++", "::teff_x10::ask< ::teff_steps>((#this)->FMGL(handle), #graph)")
    native def steps(graph:Int):Long;

    @Native("c++", "::teff_x10::ask< ::teff_width>((#this)->FMGL(handle), #graph)")
    native def width(graph:Int):Long;

    @Native("c++", "::teff_x10::ask< ::teff_output_bytes>((#this)->FMGL(handle), #graph)")
    native def outputBytes(graph:Int):Long;

    /** After how many timesteps the dependences repeat; 0 where they don't. */
    @Native("c++", "::teff_x10::ask< ::teff_cycle>((#this)->FMGL(handle), #graph)")
    native def cycle(graph:Int):Long;

    @Native("c++", "::teff_x10::first_point((#this)->FMGL(handle), #graph, #timestep)")
    native def firstPoint(graph:Int, timestep:Long):Long;

    @Native("c++", "::teff_x10::ask< ::teff_points>((#this)->FMGL(handle), #graph, #timestep, nullptr)")
    native def points(graph:Int, timestep:Long):Long;

    /** The points at timestep - 1 whose outputs a task reads. */
    @Native("c++", "::teff_x10::points< ::teff_inputs>((#this)->FMGL(handle), #graph, #timestep, #point)")
    native def inputs(graph:Int, timestep:Long, point:Long):Rail[Long]{self!=null};

    /** How many points at timestep - 1 a task waits for. */
    @Native("c++", "::teff_x10::ask< ::teff_predecessors>((#this)->FMGL(handle), #graph, #timestep, #point, nullptr, 0)")
    native def predecessors(graph:Int, timestep:Long, point:Long):Long;

    /** The points at timestep + 1 that wait for a task. */
    @Native("c++", "::teff_x10::points< ::teff_successors>((#this)->FMGL(handle), #graph, #timestep, #point)")
    native def successors(graph:Int, timestep:Long, point:Long):Rail[Long]{self!=null};

    /** The points at timestep + 1 that read a task's output. */
    @Native("c++", "::teff_x10::points< ::teff_consumers>((#this)->FMGL(handle), #graph, #timestep, #point)")
    native def consumers(graph:Int, timestep:Long, point:Long):Rail[Long]{self!=null};

    /** Executes a task as a worker, whom no other activity may be meanwhile. */
    @Native("c++",
        "::teff_x10::execute((#this)->FMGL(handle), #graph, #timestep, #point, #worker, #outputs, #width, #size, #inputs)")
    native def execute(graph:Int, timestep:Long, point:Long, worker:Int, outputs:Rail[Byte], width:Long, size:Long,
                       inputs:Rail[Long]):void;

    @Native("c++", "::teff_x10::ask< ::teff_start>((#this)->FMGL(handle))")
    native def start():void;

    @Native("c++", "::teff_x10::ask< ::teff_stop>((#this)->FMGL(handle))")
    native def stop():void;

    /** What this place's workers have done: the bytes of a teff_outcome, whose time counts only if asked for. */
    @Native("c++", "::teff_x10::outcome((#this)->FMGL(handle), #isTimed)")
    native def outcome(isTimed:Boolean):Rail[Byte]{self!=null};

    @Native("c++", "::teff_x10::ask< ::teff_fail>((#this)->FMGL(handle), (#reason)->c_str())")
    native def fail(reason:String):void;

    @Native("c++", "::teff_x10::bind_to_core(#index)")
    static native def bindToCore(index:Int):void;

    /** Lets another thread run that shares the calling thread's core. */
    @Native("c++", "::sched_yield()")
    static native def yieldCore():void;
}
