import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;

/**
 * ForkJoinPool: the last of those that a task waits for runs it, as CountedCompleter would. If several become ready at
 * once, it forks all but the first, for others to steal.
 */
final class ForkJoin implements Bench.Adapter {
  private final ForkJoinPool pool;

  ForkJoin(int workers) {
    pool = Workers.pool(workers);
  }

  public static void main(String[] flags) {
    Bench.drive("fork_join", flags, ForkJoin::new);
  }

  @Override
  public int workers() {
    return Bench.atTheSameTime(pool.getParallelism(), pool::execute);
  }

  @Override
  public void run(Bench.Workload work) {
    Order[] orders = new Order[work.graphs()];
    for (int graph = 0; graph < orders.length; ++graph) {
      orders[graph] = new Order(work, graph);
    }
    pool.invoke(new Root(work, orders));
  }

  /** Starts the first timestep, and returns when no task is left. */
  private static final class Root extends RecursiveAction {
    private final transient Bench.Workload work;
    private final transient Order[] orders;

    Root(Bench.Workload work, Order[] orders) {
      this.work = work;
      this.orders = orders;
    }

    @Override
    protected void compute() {
      work.start();
      for (int graph = 0; graph < orders.length; ++graph) {
        int[] points = work.points(graph, 0);
        for (int point = points[0]; point < points[1]; ++point) {
          new Task(work, orders[graph], graph, 0, point).fork();
        }
      }
      ForkJoinTask.helpQuiesce();
      work.stop();
    }
  }

  /** A task of a graph, and then those that became ready by it alone. */
  private static final class Task extends RecursiveAction {
    private final transient Bench.Workload work;
    private final transient Order order;
    private final int graph;
    private long timestep;
    private int point;

    Task(Bench.Workload work, Order order, int graph, long timestep, int point) {
      this.work = work;
      this.order = order;
      this.graph = graph;
      this.timestep = timestep;
      this.point = point;
    }

    @Override
    protected void compute() {
      int worker = Workers.current();
      for (boolean follows = true; follows; ++timestep) {
        work.execute(graph, timestep, point, worker);
        follows = false;
        for (int each : order.successors(timestep, point)) {
          if (!order.isReady(timestep + 1, each)) {
            continue;
          }
          if (follows) {
            new Task(work, order, graph, timestep + 1, each).fork();
          } else {
            follows = true;
            point = each;
          }
        }
      }
    }
  }
}
