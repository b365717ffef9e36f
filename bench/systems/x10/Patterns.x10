import x10.compiler.Native;
import x10.compiler.NativeCPPCompilationUnit;
import x10.compiler.NativeCPPInclude;
import x10.compiler.Pragma;
import x10.util.concurrent.AtomicInteger;
import x10.xrx.Runtime;

/**
 * The spawn patterns on activities, for patterns.cpp. No finish waits for other places, and each says so: X10 then counts its
 * activities by an atomic, otherwise by a lock.
 */
@NativeCPPInclude("patterns.hpp")
@NativeCPPCompilationUnit("patterns.cpp")
public class Patterns {
    private static MOST_LOOKS = 100000;

    /** Runs what patterns.cpp is asked to, as an activity. */
    public static def main(Rail[String]) { serve(Runtime.NTHREADS); }

    @Native("c++", "::teff_x10::serve(#workers)")
    private static native def serve(workers:Int):void;

    @Native("c++", "::teff_spawn_null_task(#index)")
    private static native def nullTask(index:Long):void;

    /**
     * Has an activity run on each worker at the same time. X10 may leave one to the worker that spawned it, so none looks for
     * ever.
     */
    static def wakeAll():void {
        val awake = new AtomicInteger();
        @Pragma(Pragma.FINISH_LOCAL) finish for (1..Runtime.NTHREADS) async {
            awake.incrementAndGet();
            for (var looks:Int = 0n; awake.get() < Runtime.NTHREADS && looks < MOST_LOOKS; ++looks) {}
        }
    }

    static def serial(tasks:Long):void {
        @Pragma(Pragma.FINISH_LOCAL) finish spawnEach(0, tasks);
    }

    /** An activity for each worker spawns the tasks of its part. */
    static def parallel(tasks:Long):void {
        val parts = Runtime.NTHREADS as Long;
        @Pragma(Pragma.FINISH_LOCAL) finish for (part in 0..(parts - 1)) async {
            spawnEach(tasks * part / parts, tasks * (part + 1) / parts);
        }
    }

    private static def spawnEach(first:Long, end:Long):void {
        for (index in first..(end - 1)) async nullTask(index);
    }

    static def fibonacciBoth(n:Int):Long {
        if (n < 2n) return n;
        val a:Long;
        val b:Long;
        @Pragma(Pragma.FINISH_LOCAL) finish {
            async a = fibonacciBoth(n - 1n);
            async b = fibonacciBoth(n - 2n);
        }
        return a + b;
    }

    static def fibonacciOne(n:Int):Long {
        if (n < 2n) return n;
        val a:Long;
        val b:Long;
        @Pragma(Pragma.FINISH_LOCAL) finish {
            async a = fibonacciOne(n - 1n);
            b = fibonacciOne(n - 2n);
        }
        return a + b;
    }

    /** As teff_spawn.h has it, and how many children there are. */
    static struct Node(a:Int, b:Int, c:Int, d:Int, e:Int, depth:Int, children:Int) {}

    @Native("c++", "::teff_x10::child(#tree, #of, #index)")
    private static native def child(tree:Long, of:Node, index:Int):Node;

    static struct Counts(nodes:Long, leaves:Long, depth:Int) {
        public operator this + (other:Counts) =
            Counts(nodes + other.nodes, leaves + other.leaves, Math.max(depth, other.depth));
    }

    /** Counts a node and what is below it. Each child is an activity but the last. */
    static def search(tree:Long, from:Node):Counts {
        if (from.children == 0n) return Counts(1, 1, from.depth);
        val last = from.children - 1n;
        val found = new Rail[Counts](from.children);
        @Pragma(Pragma.FINISH_LOCAL) finish {
            for (index in 0n..(last - 1n)) async found(index) = search(tree, child(tree, from, index));
            found(last) = search(tree, child(tree, from, last));
        }
        var all:Counts = Counts(1, 0, from.depth);
        for (each in found) all = all + each;
        Unsafe.dealloc(found); // X10 can be built without a collector
        return all;
    }
}
