package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/bgremove/bgremove/internal/system/infile"
)

// maxSpec bounds the size of a Spec as JSON in bytes.
const maxSpec = 64 << 10

// Validate reports whether a Spec can be used; the error joins all problems,
// each with its key.
func (s *Spec) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	in := &s.Input
	check(s.Kind == "" || s.Kind == PerFrame || s.Kind == Recurrent, "kind must be frame or recurrent, not %q", s.Kind)
	check(in.Layout == "" || in.Layout == "nchw" || in.Layout == "nhwc", "input.layout must be nchw or nhwc, not %q", in.Layout)
	for _, side := range []struct {
		name  string
		value int
	}{{"width", in.Width}, {"height", in.Height}, {"shortSide", in.ShortSide}, {"multiple", in.Multiple}} {
		check(side.value >= 0 && side.value <= 8192, "input.%s must be between 0 and 8192", side.name)
	}
	check((in.Width == 0) == (in.Height == 0), "input.width and input.height go together")
	for i := range 3 {
		check(finite(in.Mean[i]), "input.mean must be finite")
		check(finite(in.Std[i]) && in.Std[i] >= 0, "input.std must not be negative")
	}
	check(s.Output.Channel >= 0 && s.Output.Channel < 4096, "output.channel must be between 0 and 4095")
	check(s.Colours >= 0 && s.Colours <= 1, "colours must be between 0 and 1")
	check(!s.Closer || s.Kind != Recurrent && !s.Output.Stretch, "closer is for networks of single frames whose output is not stretched")
	check(!s.Plate || s.Kind != Recurrent && !s.Output.Stretch, "plate is for networks of single frames whose output is not stretched")
	if s.Kind == Recurrent {
		check(s.Colours == 0, "colours are not for recurrent networks, which remember")
		check(in.Layout != "nhwc", "input.layout of recurrent networks must be nchw")
	}
	return errors.Join(errs...)
}

func finite(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

// readSidecar reads the Spec beside a network, or returns the zero Spec if
// there is none.
func readSidecar(path string) (Spec, error) {
	f, err := infile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Spec{}, nil
	}
	if err != nil {
		return Spec{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSpec+1))
	if err != nil {
		return Spec{}, &SidecarError{path, err}
	}
	s, err := ParseSpec(data)
	if err != nil {
		return Spec{}, &SidecarError{path, err}
	}
	return s, nil
}

// ParseSpec reads a Spec from JSON that holds nothing else: a sidecar, or a network's metadata.
func ParseSpec(data []byte) (Spec, error) {
	var s Spec
	if len(data) > maxSpec {
		return s, fmt.Errorf("over %d bytes", maxSpec)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Spec{}, fmt.Errorf("read the specification: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Spec{}, errors.New("there is more after the JSON object")
	}
	if err := s.Validate(); err != nil {
		return Spec{}, err
	}
	return s, nil
}
