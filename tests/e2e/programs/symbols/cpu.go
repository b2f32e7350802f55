package main

import (
	"os"
	"runtime/pprof"
	"sort"
	"strings"
)

//go:noinline
func words(n int) int {
	text := strings.Repeat("b a c ", n)
	found := strings.Fields(text)
	sort.Strings(found)
	return len(found)
}

//go:noinline
func sum(n int) int {
	total := 0
	for i := 0; i < n; i++ {
		total += i * total
		total ^= i
	}
	return total
}

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	pprof.StartCPUProfile(f)
	all := 0
	for i := 0; i < 1000; i++ {
		all += words(2000) + sum(300000)
	}
	pprof.StopCPUProfile()
	f.Close()
	os.Exit(all & 0)
}
