// SPDX-License-Identifier: MIT
// Planted work, 50 : 30 : 20, in methods: planted SECONDS
package main

import (
	"os"
	"sort"
	"strconv"
	"time"
)

type store struct {
	items []string
	sum   int
}

func (s *store) work(units int) {
	for i := 0; i < units; i++ {
		keys := make([]string, 0, 200)
		for k := 0; k < 200; k++ {
			keys = append(keys, strconv.Itoa(k*7919%200))
		}
		sort.Strings(keys)
		s.sum += len(keys)
	}
}

//go:noinline
func (s *store) search() { s.work(50) }

//go:noinline
func (s *store) list() { s.work(30) }

//go:noinline
func (s *store) detail() { s.work(20) }

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	s := &store{}
	for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); {
		s.search()
		s.list()
		s.detail()
	}
}
