%% The task bench for Erlang: libteff_bench.so, as teff_bench.h describes it, through bench.c.
-module(bench).

-export([open/1, error/0, workers/1, identify/4, next/2, answer/2, close/1]).
-export([graphs/1, steps/2, width/2, cycle/2, points/3, inputs/4, consumers/4]).
-export([start/1, stop/1, execute/5, execute_dirty/5]).
-nifs([open/1, error/0, workers/1, identify/4, next/2, answer/2, close/1]).
-nifs([graphs/1, steps/2, width/2, cycle/2, points/3, inputs/4, consumers/4]).
-nifs([start/1, stop/1, execute/5, execute_dirty/5]).
-on_load(load/0).

load() ->
    erlang:load_nif(os:getenv("TEFF_ERLANG_LIBRARY"), 0).

%% A session is what the command line asks for: open(Flags) is 0 where they are wrong, and error() says why.
open(_Flags) -> erlang:nif_error(not_loaded).
error() -> erlang:nif_error(not_loaded).
workers(_Session) -> erlang:nif_error(not_loaded).
identify(_Session, _Variant, _Version, _Workers) -> erlang:nif_error(not_loaded).
%% The next configuration to run; 0 where there is none left.
next(_Session, _Workers) -> erlang:nif_error(not_loaded).
answer(_Session, _Work) -> erlang:nif_error(not_loaded).
%% The program's exit code.
close(_Session) -> erlang:nif_error(not_loaded).

graphs(_Work) -> erlang:nif_error(not_loaded).
steps(_Work, _Graph) -> erlang:nif_error(not_loaded).
width(_Work, _Graph) -> erlang:nif_error(not_loaded).
%% After how many timesteps the dependences repeat; 0 where they don't.
cycle(_Work, _Graph) -> erlang:nif_error(not_loaded).
%% The first point of a timestep, and the one after the last.
points(_Work, _Graph, _Timestep) -> erlang:nif_error(not_loaded).
%% The points of the timestep before whose outputs a task reads, and the points of the next timestep that read
%% its output.
inputs(_Work, _Graph, _Timestep, _Point) -> erlang:nif_error(not_loaded).
consumers(_Work, _Graph, _Timestep, _Point) -> erlang:nif_error(not_loaded).

%% The timed region: all is ready, and no task has started; all tasks are done.
start(_Work) -> erlang:nif_error(not_loaded).
stop(_Work) -> erlang:nif_error(not_loaded).
%% Executes a task with the outputs that it reads, in their order; its own output.
execute(_Work, _Graph, _Timestep, _Point, _Inputs) -> erlang:nif_error(not_loaded).
%% As execute, on a dirty scheduler, which runs no processes.
execute_dirty(_Work, _Graph, _Timestep, _Point, _Inputs) -> erlang:nif_error(not_loaded).
