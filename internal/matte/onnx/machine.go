package onnx

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/cpu"
)

// Reasons why a machine cannot run a network.
var (
	// ErrProcessor says that ONNX Runtime's builds cannot run here.
	ErrProcessor = errors.New("this processor has no AVX, which ONNX Runtime needs")
	// ErrMemory says that a network does not fit the memory that is free.
	ErrMemory = errors.New("too little memory for this network")
)

// machine is what this computer has.
type machine struct {
	avx       bool
	available func() (bytes int64, known bool) // memory
}

func thisMachine() machine {
	return machine{avx: runtime.GOARCH != "amd64" || cpu.X86.HasAVX, available: availableMemory}
}

// copies is the least number of a network's copies in memory while its session
// is created: the file as read, and the weights as used.
const copies = 2

// canRun reports whether the runtime can be loaded. Its constructors use AVX,
// so loading it on other processors would end the process.
func (m machine) canRun() error {
	if !m.avx {
		return ErrProcessor
	}
	return nil
}

// canHold reports whether a network in a file of size bytes can be loaded,
// before the system kills the process for it.
func (m machine) canHold(size int64) error {
	if have, known := m.available(); known && have < copies*size {
		return fmt.Errorf("%w: it takes at least %s, %s are free", ErrMemory, humanize.Bytes(uint64(copies*size)), humanize.Bytes(uint64(have)))
	}
	return nil
}
