package onnx

import (
	"encoding/binary"
	"math"
)

// toHalf rounds v to the nearest IEEE 754 binary16, ties to even.
func toHalf(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | 0x7e00
	case b >= 0x47800000: // 65536 and above
		return sign | 0x7c00
	case b < 0x38800000: // below the smallest normal number: count in 2^-24
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(b))*(1<<24)))
	}
	b += 0xfff + b>>13&1
	return sign | uint16((b-0x38000000)>>13)
}

// castSuffix is added to the name of a float16 output to name its float32 copy.
const castSuffix = "/bgremove.float32"

// addCasts appends to a network, serialised, nodes that copy the named outputs to
// float32 ones. Protobuf defines that a message written twice is merged, so
// the additions are simply a second, partial ModelProto at the end. It is here
// because onnxruntime_go cannot hand over a float16 output of unknown shape.
func addCasts(data []byte, names []string) []byte {
	var graph []byte
	for _, name := range names {
		to := appendBytes(nil, 1, []byte("to"))
		to = appendVarint(to, 3, uint64(float32Elem))
		to = appendVarint(to, 20, 2) // an integer

		node := appendBytes(nil, 1, []byte(name))
		node = appendBytes(node, 2, []byte(name+castSuffix))
		node = appendBytes(node, 3, []byte(name+castSuffix))
		node = appendBytes(node, 4, []byte("Cast"))
		node = appendBytes(node, 5, to)
		graph = appendBytes(graph, 1, node)

		kind := appendBytes(nil, 1, appendVarint(nil, 1, uint64(float32Elem)))
		output := appendBytes(nil, 1, []byte(name+castSuffix))
		output = appendBytes(output, 2, kind)
		graph = appendBytes(graph, 12, output)
	}
	return appendBytes(data[:len(data):len(data)], 7, graph)
}

func appendVarint(b []byte, number int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(number)<<3), v)
}

func appendBytes(b []byte, number int, v []byte) []byte {
	b = binary.AppendUvarint(b, uint64(number)<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}
