package subject

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"

	"github.com/bgremove/bgremove/internal/records"
)

// trail is what previews have followed in a shot, and of which hints.
type trail struct {
	root  int // where it begins
	drops bool
	hints map[int][]Hint // by frame
	// out and back have the records of the states of frames: on the way from the root, and on that
	// back from the next frame with hints.
	out, back map[int]int
}

const (
	// trailsMost is for how many sets of hints a shot has trails: those that were asked for last.
	trailsMost = 3
	// With statesMost states or more for each frame of the clip, a call begins with none. The trails of
	// two sets of hints need three at most: two pages may show the clip.
	statesMost = 4
)

// makeRoom makes room for states.
func (c *Clip) makeRoom() (err error) {
	if c.states != nil && c.states.Len() >= statesMost*c.frames.Len() {
		if err := c.dropStates(); err != nil {
			return err
		}
	}
	if c.states == nil {
		c.states, err = records.Create(c.tempDir)
		c.trails = map[*shot][]*trail{}
	}
	return err
}

// dropStates gives all trails up.
func (c *Clip) dropStates() error {
	old := c.states
	c.states, c.trails = nil, nil
	return old.Close()
}

// trail is that of a shot for the hints in its frames that are marked.
func (f *follower) trail(s *shot, marked []int, root int) *trail {
	t := &trail{root: root, drops: f.drops, hints: map[int][]Hint{}, out: map[int]int{}, back: map[int]int{}}
	for _, i := range marked {
		t.hints[i] = f.hints[i]
	}
	kept := f.clip.trails[s]
	if n := slices.IndexFunc(kept, t.same); n >= 0 {
		t = kept[n]
		kept = slices.Delete(kept, n, n+1)
	} else {
		for _, other := range kept {
			t.take(other)
		}
		kept = kept[max(len(kept)+1-trailsMost, 0):]
	}
	f.clip.trails[s] = append(kept, t)
	return t
}

// same reports whether another trail is of the same hints.
func (t *trail) same(other *trail) bool {
	return t.root == other.root && t.drops == other.drops && reflect.DeepEqual(t.hints, other.hints)
}

// take takes from a trail of other hints what the same hints led to.
func (t *trail) take(other *trail) {
	if t.root != other.root || t.drops != other.drops {
		return
	}
	first, last := math.MinInt, math.MaxInt // the frames with other hints that are next to the root
	for _, hints := range []map[int][]Hint{t.hints, other.hints} {
		for i := range hints {
			switch {
			case reflect.DeepEqual(t.hints[i], other.hints[i]):
			case i == t.root:
				return
			case i < t.root:
				first = max(first, i)
			default:
				last = min(last, i)
			}
		}
	}
	for i, record := range other.out {
		if first < i && i < last {
			t.out[i] = record
		}
	}
}

// scalars are the parts of a state that are not of pixels.
type scalars struct {
	Covered, Chosen, Seen bool // Seen: its sight has planes
	Size                  float32
	Hidden                int32
}

// writeState keeps a state, and returns the record's number. The way of its sight is left out, as the
// next frame sets it anew.
func (c *Clip) writeState(st *state) (int, error) {
	all := scalars{st.covered, st.chosen, st.sight.thing != nil, st.sight.size, int32(st.sight.hidden)}
	head, err := binary.Append(nil, binary.LittleEndian, all)
	if err != nil {
		return 0, err
	}
	parts := [][]byte{head, st.matte}
	for _, plane := range [][]float32{st.keep, st.drop, st.sight.thing, st.sight.others} {
		part, err := binary.Append(nil, binary.LittleEndian, plane)
		if err != nil {
			return 0, err
		}
		parts = append(parts, part)
	}
	return c.states.Len(), c.states.Append(parts...)
}

// readState is the state of frame i in a record.
func (c *Clip) readState(record, i int) (*state, error) {
	links, err := c.links(i)
	if err != nil {
		return nil, err
	}
	var all scalars
	head := make([]byte, binary.Size(all))
	if err := c.states.Read(record, head); err != nil {
		return nil, err
	}
	if _, err := binary.Decode(head, binary.LittleEndian, &all); err != nil {
		return nil, err
	}
	n := c.marker().w * c.marker().h
	st := &state{marks: newMarks(n), matte: make([]uint8, n), links: links, covered: all.Covered, chosen: all.Chosen}
	st.sight = sight{size: all.Size, hidden: int(all.Hidden)}
	planes := [][]float32{st.keep, st.drop}
	if all.Seen {
		st.sight.thing, st.sight.others = make([]float32, n), make([]float32, n)
		planes = append(planes, st.sight.thing, st.sight.others)
	}
	parts := [][]byte{head, st.matte}
	for range planes {
		parts = append(parts, make([]byte, binary.Size(st.keep)))
	}
	if err := c.states.Read(record, parts...); err != nil {
		return nil, err
	}
	for k, plane := range planes {
		if _, err := binary.Decode(parts[2+k], binary.LittleEndian, plane); err != nil {
			return nil, err
		}
	}
	return st, nil
}
