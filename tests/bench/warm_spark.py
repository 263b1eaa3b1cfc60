# SPDX-License-Identifier: MIT
"""One statement (filter, project, broadcast join, aggregation, sort) again and again: "warm" is said after five runs, "done" ten runs later.
warm_spark.py ROWS"""
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
spark.range(int(sys.argv[1])).createOrReplaceTempView("t")
spark.range(1000).selectExpr("id j", "id * 2 w").createOrReplaceTempView("d")
STATEMENT = """select id % 50 k, avg(id * 3 + w) v, count(*) n from t join d on id % 1000 = j where not (id % 7 = 3)
    group by id % 50 order by v"""


def runs(nr):
    for _ in range(nr):
        spark.sql(STATEMENT).write.format("noop").mode("overwrite").save()


runs(5)
print("warm", flush=True)
runs(10)
print("done", flush=True)
spark.stop()
