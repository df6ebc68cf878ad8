"""DuckDB on the facts that the bench of reports loads: one thread, ENUM columns, its own JSON.

Called with a CSV of facts. Reads lines from standard input: `answer N` prints the JSON of query N as one line, and
`time N TIMES` the seconds of CPU and of the clock that each of so many runs took.
"""

import json
import sys
import time

import duckdb

DIMENSIONS = ["app_id", "country", "placement_id", "ad_tag", "demand_source", "sdk_v"]
MEASURES = ["ad_requests", "ad_responses", "impressions", "clicks"]

# The columns of a row: counts unchanged, revenue in USD from whole micro-USD.
METRICS = """SUM(impressions) AS impressions, SUM(clicks) AS clicks, SUM(revenue) / 1000000 AS revenue"""
DAYS = "date BETWEEN '2026-01-01' AND '2026-03-31'"

QUERIES = [
    f"""SELECT date, app_id, {METRICS} FROM facts WHERE {DAYS} GROUP BY date, app_id ORDER BY date, app_id""",
    f"""SELECT country, {METRICS} FROM facts WHERE {DAYS} GROUP BY country ORDER BY SUM(revenue) DESC, country""",
    f"""SELECT app_id, demand_source, {METRICS} FROM facts WHERE {DAYS} AND country IN ('DE', 'FR', 'US')
        GROUP BY app_id, demand_source ORDER BY app_id, demand_source""",
    f"""SELECT date, app_id, country, placement_id, {METRICS} FROM facts WHERE {DAYS}
        GROUP BY date, app_id, country, placement_id
        ORDER BY SUM(revenue) DESC, date, app_id, country, placement_id LIMIT 1000""",
]


def load(facts):
    db = duckdb.connect(config={"threads": 1})
    db.execute("CREATE TEMP TABLE texts AS SELECT * FROM read_csv(?, all_varchar = true)", [facts])
    for name in DIMENSIONS:
        # In the order of bytes, so that ENUMs sort like texts in Signpost.
        db.execute(f"CREATE TYPE {name}_enum AS ENUM (SELECT DISTINCT {name} FROM texts ORDER BY {name})")
    columns = ["date::DATE AS date"]
    columns += [f"{name}::{name}_enum AS {name}" for name in DIMENSIONS]
    columns += [f"{name}::INTEGER AS {name}" for name in MEASURES]
    columns += ["(revenue::DECIMAL(18, 6) * 1000000)::BIGINT AS revenue"]
    # Sorted like Signpost's segments: by day, then by the dimensions.
    order = ", ".join(["date", *DIMENSIONS])
    db.execute(f"CREATE TABLE facts AS SELECT {', '.join(columns)} FROM texts ORDER BY {order}")
    db.execute("DROP TABLE texts")
    return db


def run(db, query, file):
    db.execute(f"COPY ({query}) TO '{file}' (FORMAT json, ARRAY true)")


def main():
    facts, file = sys.argv[1:3]
    db = load(facts)
    print("ready", flush=True)
    for line in sys.stdin:
        what, number, *times = line.split()
        query = QUERIES[int(number)]
        if what == "answer":
            run(db, query, file)
            with open(file) as answer:
                print(json.dumps(json.load(answer)), flush=True)
            continue
        took = []
        for _ in range(int(times[0])):
            cpu, clock = time.process_time(), time.perf_counter()
            run(db, query, file)
            took.append([time.process_time() - cpu, time.perf_counter() - clock])
        print(json.dumps(took), flush=True)


if __name__ == "__main__":
    main()
