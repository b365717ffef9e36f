/* What ptg.jdf asks of ptg.cpp. */
#ifndef TEFF_PARSEC_TASKS_H
#define TEFF_PARSEC_TASKS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Of all graphs. */
int task_count(void);
int task_steps(int graph);
/* The points of a timestep. */
int task_first(int graph, int timestep);
int task_last(int graph, int timestep);
/* The tasks of the timestep before for which a task waits: how many, and the point of the i-th. */
int tasks_before(int graph, int timestep, int point);
int task_before(int graph, int timestep, int point, int i);
/* The tasks of the next timestep that wait for a task. */
int tasks_after(int graph, int timestep, int point);
int task_after(int graph, int timestep, int point, int i);
void task_execute(int graph, int timestep, int point, int thread);

#ifdef __cplusplus
}
#endif

#endif
