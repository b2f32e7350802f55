// An operator, as OLM's and OpenShift's are: /debug/pprof/ is on the server
// for probes, and answers 403 unless the client has a certificate of
// --client-ca.  With OPENSHIFT_PROFILE=web there is a second server on 6060
// of the loopback.  Real ports come from PORT_8080, PORT_8443, PORT_6060.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"
)

//go:noinline
func reconcileBundles() (n int) {
	for i := 0; i < 5000000; i++ {
		n += i ^ n
	}
	return n
}

func gate(w http.ResponseWriter, r *http.Request) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	http.DefaultServeMux.ServeHTTP(w, r)
}

func main() {
	cert := flag.String("tls-cert", "", "")
	key := flag.String("tls-key", "", "")
	ca := flag.String("client-ca", "", "")
	flag.String("namespace", "", "")
	flag.Parse()
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/debug/pprof/", gate)
	server := &http.Server{Handler: mux}
	if os.Getenv("OPENSHIFT_PROFILE") == "web" {
		go http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT_6060"), nil)
	}
	if *cert == "" {
		server.Addr = "127.0.0.1:" + os.Getenv("PORT_8080")
		go func() { log.Fatal(server.ListenAndServe()) }()
	} else {
		pool := x509.NewCertPool()
		pem, err := os.ReadFile(*ca)
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			log.Fatal("no client CA")
		}
		server.Addr = "127.0.0.1:" + os.Getenv("PORT_8443")
		server.TLSConfig = &tls.Config{ClientCAs: pool,
			ClientAuth: tls.VerifyClientCertIfGiven}
		go func() { log.Fatal(server.ListenAndServeTLS(*cert, *key)) }()
	}
	for {
		reconcileBundles() // about 5 ms
		time.Sleep(30 * time.Millisecond)
	}
}
