package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

type shape interface{ area() float64 }
type square struct{ side float64 }

func (s square) area() float64 { return s.side * s.side }

//go:noinline
func words(text string) []string {
	found := strings.Fields(text)
	sort.Slice(found, func(i, j int) bool { return found[i] < found[j] })
	return found
}

func main() {
	shapes := []shape{square{2}, square{3}}
	sum := 0.0
	for _, s := range shapes {
		sum += s.area()
	}
	fmt.Fprintln(os.Stdout, words("c b a"), sum)
}
