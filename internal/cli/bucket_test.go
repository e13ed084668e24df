package cli_test

import (
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bgremove/bgremove/internal/bucket/buckettest"
)

// buckets are the servers of scripts.
var buckets sync.Map

// startBucket starts a server with the empty bucket "clips", whose options are then in
// $OPTIONS. Requests with the methods that are named get no permission.
func startBucket(ts *testscript.TestScript, _ bool, methods []string) {
	s, err := buckettest.Start(methods...)
	ts.Check(err)
	ts.Defer(s.Close)
	buckets.Store(ts, s)
	ts.Setenv("OPTIONS", s.Options())
}

func serverOf(ts *testscript.TestScript) *buckettest.Server {
	s, ok := buckets.Load(ts)
	if !ok {
		ts.Fatalf("bucket comes first")
	}
	return s.(*buckettest.Server)
}

// putObject KEY FILE stores a file in the bucket.
func putObject(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(serverOf(ts).Put(args[0], ts.ReadFile(args[1])))
}

// wantObjects KEY… fails unless these are the objects below out/, in their order. None of
// them is empty.
func wantObjects(ts *testscript.TestScript, _ bool, want []string) {
	all, err := serverOf(ts).Objects()
	ts.Check(err)
	keys, err := serverOf(ts).Keys()
	ts.Check(err)
	var got []string
	for _, key := range keys {
		if name, below := strings.CutPrefix(key, "out/"); below && all[key] != "" {
			got = append(got, name)
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		ts.Fatalf("the objects are %v", got)
	}
}
