# SPDX-License-Identifier: MIT
"""spark_host.py SECONDS ROUNDS_FILE: queries of Spark as pip has it."""
import sys
import time

from pyspark.sql import SparkSession

spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4")
         .getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
end = time.monotonic() + float(sys.argv[-2])
rounds = 0
while rounds == 0 or time.monotonic() < end:
    result = spark.sql("select g, sum(v) s from (select id % 997 g, id * 7 % 1000 v from range(20000000)) where v % 3 < 2 "
                       "group by g order by s desc limit 3").collect()
    rounds += 1
print("result", result[0])
with open(sys.argv[-1], "w") as f:
    f.write(f"{rounds}\n")
