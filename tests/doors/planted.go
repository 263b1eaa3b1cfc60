// SPDX-License-Identifier: MIT
// Planted work, 50 : 30 : 20, of which each function does its own.  It ends by SIGTERM.  $PLANTED_CLOCK.PID has what each took by the
// process's clock, in nanoseconds.
package main

import (
	"fmt"
	"os"
	"syscall"
)

//go:noinline
func heavy(x uint32) uint32 {
	for i := 0; i < 5000000; i++ {
		x = x*1664525 + 1013904223
		x ^= x >> 15
	}
	return x
}

//go:noinline
func middle(x uint32) uint32 {
	for i := 0; i < 3000000; i++ {
		x = x*1664525 + 1013904223
		x ^= x >> 15
	}
	return x
}

//go:noinline
func light(x uint32) uint32 {
	for i := 0; i < 2000000; i++ {
		x = x*1664525 + 1013904223
		x ^= x >> 15
	}
	return x
}

func clock() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func main() {
	file, err := os.Create(fmt.Sprintf("%s.%d", os.Getenv("PLANTED_CLOCK"), os.Getpid()))
	if err != nil {
		panic(err)
	}
	var took [3]int64
	x := uint32(1)
	for {
		for i, work := range []func(uint32) uint32{heavy, middle, light} {
			begin := clock()
			x = work(x)
			took[i] += clock() - begin
		}
		file.WriteAt([]byte(fmt.Sprintf("%20d %20d %20d\n", took[0], took[1], took[2])), 0)
	}
}
