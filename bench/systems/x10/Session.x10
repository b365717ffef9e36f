import x10.compiler.Native;
import x10.compiler.NativeCPPInclude;

/** What the program's flags ask for, in the place that has them. */
@NativeCPPInclude("bench.hpp")
final class Session(handle:Long) {
    /** Of no use if isOpen() is false: error() then says why. */
    static def make(flags:Rail[String]) = new Session(open(flags));

    @Native("c++", "::teff_x10::open(#flags)")
    private static native def open(flags:Rail[String]):Long;

    def isOpen() = handle != 0;

    @Native("c++", "::x10::lang::String::_make(::teff_error(), false)")
    static native def error():String;

    @Native("c++", "::teff_session_workers(::teff_x10::session((#this)->FMGL(handle)))")
    native def workers():Int;

    @Native("c++", "::teff_x10::identify((#this)->FMGL(handle), #variant, #workers, #places)")
    native def identify(variant:String, workers:Int, places:Int):void;

    /** The next configuration; null where there is none left. */
    def next(workers:Int):Workload {
        val work = next(handle, workers);
        return work == 0 ? null : new Workload(work);
    }

    @Native("c++", "::teff_x10::handle(::teff_session_next(::teff_x10::session(#session), #workers))")
    private static native def next(session:Long, workers:Int):Long;

    /** Makes the record from the outcomes of all places. */
    @Native("c++", "::teff_x10::answer((#this)->FMGL(handle), (#work)->FMGL(handle), #outcomes)")
    native def answer(work:Workload, outcomes:Rail[Rail[Byte]]):void;

    /** The program's exit code. */
    @Native("c++", "::teff_session_close(::teff_x10::session((#this)->FMGL(handle)))")
    native def close():Int;
}
