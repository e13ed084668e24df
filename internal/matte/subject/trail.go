package subject

import (
	"encoding/binary"
	"maps"
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

// statesMost is from how many states on, for each frame of the clip, a call begins with none.
const statesMost = 2

// makeRoom makes room for states.
func (c *Clip) makeRoom() (err error) {
	if c.states != nil && c.states.Len() >= statesMost*c.frames.Len() {
		if err := c.dropStates(); err != nil {
			return err
		}
	}
	if c.states == nil {
		c.states, err = records.Create(c.tempDir)
		c.trails = map[*shot]*trail{}
	}
	return err
}

// dropStates gives all trails up.
func (c *Clip) dropStates() error {
	old := c.states
	c.states, c.trails = nil, nil
	return old.Close()
}

// trail is that of a shot. What other hints have led to is forgotten.
func (f *follower) trail(s *shot, root int) *trail {
	now := map[int][]Hint{}
	for _, i := range f.within(s) {
		now[i] = f.hints[i]
	}
	t := f.clip.trails[s]
	if t == nil || t.root != root || t.drops != f.drops || !reflect.DeepEqual(t.hints[root], now[root]) {
		t = &trail{root: root, drops: f.drops, out: map[int]int{}, back: map[int]int{}}
		f.clip.trails[s] = t
	}
	t.forget(now)
	t.hints = now
	return t
}

// forget drops the states of which hints on the way are not those of now.
func (t *trail) forget(now map[int][]Hint) {
	var changed []int
	for i := range t.hints {
		if !reflect.DeepEqual(t.hints[i], now[i]) {
			changed = append(changed, i)
		}
	}
	for i := range now {
		if _, was := t.hints[i]; !was {
			changed = append(changed, i)
		}
	}
	if len(changed) == 0 {
		return
	}
	clear(t.back)
	maps.DeleteFunc(t.out, func(i, _ int) bool {
		return slices.ContainsFunc(changed, func(at int) bool { return t.root < at && at <= i || i <= at && at < t.root })
	})
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
	parts := [][]byte{head, st.found}
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
	st := &state{marks: newMarks(n), found: make([]uint8, n), links: links, covered: all.Covered, chosen: all.Chosen}
	st.sight = sight{size: all.Size, hidden: int(all.Hidden)}
	planes := [][]float32{st.keep, st.drop}
	if all.Seen {
		st.sight.thing, st.sight.others = make([]float32, n), make([]float32, n)
		planes = append(planes, st.sight.thing, st.sight.others)
	}
	parts := [][]byte{head, st.found}
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
