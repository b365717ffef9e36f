import x10.compiler.Pragma;
import x10.xrx.Runtime;

/** The main program of all ways. */
final class Bench {
    /** With the graphs that `make` makes, `start` spawns in each place the activities that execute its tasks. */
    static def drive(variant:String, flags:Rail[String], make:(Workload, Int)=>Graph,
                     start:(PlaceLocalHandle[Part])=>void):void {
        val session = Session.make(flags);
        if (!session.isOpen()) {
            Console.ERR.println("error: " + Session.error());
            System.setExitCode(2n);
            return;
        }
        val workers = Runtime.NTHREADS * Place.numPlaces() as Int;
        session.identify(variant, workers, Place.numPlaces() as Int);
        for (var work:Workload = session.next(Runtime.NTHREADS); work != null; work = session.next(Runtime.NTHREADS)) {
            if (session.workers() != workers)
                work.fail("--workers " + session.workers() + ", but X10 has " + workers
                    + ": in each place as many as X10_NTHREADS says");
            session.answer(work, run(work, make, start));
        }
        System.setExitCode(session.close());
    }

    /** Returns what each place did. */
    private static def run(work:Workload, make:(Workload, Int)=>Graph,
                           start:(PlaceLocalHandle[Part])=>void):Rail[Rail[Byte]] {
        val places = Place.places();
        val flags = work.flags();
        val parts = PlaceLocalHandle.make[Part](places,
            () => new Part(here == Place.FIRST_PLACE ? work : Workload.make(flags, Runtime.NTHREADS), make));
        work.start();
        if (places.size() == 1) {
            // Such a finish counts its activities by an atomic, one that waits for other places by a lock.
            @Pragma(Pragma.FINISH_LOCAL) finish async start(parts);
        } else {
            finish for (place in places) at (place) async start(parts);
        }
        work.stop();
        val outcomes = new Rail[Rail[Byte]](places.size(), (place:Long) => at (Place(place)) parts().outcome());
        PlaceLocalHandle.destroy(places, parts);
        return outcomes;
    }
}
