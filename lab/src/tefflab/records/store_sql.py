"""The store as tables: DuckDB views over the JSON lines, with one column for each number.

A line that cannot be read is left out here and reported by `Store.damage`. The columns that are derived
(granularity and rates) follow `tefflab.benchmarks.task_graph.record`; a test holds the two equal.
"""

from pathlib import Path

import duckdb
import polars

_GRAPH = """struct(type varchar, steps bigint, width bigint, radix bigint, period bigint, fraction double,
    kernel varchar, iterations bigint, samples bigint, imbalance double, persistent_imbalance boolean,
    output_bytes bigint, scratch_bytes bigint)"""

_RECORD = f"""struct(schema varchar, benchmark varchar, system varchar, variant varchar, version varchar,
    graphs {_GRAPH}[],
    nodes bigint, workers bigint, ranks bigint, isa varchar, elapsed_seconds double, tasks bigint,
    dependencies bigint, flops bigint, bytes bigint, local_dependencies bigint,
    nonlocal_dependencies bigint,
    validation struct(enabled boolean, passed boolean, checksum varchar, expected varchar, error varchar),
    noise struct(cpu_seconds double, voluntary_switches bigint, involuntary_switches bigint,
        gap_share_before double, gap_share_after double, round_trip_seconds double),
    started_at timestamptz, error varchar)"""

_INTERVAL = "struct(value double, low double, high double)"

_COLUMNS = {
    "raw_records": {
        "sitting": "varchar",
        "round": "bigint",
        "system_id": "varchar",
        "role": "varchar",
        "attempt": "bigint",
        "noisy": "boolean",
        "command": "varchar",
        "flags": "varchar",
        "record": _RECORD,
        "configuration": "varchar",
        "ceilings": "double[]",
        "round_trips": "double[]",
    },
    "raw_sittings": {
        "sitting": "varchar",
        "benchmark": "varchar",
        "started_at": "timestamptz",
        "command": "varchar",
        "machine": """struct(id varchar, cpu varchar, cores_present bigint, cores_usable bigint,
            hypervisor varchar, kernel varchar, os varchar)""",
        "revision": "struct(commit varchar, dirty boolean)",
    },
    "raw_metg": {
        "sitting": "varchar",
        "configuration": "varchar",
        "system_id": "varchar",
        "title": "varchar",
        "version": "varchar",
        "threshold": "double",
        "metg": "struct(value double, low double, high double, relation varchar)",
        "overhead": _INTERVAL,
        "ceiling": "struct(value double, low double, high double, unit varchar)",
        "rounds": "bigint",
        "repeats": "bigint",
        "noisy_share": "double",
        "timesteps": "bigint",
    },
}

_VIEWS = """
create view records as select
    row_number() over () as line, sitting, round, system_id, role, attempt, noisy, command, flags,
    record.benchmark, configuration, ceilings[1] as ceiling_before, ceilings[2] as ceiling_after,
    (round_trips[1] + round_trips[2]) / 2 as round_trip,
    record.system, record.variant, record.version,
    record.graphs[1].type as pattern, record.graphs[1].kernel as kernel,
    record.graphs[1].iterations as iterations, record.graphs[1].steps as steps,
    record.graphs[1].width as width, record.graphs[1].radix as radix,
    record.graphs[1].imbalance as imbalance,
    record.graphs[1].persistent_imbalance as persistent_imbalance,
    record.graphs[1].output_bytes as output_bytes, record.graphs[1].scratch_bytes as scratch_bytes,
    len(record.graphs) as graph_count,
    record.nodes, record.workers, record.ranks, record.isa,
    record.elapsed_seconds, record.tasks, record.dependencies, record.flops, record.bytes,
    record.local_dependencies, record.nonlocal_dependencies,
    record.elapsed_seconds * record.workers / record.tasks as granularity,
    record.flops / record.elapsed_seconds as flops_per_second,
    record.bytes / record.elapsed_seconds as bytes_per_second,
    record.tasks / record.elapsed_seconds as tasks_per_second,
    record.noise.cpu_seconds / (record.elapsed_seconds * record.workers) as cpu_share,
    record.noise.cpu_seconds, record.noise.voluntary_switches,
    record.noise.involuntary_switches, record.noise.gap_share_before,
    record.noise.gap_share_after,
    record.error is null and coalesce(record.validation.enabled, false) as proven,
    record.error, record.started_at::timestamp as started_at
from raw_records where record is not null;

create view graphs as select line, sitting, system_id, flags, index, unnest(graph)
from (select row_number() over () as line, sitting, system_id, flags,
             generate_subscripts(record.graphs, 1) - 1 as index, unnest(record.graphs) as graph
      from raw_records where record is not null);

create view sittings as select
    sitting, benchmark, started_at::timestamp as started_at, command, unnest(machine), unnest(revision)
from raw_sittings where sitting is not null;

create view metg as select
    row_number() over () as line, sitting, configuration, system_id, title, version, threshold,
    metg.value as metg, metg.low as metg_low, metg.high as metg_high, metg.relation as relation,
    overhead.value as overhead, overhead.low as overhead_low, overhead.high as overhead_high,
    ceiling.value as ceiling, ceiling.low as ceiling_low, ceiling.high as ceiling_high,
    ceiling.unit as ceiling_unit, rounds, repeats, noisy_share, timesteps
from raw_metg where metg is not null;
"""


_ZONED = "TIMESTAMP WITH TIME ZONE"
_TYPES: dict[str, type[polars.DataType] | polars.DataType] = {
    "BIGINT": polars.Int64,
    "INTEGER": polars.Int64,
    "HUGEINT": polars.Int128,
    "DOUBLE": polars.Float64,
    "VARCHAR": polars.String,
    "BOOLEAN": polars.Boolean,
    "TIMESTAMP": polars.Datetime("us"),
}


def query_files(sql: str, runs: Path, sittings: Path, estimates: Path) -> polars.DataFrame:
    """The answer to `sql` over the four views; a file that is missing or empty is an empty table.

    Raises ValueError with the first line of DuckDB's complaint.
    """
    files = {"raw_records": runs, "raw_sittings": sittings, "raw_metg": estimates}
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        connection.execute("set timezone = 'UTC'")
        for view, file in files.items():
            connection.execute(_raw_view(view, file))
        connection.execute(_VIEWS)
        try:
            answer = connection.sql(sql)
            if answer is None:
                raise ValueError("the query has no rows to give: start it with select or describe")
            return _frame(answer)
        except duckdb.Error as failure:
            raise ValueError(f"the query failed: {_first_line(failure)}") from None


def _frame(answer: duckdb.DuckDBPyRelation) -> polars.DataFrame:
    """The rows of `answer`, typed even where there are none.

    Rows go by Python values, since the Arrow way needs pyarrow or leaves DuckDB complaining of leaks at exit. Times go
    without zone (they are all UTC), since with one they would need pytz.
    """
    columns = [
        f"{_quoted(name)}::timestamp as {_quoted(name)}" if str(kind) == _ZONED else _quoted(name)
        for name, kind in zip(answer.columns, answer.types, strict=True)
    ]
    plain = answer.project(", ".join(columns))
    types = {name: _TYPES.get(str(kind)) for name, kind in zip(plain.columns, plain.types, strict=True)}
    return polars.DataFrame(plain.fetchall(), schema=types, orient="row", infer_schema_length=None)


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _raw_view(view: str, file: Path) -> str:
    columns = _COLUMNS[view]
    if not file.exists() or file.stat().st_size == 0:
        nothing = ", ".join(f"null::{kind} as {name}" for name, kind in columns.items())
        return f"create view {view} as select {nothing} where false"
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
    quoted = str(file).replace("'", "''")
    return (
        f"create view {view} as select * from read_json('{quoted}', format = 'newline_delimited', "
        f"ignore_errors = true, maximum_object_size = 16777216, columns = {{{types}}})"
    )


def _first_line(failure: Exception) -> str:
    return " ".join(str(failure).split("\n", maxsplit=1)[0].split())
