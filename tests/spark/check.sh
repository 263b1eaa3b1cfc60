#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh BUILD: Spark from PyPI (kept in BUILD/spark), fourteen statements with AQE on and off, and a table of what was found of each.
# SPARK_VERSIONS="4.0.1 3.5.6", SPARK_ROWS=400000, SPARK_AQE="true false" and JAVA_HOME say of what.
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
done
