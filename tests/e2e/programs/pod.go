// A Go service with net/http/pprof, as most pods have it: it works in a
// function whose name the tests look for.  It rests most of the time: several
// such pods run beside everything that is tested.
//
// usage: pod ADDRESS [compress|contend]
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"sync"
	"time"
)

var kept [][]byte

// About 5 ms.
const rounds = 5000000

//go:noinline
func parseRequests() (n int) {
	for i := 0; i < rounds; i++ {
		n += i ^ n
	}
	return n
}

//go:noinline
func compressReplies() (n int) {
	for i := 0; i < rounds; i++ {
		n += i*n + 1
	}
	return n
}

//go:noinline
func keepSessions() {
	for i := 0; i < 64; i++ {
		kept = append(kept, make([]byte, 1<<20))
	}
}

// Two goroutines want the same lock nearly all the time.
func contend() {
	var lock sync.Mutex

	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	for i := 0; i < 2; i++ {
		go func() {
			for {
				holdStore(&lock)
			}
		}()
	}
}

//go:noinline
func holdStore(lock *sync.Mutex) {
	lock.Lock()
	time.Sleep(10 * time.Millisecond)
	lock.Unlock()
}

func main() {
	work := parseRequests
	if len(os.Args) > 2 && os.Args[2] == "contend" {
		contend()
	}
	if len(os.Args) > 2 && os.Args[2] == "compress" {
		work = compressReplies
	}
	keepSessions()
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go http.Serve(listener, nil)
	for {
		work()
		time.Sleep(30 * time.Millisecond)
	}
}
