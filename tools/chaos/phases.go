package main

import (
	"fmt"
	"strings"
	"time"
)

// phases are the durations of the parts of a scenario. The zero value is ready
// to use.
type phases struct {
	began time.Time
	text  []string
}

// next ends the current phase under a name; the first call only starts the
// clock.
func (p *phases) next(name string) {
	now := time.Now()
	if !p.began.IsZero() {
		p.text = append(p.text, fmt.Sprintf("%s %.1f s", name, now.Sub(p.began).Seconds()))
	}
	p.began = now
}

func (p *phases) String() string { return strings.Join(p.text, ", ") }
