import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The task bench for adapters in Java: libteff_bench.so, as teff_bench.h describes it, through bench.c. */
final class Bench {
  private static final int QUIET_WARM_UPS = 10;
  private static final int MOST_WARM_UPS = 200;

  static {
    System.loadLibrary("teff_java");
  }

  private Bench() {}

  /** Executes every task of every graph, between start() and stop(). */
  interface Adapter {
    /** How many threads have been seen to work at the same time. */
    int workers();

    void run(Workload work);
  }

  /** Makes an adapter for so many workers. */
  interface Maker {
    Adapter make(int workers);
  }

  /** One configuration made ready. Any number of threads may ask it, and execute tasks, each as a worker of its own. */
  static final class Workload {
    private final long handle;

    private Workload(long handle) {
      this.handle = handle;
    }

    int graphs() {
      return Bench.graphs(handle);
    }

    long steps(int graph) {
      return Bench.steps(handle, graph);
    }

    int width(int graph) {
      return Bench.width(handle, graph);
    }

    /** After how many timesteps the dependences repeat; 0 where they don't. */
    int cycle(int graph) {
      return Bench.cycle(handle, graph);
    }

    /** The first point of a timestep, and the one after the last. */
    int[] points(int graph, long timestep) {
      return Bench.points(handle, graph, timestep);
    }

    /** The points at timestep + 1 that wait for a task. */
    int[] successors(int graph, long timestep, int point) {
      return Bench.successors(handle, graph, timestep, point);
    }

    /** How many points at timestep - 1 a task waits for. */
    int predecessors(int graph, long timestep, int point) {
      return Bench.predecessors(handle, graph, timestep, point);
    }

    /** Executes a task as a worker, whom no other thread may be meanwhile, once its predecessors are done. */
    void execute(int graph, long timestep, int point, int worker) {
      Bench.execute(handle, graph, timestep, point, worker);
    }

    /** Begins the timed region: all is ready, and no task has started. */
    void start() {
      Bench.start(handle);
    }

    /** Ends it: all tasks are done. */
    void stop() {
      Bench.stop(handle);
    }
  }

  /** The main program of an adapter: flags, batch mode, records. Leaves with the exit code. */
  static void drive(String variant, String[] flags, Maker maker) {
    long session = open(flags);
    if (session == 0) {
      System.err.println("error: " + error());
      System.exit(2);
    }
    int workers = workers(session);
    String version = Runtime.version().toString();
    identify(session, variant, version, 0);
    Adapter adapter = null;
    for (long work; (work = next(session, workers)) != 0; answer(session, work)) {
      if (adapter == null) {
        adapter = maker.make(workers);
        identify(session, variant, version, adapter.workers());
        warmUp(adapter, workers);
      }
      adapter.run(new Workload(work));
    }
    System.exit(close(session));
  }

  /**
   * How many of so many tasks, which `start` starts, run at the same time. Each spins until the others run, 10 seconds at
   * most.
   */
  static int atTheSameTime(int workers, Consumer<Runnable> start) {
    AtomicInteger arrived = new AtomicInteger();
    AtomicInteger together = new AtomicInteger();
    CountDownLatch ended = new CountDownLatch(workers);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    for (int task = 0; task < workers; ++task) {
      start.accept(() -> {
        arrived.incrementAndGet();
        while (arrived.get() < workers && System.nanoTime() < deadline) {
          Thread.onSpinWait();
        }
        together.compareAndSet(0, arrived.get());
        ended.countDown();
      });
    }
    try {
      ended.await();
    } catch (InterruptedException failure) {
      throw new IllegalStateException(failure);
    }
    return together.get();
  }

  /**
   * Java compiles what runs often while it runs; none of that is to be timed. Runs graphs of many columns and, in turn,
   * of one for each worker until some of these runs have compiled nothing.
   */
  private static void warmUp(Adapter adapter, int workers) {
    CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    long compiling = -1;
    int quiet = 0;
    for (int run = 0; run < MOST_WARM_UPS && quiet < QUIET_WARM_UPS; ++run) {
      int width = run % 2 == 0 ? 4 * workers : workers;
      long work = create("-type stencil_1d -steps 1000 -kernel compute_bound -iter 100 -width " + width, workers);
      adapter.run(new Workload(work));
      free(work);
      long now = compiler.getTotalCompilationTime();
      quiet = now == compiling ? quiet + 1 : 0;
      compiling = now;
    }
  }

  static native void bindToCore(int index);

  private static native long open(String[] flags);
  private static native String error();
  private static native int workers(long session);
  private static native void identify(long session, String variant, String version, int workers);
  private static native long next(long session, int workers);
  private static native void answer(long session, long work);
  private static native int close(long session);
  private static native long create(String flags, int workers);
  private static native void free(long work);
  private static native int graphs(long work);
  private static native long steps(long work, int graph);
  private static native int width(long work, int graph);
  private static native int cycle(long work, int graph);
  private static native int[] points(long work, int graph, long timestep);
  private static native int[] successors(long work, int graph, long timestep, int point);
  private static native int predecessors(long work, int graph, long timestep, int point);
  private static native void execute(long work, int graph, long timestep, int point, int worker);
  private static native void start(long work);
  private static native void stop(long work);
}
