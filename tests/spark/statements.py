# SPDX-License-Identifier: MIT
"""Nineteen statements over generated data and Parquet, each under its own name, as Spark's users write them.
statements.py FOLDER ROWS AQE(true|false)"""
import sys

from pyspark.sql import SparkSession, functions as f
from pyspark.sql.types import LongType

folder, rows, aqe = sys.argv[1], int(sys.argv[2]), sys.argv[3]
spark = (
    SparkSession.builder.master(sys.argv[4] if len(sys.argv) > 4 else "local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "4")
    .config("spark.sql.adaptive.enabled", aqe)
    .config("spark.python.use.daemon", "true")
    .config("spark.sql.codegen.cache.maxEntries", "1000")  # 100 texts are fewer than these statements have
    .config("spark.sql.parquet.compression.codec", "zstd")  # Snappy takes a machine that also has musl for one of musl's
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def run(name, frame, hints=()):
    for key, value in hints:
        spark.conf.set(key, value)
    spark.sparkContext.setJobDescription(name)
    frame().write.format("noop").mode("overwrite").save()
    spark.sparkContext.setJobDescription(None)
    for key, _ in hints:
        spark.conf.unset(key)


run("make tables", lambda: spark.range(1))
lines = f"{folder}/lines.parquet"
orders = f"{folder}/orders.parquet"
spark.range(rows).selectExpr(
    "id as l_id", "id % 100003 as l_order", "cast(rand(7) * 50 as int) as l_quantity", "rand(8) * 1000 as l_price", "concat('p', id % 97) as l_part"
).write.mode("overwrite").parquet(lines)
spark.range(100003).selectExpr("id as o_order", "id % 25 as o_nation", "concat('c', id % 1009) as o_customer").write.mode("overwrite").parquet(orders)
spark.read.parquet(lines).createOrReplaceTempView("l")
spark.read.parquet(orders).createOrReplaceTempView("o")
no_broadcast = (("spark.sql.autoBroadcastJoinThreshold", "-1"), ("spark.sql.adaptive.autoBroadcastJoinThreshold", "-1"))
plus_one = f.udf(lambda x: x * 3 + 1, LongType())

run("scan filter project", lambda: spark.sql("select l_id * 3 + l_quantity x, sha2(l_part, 256) s from l where l_quantity > 10 and l_price < 900"))
run("broadcast join", lambda: spark.sql("select /*+ broadcast(o) */ l_id, o_customer from l join o on l_order = o_order"))
run("shuffled hash join", lambda: spark.sql("select /*+ shuffle_hash(o) */ l_id, o_customer from l join o on l_order = o_order"), no_broadcast)
run("sort-merge join", lambda: spark.sql("select /*+ merge(o) */ l_id, o_customer from l join o on l_order = o_order"), no_broadcast)
run("hash aggregate", lambda: spark.sql("select l_order, sum(l_price), count(*) from l group by l_order"))
run("sort aggregate", lambda: spark.sql("select l_part, max(l_part || l_id), min(struct(l_price, l_id)) from l group by l_part"),
    (("spark.sql.execution.useObjectHashAggregateExec", "false"),))
run("window", lambda: spark.sql("select l_id, rank() over (partition by l_order order by l_price) r from l"))
run("expand", lambda: spark.sql("select l_quantity, l_part, sum(l_price) from l group by cube(l_quantity, l_part)"))
run("generate", lambda: spark.sql("select l_id, explode(sequence(1, l_quantity % 5 + 1)) e from l"))
run("sort union", lambda: spark.sql("select * from (select l_id, l_price from l union all select -l_id, l_price from l) order by l_price"))
run("subquery", lambda: spark.sql("select l_id from l where l_price > (select avg(l_price) from l) and l_order in (select o_order from o where o_nation < 5)"))
run("Python function", lambda: spark.read.parquet(lines).limit(rows // 10).select(plus_one("l_id").alias("u")))


spark.range(1000).selectExpr("id as a_id", "id * 2 as a_two").createOrReplaceTempView("a")
spark.range(500).selectExpr("id as b_id", "id * 3 as b_three").createOrReplaceTempView("b")
run("two broadcast joins", lambda: spark.sql(
    f"select /*+ broadcast(a), broadcast(b) */ id, a_two, b_three from range({rows * 4}) join a on id % 1000 = a_id join b on a_two % 1000 = b_id"))


def sha2(text, rounds):
    for _ in range(rounds):
        text = f"sha2(rpad({text}, 1000, 'x'), 256)"
    return text


# Long texts, so that a round takes as long in each of the three, however well its machine code is made.  The filter keeps all; the project's
# value is used twice, so that Spark does not fold it into the aggregation.
planted = {"f": sha2("concat('f', id)", 4), "p": sha2("concat('p', id)", 12), "a": sha2("p", 24), "rows": rows // 32}
for name in ("planted, the first time", "planted 1:3:6"):
    run(name, lambda: spark.sql("select sum(length({a})), count(p) from (select {p} p from range({rows}) where {f} > '')".format(**planted)))

# The filter keeps no row, so that ten times its rows are nobody else's.
rounds = {"a": sha2("x", 2), "p": sha2("concat('p', id)", 3), "f": sha2("concat('f', id)", 1), "rows": rows // 32}
for name, times in (("rows, the first time", 1), ("rows x 1", 1), ("rows x 10", 10)):
    run(name, lambda: spark.sql(
        "select sum(length({a})), count(x) from (select {p} x from range({rows}) union all"
        " select cast(id as string) x from range({more}) where {f} = '')".format(more=rounds["rows"] * times, **rounds)))
spark.stop()
