import x10.util.concurrent.AtomicBoolean;
import x10.xrx.Runtime;

/**
 * Which of a place's cores execute a task, as many as it has workers. Its threads may be more: X10 starts another when one
 * waits for its activities.
 */
final class Cores {
    private val first = here.id as Int * Runtime.NTHREADS;
    private val taken = new Rail[AtomicBoolean](Runtime.NTHREADS, (Long) => new AtomicBoolean(false));

    /** Binds the calling thread to a core that is free, if it can to that where it has been before. */
    def take():Int {
        for (var core:Int = Runtime.workerId() % Runtime.NTHREADS; ; core = (core + 1n) % Runtime.NTHREADS) {
            if (taken(core).compareAndSet(false, true)) {
                Workload.bindToCore(first + core);
                return core;
            }
        }
    }

    def leave(core:Int):void { taken(core).set(false); }
}
