package onnx

// share chooses how many threads an inference has and how many run at once
// for a number of cores; what is given, above 0, stays.
func share(cores, threads, sessions int) (int, int) {
	cores = max(cores, 1)
	if threads <= 0 {
		threads = max(1, min(cores/max(sessions, 1), 4))
	}
	if sessions <= 0 {
		sessions = max(1, cores/threads)
	}
	return threads, sessions
}
