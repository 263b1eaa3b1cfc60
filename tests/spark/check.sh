#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh BUILD: Spark from PyPI (kept in BUILD/spark), nineteen statements with AQE on and off, and in a standalone cluster of two workers
# that are attached to; and a table of what was found of each.
# SPARK_VERSIONS="4.0.1 3.5.6", SPARK_ROWS=400000, SPARK_AQE="true false", SPARK_CLUSTER= (empty: without it) and JAVA_HOME say of what.
set -eu
B=$(realpath "${1:-build}") here=$(dirname "$(realpath "$0")")
mkdir -p "$B/spark"
cd "$B/spark"

get() { # VERSION: its folder
	[ -d "pyspark-$1/deps/jars" ] && return
	[ -e "dl/pyspark-$1.tar.gz" ] || curl_by_pip "$1"
	tar xzf "dl/pyspark-$1.tar.gz"
}
curl_by_pip() {
	[ -d venv ] || { python3 -m venv venv && venv/bin/pip install -q wheel setuptools; }
	venv/bin/pip download -q "pyspark==$1" --no-deps --no-build-isolation -d dl
}

# Two workers that are attached to, and the statements submitted to them.
cluster() { # VERSION TRACE
	rm -rf "$2" "$2.spark" data work-0 work-1
	mkdir -p "$2.spark" work-0 work-1
	export SPARK_DAEMON_MEMORY=256m SPARK_NO_DAEMONIZE=1
	"$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.master.Master --host 127.0.0.1 --port 0 --webui-port 0 >master.log 2>&1 &
	daemons=($!)
	until url=$(grep -o 'spark://127.0.0.1:[0-9]*' master.log | head -1) && [ -n "$url" ]; do
		kill -0 "${daemons[0]}" || { cat master.log; return 1; }
		sleep 0.2
	done
	for i in 0 1; do
		"$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.worker.Worker -c 1 -m 1200m -d "$PWD/work-$i" --webui-port 0 "$url" \
			>"worker-$i.log" 2>&1 &
		daemons+=($!)
	done
	until [ "$(cat worker-?.log | grep -c 'Successfully registered with master')" = 2 ]; do
		kill -0 "${daemons[1]}" "${daemons[2]}" || { cat worker-?.log; return 1; }
		sleep 0.2
	done
	"$B/tailor" attach -q --follow -o "$2" "${daemons[1]},${daemons[2]}" 2>attach.log &
	daemons+=($!)
	"$SPARK_HOME/bin/spark-submit" --master "$url" --conf spark.executor.memory=1g --conf spark.executor.cores=1 \
		--conf spark.eventLog.enabled=true --conf spark.eventLog.compress=false --conf "spark.eventLog.dir=$PWD/$2.spark" \
		"$here/statements.py" "$PWD/data" "${SPARK_ROWS:-400000}" true "$url" >submit.log 2>&1 || { tail -20 submit.log; return 1; }
	kill -INT "${daemons[3]}"
	wait "${daemons[3]}" || { cat attach.log; return 1; }
	kill "${daemons[@]:0:3}"
	wait "${daemons[@]:0:3}" || true # (of signals)
	"$B/tailor" plan --spark "$2.spark" "$2"
}

for version in ${SPARK_VERSIONS:-4.0.1}; do
	get "$version"
	export SPARK_HOME=$PWD/pyspark-$version/deps SPARK_DRIVER_MEMORY=1g
	PYTHONPATH=$PWD/pyspark-$version:$(echo "$PWD/pyspark-$version/lib/"py4j-*-src.zip)
	export PYTHONPATH
	for aqe in ${SPARK_AQE:-true false}; do
		trace=$version-aqe-$aqe.tlr
		rm -rf "$trace" "$trace.spark" data
		"$B/tailor" run --spark -q -o "$trace" -- \
			python3 "$here/statements.py" "$PWD/data" "${SPARK_ROWS:-400000}" $aqe 2>"$trace.log" || {
			tail -20 "$trace.log"
			exit 1
		}
		echo "Spark $version, AQE $aqe"
		python3 "$here/table.py" "$B/tailor" "$trace" "$trace.spark"
	done
	[ -n "${SPARK_CLUSTER-yes}" ] || continue
	echo "Spark $version, a standalone cluster of two workers"
	cluster "$version" "$version-cluster.tlr"
	python3 "$here/table.py" "$B/tailor" "$version-cluster.tlr" "$version-cluster.tlr.spark"
done
