import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads: one for each point of a graph, which executes the point's tasks one after the other, and parks until
 * the last of those that its next task waits for unparks it.
 */
final class VirtualThreads implements Bench.Adapter {
  private final int workers;

  VirtualThreads(int workers) {
    this.workers = workers;
    // Read when the first virtual thread is made.
    System.setProperty("jdk.virtualThreadScheduler.parallelism", Integer.toString(workers));
    System.setProperty("jdk.virtualThreadScheduler.maxPoolSize", Integer.toString(workers));
  }

  public static void main(String[] flags) {
    Bench.drive("virtual_threads", flags, VirtualThreads::new);
  }

  @Override
  public int workers() {
    return Bench.atTheSameTime(workers, Thread::startVirtualThread);
  }

  @Override
  public void run(Bench.Workload work) {
    Places places = new Places(workers);
    List<Column> columns = new ArrayList<>();
    for (int graph = 0; graph < work.graphs(); ++graph) {
      Order order = new Order(work, graph);
      Column[] all = new Column[work.width(graph)];
      for (int point = 0; point < all.length; ++point) {
        all[point] = new Column(work, order, places, all, graph, point);
        columns.add(all[point]);
      }
    }
    CountDownLatch ready = new CountDownLatch(columns.size());
    CountDownLatch begin = new CountDownLatch(1);
    for (Column each : columns) {
      each.thread = Thread.ofVirtual().unstarted(() -> {
        ready.countDown();
        await(begin);
        each.run();
      });
    }
    columns.forEach(each -> each.thread.start());
    await(ready);
    work.start();
    begin.countDown();
    columns.forEach(each -> join(each.thread));
    work.stop();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException never) {
      throw new IllegalStateException(never);
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException never) {
      throw new IllegalStateException(never);
    }
  }

  /** A point of a graph. */
  private static final class Column {
    private final Bench.Workload work;
    private final Order order;
    private final Places places;
    private final Column[] all;
    private final int graph;
    private final int point;
    private Thread thread;
    /** The last timestep whose task waits for nobody any more. */
    private volatile long ready;

    Column(Bench.Workload work, Order order, Places places, Column[] all, int graph, int point) {
      this.work = work;
      this.order = order;
      this.places = places;
      this.all = all;
      this.graph = graph;
      this.point = point;
    }

    void run() {
      long steps = work.steps(graph);
      int place = point;
      for (long timestep = 0; timestep < steps; ++timestep) {
        if (!order.exists(timestep, point)) {
          continue;
        }
        while (ready < timestep) {
          LockSupport.park(this);
        }
        place = places.take(place);
        work.execute(graph, timestep, point, place);
        places.leave(place);
        for (int each : order.successors(timestep, point)) {
          if (order.isReady(timestep + 1, each)) {
            all[each].ready = timestep + 1;
            if (each != point) {
              LockSupport.unpark(all[each].thread);
            }
          }
        }
      }
    }
  }

  /** Which workers are busy: as many as there are carriers, so that there is always one for who runs. */
  private static final class Places {
    private static final int APART = 32;
    private final AtomicIntegerArray taken;
    private final int count;

    Places(int count) {
      this.count = count;
      taken = new AtomicIntegerArray(count * APART);
    }

    /** Takes a free place, if it can the one that is wanted. */
    int take(int wanted) {
      for (int place = wanted % count; ; place = (place + 1) % count) {
        if (taken.compareAndSet(place * APART, 0, 1)) {
          return place;
        }
      }
    }

    void leave(int place) {
      taken.setRelease(place * APART, 0);
    }
  }
}
