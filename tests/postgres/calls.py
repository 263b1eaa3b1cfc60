# SPDX-License-Identifier: MIT
"""Statements that call others, and what a report has to say of them: functions, triggers, foreign keys, utility statements, and
partitions that parallel workers read.

SETUP makes tables and functions; record() executes the statements until a time is over; faults() reads the report of a trace.
"""
import json
import subprocess
import time

LOOP = "for i in 1..{} * n loop s := (s * 31 + i) % 1000003; end loop;"
SETUP = f"""
create function work_c(n int) returns bigint language plpgsql as
  $$ declare s bigint := 0; begin {LOOP.format(4)} return s; end $$;
create function work_b(n int) returns bigint language plpgsql as
  $$ declare s bigint := 0; begin {LOOP.format(2)} return s + work_c(n); end $$;
create function work_a(n int) returns bigint language plpgsql as
  $$ declare s bigint := 0; begin {LOOP.format(1)} return s + work_b(n); end $$;
create procedure work_p(n int) language plpgsql as $$ begin perform work_a(n); end $$;
create table head (id int primary key);
create table line (id int primary key, head_id int references head(id) on delete cascade, v int);
create function count_up() returns trigger language plpgsql as
  $$ declare s bigint := 0; begin for i in 1..5000 loop s := s + i * 7 % 13; end loop; return old; end $$;
create trigger before_delete before delete on head for each row execute function count_up();
insert into head select i from generate_series(1, 1000) i;
insert into line select i, i % 1000 + 1, i from generate_series(1, 60000) i;
create function read_lines(h int) returns bigint language plpgsql as
  $$ declare s bigint := 0; r record; begin for r in select v from line where head_id = h loop s := s + r.v; end loop; return s; end $$;
create table ev (day int, t text) partition by range (day);
create table ev_small partition of ev for values from (0) to (10);
create table ev_big partition of ev for values from (10) to (20);
alter table ev_small set (parallel_workers = 0);
insert into ev select 5 + i % 2 * 10, 'row ' || i from generate_series(1, 6000) i;
analyze;
"""
PARALLEL = ("set max_parallel_workers_per_gather = 2;\nset parallel_setup_cost = 0;\nset parallel_tuple_cost = 0;\n"
            "set min_parallel_table_scan_size = 0;\n")
STATEMENTS = ["select work_a(60000);", "call work_p(60000);", "select read_lines(7);",
              "begin;\ndelete from head where id % 100 = 7;\nrollback;",
              "create index line_v on line (v, id);\ndrop index line_v;",
              PARALLEL + "select count(*) from ev where md5(t) > 'c';\nreset all;",
              # from the sixth execution on, the plan is generic, and reads all partitions
              PARALLEL + "prepare one(int) as select count(*) from ev where day = $1 and md5(t) > 'd';\n" +
              "".join(f"execute one({d});\n" for d in (5, 15, 5, 15, 5, 15, 5)) + "deallocate one;\nreset all;"]


def record(session, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for s in STATEMENTS:
            session.run(s)


def tables(tailor, trace):
    said = subprocess.run([tailor, "report", "--view", "queries", "--view", "plan", "--json", "--mark", "all", "--top", "0", trace],
                          capture_output=True, text=True, check=True)
    return json.loads(said.stdout)["tables"]


def query(t, begin):
    """The row of the query whose text begins so, or an empty one."""
    rows = [r for r in t["queries"] if r["query"].startswith(begin)]
    return max(rows, key=lambda r: r["total"] or 0, default={"share": 0, "total": 0, "mean_ns": None, "samples": 0})


def rows(t, begin):
    return [r for r in t["plan"] if (r["query"] or "").startswith(begin)]


def samples(t):
    """Samples of the chain of functions, which the claims need."""
    return sum(r["samples"] or 0 for r in rows(t, "select work_a"))


def chain_faults(t, begin, above):
    """a, b and c do 1 : 2 : 4 of the work, each below the one that calls it."""
    found = {r["name"].split("(")[0].split()[-1]: r for r in rows(t, begin) if r["name"].startswith("Function work_")}
    if not {"work_a", "work_b", "work_c"} <= set(found):
        return [f"{begin}: expected work_a, work_b and work_c in its plan, got {[r['name'] for r in rows(t, begin)]}"]
    faults, own = [], [found[f"work_{x}"]["samples"] for x in "abc"]
    for x, part in zip("abc", (1 / 7, 2 / 7, 4 / 7)):
        share = found[f"work_{x}"]["samples"] / sum(own)
        if not 0.6 * part < share < 1.6 * part:
            faults.append(f"{begin}: expected work_a : work_b : work_c as 1 : 2 : 4, got {own}")
    for lower, upper in (("b", "a"), ("c", "b")):
        if found[f"work_{lower}"]["parent"] != found[f"work_{upper}"]["id"]:
            faults.append(f"{begin}: work_{lower} is not below work_{upper}")
    if found["work_a"]["depth"] != above or found["work_a"]["total"] < 0.8:
        faults.append(f"{begin}: expected work_a at depth {above} with nearly all of the time, got {found['work_a']}")
    return faults


def partition_faults(t):
    """A partition has one scan, with the leader's names, whichever process reads it; a prepared statement has one row."""
    faults = []
    names = [r["name"].split("#")[0] for r in rows(t, "select count(*) from ev") if "Scan on ev_" in r["name"]]
    if len(names) != 2 or len(set(names)) != 2:
        faults.append(f"select count(*) from ev: expected a scan of each partition, got {names}")
    prepared = [r["query"] for r in t["queries"] if r["query"].startswith("prepare one")]
    if len(prepared) != 1:
        faults.append(f"expected one row of the prepared statement, got {prepared}")
    return faults


def faults(t):
    f = chain_faults(t, "select work_a", 1)
    names = [r["name"] for r in rows(t, "call work_p")]
    if not any(n.startswith("Function work_p") for n in names) or not any(n.startswith("query: SELECT work_a") for n in names):
        f.append(f"call work_p: expected the procedure and the query in it, got {names}")
    for begin in ("call work_p", "delete from head", "select read_lines"):
        q = query(t, begin)
        if not q["total"] or q["total"] < 2 * q["share"]:
            f.append(f"{begin}: expected a total far above its own share, got {q['share']:.4f} and {q['total']:.4f}")
    names = [r["name"] for r in rows(t, "delete from head")]
    if not any(n.startswith("query: DELETE FROM ONLY") for n in names) or "Trigger count_up()" not in names:
        f.append(f"delete from head: expected the trigger and the foreign key's query in its plan, got {names}")
    if query(t, "create index line_v")["samples"] < 10 or "(index build)" not in [r["name"] for r in rows(t, "create index line_v")]:
        f.append(f"expected samples in the statement `create index`, got {query(t, 'create index line_v')}")
    f += partition_faults(t)
    for q in t["queries"]:
        if q["mean_ns"] is not None and q["mean_ns"] < 1000:
            f.append(f"{q['query']}: an execution of {q['mean_ns']} ns")
    return f
