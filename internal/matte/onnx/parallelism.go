package onnx

import "github.com/bgremove/bgremove/internal/network/model"

const (
	// lightArea is up to how many pixels of input a network is light.
	lightArea = 400 * 400
	// maxSessions bounds the memory that inferences at once take.
	maxSessions = 4
	// maxThreads is about where more threads stop to speed one inference up.
	maxThreads = 8
)

// heavy reports whether threads are to work together on one inference: frames
// have to come one after the other, or several at once take too much memory.
func (k *contract) heavy() bool {
	area := k.width * k.height
	if area == 0 {
		short := k.spec.Input.ShortSide
		if short == 0 {
			short = defaultShortSide
		}
		area = short * short
	}
	return k.spec.Kind == model.Recurrent || k.spec.Output.Stretch || area > lightArea
}

// parallelism chooses how many threads an inference has and how many run at once for
// a number of cores. Given values above 0 stay. Light networks get several
// inferences first: on 2 cores, a 230k-parameter network at 320×320 took 11.6
// ms a frame with two frames at once, 13.2 with two threads on one.
func parallelism(cores, threads, sessions int, heavy bool) (int, int) {
	cores = max(cores, 1)
	if sessions <= 0 && (!heavy || threads > 0) {
		sessions = min(cores/max(threads, 1), maxSessions)
	}
	if threads <= 0 {
		threads = min(cores/max(sessions, 1), maxThreads)
	}
	if sessions <= 0 {
		sessions = min(cores/max(threads, 1), maxSessions)
	}
	return max(threads, 1), max(sessions, 1)
}
