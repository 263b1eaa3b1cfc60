#!/bin/bash
# SPDX-License-Identifier: MIT
# Where the kernel tells `tailor watch --name` of no new process (a user's own namespace of users and processes, as in a container
# without rights), it looks for them each second, says so, and what starts later is in the store.  That the kernel answers others, who
# ask outside of the namespace, is no answer to it.
. tests/live/begin.bash
inside="unshare --user --map-root-user --pid --fork --mount-proc"
as=
if [ "$(id -u)" = 0 ]; then # which is one user more
	nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
	if ! $nobody test -x "$B/tailor" 2>/dev/null; then # in a folder that others may not enter
		chmod 755 "$dir" && mkdir "$dir/bin" && cp "$B"/{tailor,tailor-record,libtailor.so} "$dir/bin/" && B=$dir/bin
	fi
	if $nobody test -x "$B/tailor" 2>/dev/null && $nobody $inside true 2>/dev/null; then
		chown -R 65534:65534 "$dir"
		as=$nobody
	elif ! $inside true 2>/dev/null; then # as in a chroot: root has them all the same
		inside="unshare --pid --fork --mount-proc --propagation unchanged $nobody"
		chown -R 65534:65534 "$dir"
	fi
fi
$as $inside true 2>/dev/null || skip "this machine gives a user no namespaces of his own (unshare --user)"
cat >"$dir/service.c" <<'C'
#include <unistd.h>
int main(void)
{
	volatile unsigned n = 0;

	for (;;)
		n++;
}
C
${CC:-cc} -O1 -o "$dir/tpolled" "$dir/service.c" || exit 1
cat >"$dir/others.c" <<'C'
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void)
{
	struct {
		struct nlmsghdr head;
		char text[64];
	} m = { { .nlmsg_type = NLMSG_DONE, .nlmsg_len = NLMSG_LENGTH(sizeof(struct cn_msg) + sizeof(int)) } };
	struct cn_msg *c = NLMSG_DATA(&m.head);
	int s = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_CONNECTOR);

	c->id = (struct cb_id){ CN_IDX_PROC, CN_VAL_PROC };
	c->len = sizeof(int);
	for (int on = 0;; on = !on, usleep(2000)) {
		*(int *)c->data = on ? PROC_CN_MCAST_IGNORE : PROC_CN_MCAST_LISTEN;
		send(s, &m, m.head.nlmsg_len, 0);
	}
}
C
${CC:-cc} -O1 -o "$dir/others" "$dir/others.c" || exit 1
cat >"$dir/inside.sh" <<'END'
B=$1 dir=$2 patience=$3
"$B/tailor" watch --name '^tpolled$' --epochs 1s --store "$dir/w.tlrs" 2>"$dir/said" &
watch=$!
begin=$SECONDS
until grep -qs 'are looked for' "$dir/said" || [ $((SECONDS - begin)) -gt "$patience" ]; do sleep 0.1; done
"$dir/tpolled" &
service=$!
until "$B/tailor" db report "$dir/w.tlrs" --view processes 2>/dev/null | grep -q tpolled || [ $((SECONDS - begin)) -gt "$patience" ]; do
	sleep 0.5
done
kill $service $watch
wait $watch
END
timeout $((2 * PATIENCE_S)) "$dir/others" &
others=$!
$as $inside bash "$dir/inside.sh" "$B" "$dir" "$PATIENCE_S"
status=$?
kill $others 2>/dev/null
wait $others 2>/dev/null
[ $status = 0 ] || fail "expected tailor watch to end with 0, got $status: $(cat "$dir/said")"
grep -q 'are looked for each second, and the beginning of each is not recorded' "$dir/said" ||
	fail "expected a sentence that new processes are looked for, got: $(cat "$dir/said")"
"$B/tailor" db report "$dir/w.tlrs" --view processes >"$dir/out" 2>&1
grep -q 'tpolled' "$dir/out" || fail "expected tpolled in the store, got: $(cat "$dir/out")"
finish
