import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;

/** A ForkJoinPool whose threads are bound to a core each, and have numbers. */
final class Workers {
  private Workers() {}

  static ForkJoinPool pool(int workers) {
    ConcurrentLinkedQueue<Integer> free = new ConcurrentLinkedQueue<>();
    for (int worker = 0; worker < workers; ++worker) {
      free.add(worker);
    }
    return new ForkJoinPool(
        workers, pool -> new Worker(pool, free), null, false, workers, workers, 1, null, 60, TimeUnit.SECONDS);
  }

  /** The number of the thread that calls, which is one of a pool's. */
  static int current() {
    return ((Worker) Thread.currentThread()).number;
  }

  private static final class Worker extends ForkJoinWorkerThread {
    private final ConcurrentLinkedQueue<Integer> free;
    private int number;

    Worker(ForkJoinPool pool, ConcurrentLinkedQueue<Integer> free) {
      super(pool);
      this.free = free;
    }

    @Override
    protected void onStart() {
      number = free.remove();
      Bench.bindToCore(number);
    }

    @Override
    protected void onTermination(Throwable failure) {
      free.add(number);
    }
  }
}
