#!/bin/bash
# SPDX-License-Identifier: MIT
# A path that comes from another process, from a file or from a user is opened by regular_file_open() only: what lies there may be a device,
# which to open does something, or a FIFO, which waits.  Here stand the files that open others, each with what it opens.
set -u
opens='agent/recorder/engines/postgres_title.c   /proc
agent/recorder/hotspot/hotspot.c          folders, which are not read, and a file that must not be there before
agent/recorder/images/kallsyms.c          /proc
agent/recorder/images/kernel_names.c      /proc
agent/recorder/import/import.c            recordings of perf, which may come through a pipe; not waited for
agent/recorder/inject/inject.c            /proc
agent/recorder/jit_files/jit_files.c      a folder, which is not read
agent/recorder/perf/event_name.c          /sys
agent/recorder/perf/event_pmu.c           /sys
agent/recorder/process/attach_target.c    /proc
agent/recorder/process/proc_file.c        /proc
agent/recorder/recording/processes.c      /proc
agent/recorder/recording/resources.c      /proc, /sys
analyzer/overhead/figures.c               a trace in its own temporary folder
analyzer/overhead/measure.c               messages in its own temporary folder
jitreg/base/file_changes.c                what outputs create
jitreg/base/kernel_file.h                 /proc, /sys
jitreg/base/lock_holder.c                 /proc
jitreg/base/own_file.h                    files beside a store, whose owner is asked of the descriptor; not waited for
jitreg/confine/landlock.c                 paths of rules, which are not read
jitreg/confine/steward_acts.c             a file that must not be there before; what a process maps, by /proc
jitreg/output/output_file.c                 the folder of what is written
jitreg/output/output_name.c                 what is written
jitreg/output/output_place.c                FIFOs and devices to write to; a file whose kind was asked before, not waited for
jitreg/base/regular_file.h                the door itself
jitreg/trace/reader.c                     traces, which may come through a pipe; not waited for
jitreg/trace/writer.c                     a trace that was written a moment ago, to be continued
analyzer/store/store.c                    a store, whose kind was asked before; not waited for'
git() { command git -c safe.directory='*' "$@"; } # also in a checkout of another user's
git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { echo "skipped, because this is not git's checkout, or git is missing"; exit 77; }
# Calls, outside of comments, whose path is no literal of the kernel's folders.
found=$(git grep -nE '\b(f?open(at)?(64)?|freopen)\(' -- 'agent/*.[ch]' 'analyzer/*.[ch]' 'jitreg/*.[ch]' 'shim/*.[ch]' |
	grep -vE '^[^:]*:[0-9]+:[[:space:]]*(\*|//)|"/(proc|sys|dev)/|NEXT\(')
bad=0
while IFS=: read -r file line text; do
	grep -q "^$file " <<<"$opens" || { echo "$file:$line: not by regular_file_open(): $text"; bad=1; }
done <<<"$found"
while read -r file what; do
	grep -q "^$file:" <<<"$found" || { echo "$file opens nothing by itself any more ($what): take it off the list"; bad=1; }
done <<<"$opens"
exit $bad
