package heif

import (
	"io"
	"math"
)

// structure is the content of the box meta.
type structure struct {
	file       io.ReaderAt
	size       int64 // of the file
	primary    int
	kinds      map[int]string // types of items
	places     map[int]place  // their data
	references references
	properties map[int][]property // of items, in their order
	idat       extent             // the data inside the structure
}

// place is where an item's data are.
type place struct {
	inside  bool // the structure itself; else the file
	extents []extent
}

// references are the items that an item leads to, by type and item. Only types that are
// in the map are read.
type references map[string]map[int][]int

// property is a box that describes an item.
type property struct {
	kind      string
	body      []byte
	essential bool
}

// readMeta reads the structure of a file.
func readMeta(r io.ReaderAt, size int64) (*structure, error) {
	body, at, err := find(r, size, "meta")
	if err != nil {
		return nil, err
	}
	s := &structure{file: r, size: size, kinds: map[int]string{}, places: map[int]place{},
		references: references{"auxl": {}, "dimg": {}, "prem": {}}, properties: map[int][]property{}}
	in := &fields{b: body}
	in.version()
	boxes, err := in.children()
	if err != nil {
		return nil, err
	}
	readers := map[string]func(*fields) error{
		"pitm": s.readPrimary, "iinf": s.readKinds, "iloc": s.readPlaces, "iref": s.readReferences, "iprp": s.readProperties,
	}
	for _, b := range boxes {
		if b.kind == "idat" {
			s.idat = extent{at + int64(b.at), int64(len(b.body))}
		}
		if read := readers[b.kind]; read != nil {
			f := &fields{b: b.body}
			if err := read(f); err != nil {
				return nil, err
			}
			if f.short {
				return nil, damaged("the box " + b.kind + " is too short")
			}
		}
	}
	if s.kinds[s.primary] == "" {
		return nil, damaged("it has no primary picture")
	}
	return s, nil
}

func (s *structure) readPrimary(f *fields) error {
	version, _ := f.version()
	s.primary = f.id(version > 0)
	return nil
}

func (s *structure) readKinds(f *fields) error {
	version, _ := f.version()
	f.id(version > 0) // their number
	boxes, err := f.children()
	for _, b := range boxes {
		in := &fields{b: b.body}
		if version, _ := in.version(); b.kind == "infe" && version >= 2 {
			id := in.id(version > 2)
			in.uint(2) // protection
			s.kinds[id] = string(in.bytes(4))
		}
	}
	return err
}

// maxExtents bounds the parts of a file that an item's data are in, and maxAllExtents
// those of all items.
const (
	maxExtents    = 64
	maxAllExtents = 1 << 16
)

func (s *structure) readPlaces(f *fields) error {
	version, _ := f.version()
	sizes := f.int(2)
	offset, length, base, index := sizes>>12, sizes>>8&15, sizes>>4&15, sizes&15
	if max(offset, length, base, index) > 8 {
		return damaged("a number of more than eight bytes")
	}
	if version == 0 {
		index = 0
	}
	left := maxAllExtents
	for range f.id(version > 1) {
		id, method := f.id(version > 1), 0
		if version > 0 {
			method = f.int(2) & 15
		}
		elsewhere := f.int(2) != 0
		from, count := f.uint(base), f.int(2)
		left -= count
		switch {
		case f.short, count > 1 && offset+length+index == 0:
			return damaged("the places of its data")
		case count > maxExtents, left < 0:
			return damaged("its data are in too many parts")
		}
		p := place{inside: method == 1}
		for range count {
			f.uint(index)
			p.extents = append(p.extents, extent{clamp(from + f.uint(offset)), clamp(f.uint(length))})
			if f.short {
				return nil
			}
		}
		if method <= 1 && !elsewhere {
			s.places[id] = p
		}
	}
	return nil
}

// clamp makes numbers that no file reaches harmless.
func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64/2)) }

func (s *structure) readReferences(f *fields) error {
	version, _ := f.version()
	boxes, err := f.children()
	for _, b := range boxes {
		in := &fields{b: b.body}
		from, known := in.id(version > 0), s.references[b.kind]
		if known == nil {
			continue
		}
		if _, twice := known[from]; twice {
			return damaged("two references of a type from an item")
		}
		seen := map[int]bool{}
		for range in.int(2) {
			to := in.id(version > 0)
			switch {
			case in.short:
				return damaged("a reference is too short")
			case seen[to]:
				return damaged("a reference that names an item twice")
			}
			seen[to], known[from] = true, append(known[from], to)
		}
	}
	return err
}

func (s *structure) readProperties(f *fields) error {
	boxes, err := f.children()
	if err != nil || len(boxes) == 0 || boxes[0].kind != "ipco" {
		return damaged("its properties")
	}
	all, err := (&fields{b: boxes[0].body}).children()
	if err != nil {
		return err
	}
	for _, b := range boxes[1:] {
		if b.kind == "ipma" {
			if err := s.assign(&fields{b: b.body}, all); err != nil {
				return err
			}
		}
	}
	return nil
}

// assign gives properties to items, once to each.
func (s *structure) assign(f *fields, all []child) error {
	version, flags := f.version()
	size := 1 + flags&1
	essential := 1 << (8*size - 1)
	for range f.int(4) {
		id := f.id(version > 0)
		if _, twice := s.properties[id]; twice {
			return damaged("an item that is given properties twice")
		}
		var given []property
		for range f.int(1) {
			n := f.int(size)
			switch index := n &^ essential; {
			case index > len(all):
				return damaged("a property that is not there")
			case index > 0:
				given = append(given, property{all[index-1].kind, all[index-1].body, n&essential != 0})
			}
		}
		if f.short {
			return damaged("its properties")
		}
		s.properties[id] = given
	}
	return nil
}

// property is the content of an item's first property of a type, nil without.
func (s *structure) property(id int, kind string) []byte {
	for _, p := range s.properties[id] {
		if p.kind == kind {
			return p.body
		}
	}
	return nil
}

// linked are the items that an item leads to.
func (s *structure) linked(kind string, from int) []int { return s.references[kind][from] }

// extents are the parts of the file with an item's data.
func (s *structure) extents(id int) ([]extent, error) {
	start, end := int64(0), s.size
	p, ok := s.places[id]
	if p.inside {
		start, end = s.idat.at, s.idat.at+s.idat.length
	}
	if !ok || len(p.extents) == 0 {
		return nil, damaged("a picture without data")
	}
	all := make([]extent, 0, len(p.extents))
	for _, e := range p.extents {
		e.at += start
		if e.length == 0 { // up to the end
			e.length = max(0, end-e.at)
		}
		if e.length == 0 || e.at > end-e.length {
			return nil, incomplete
		}
		all = append(all, e)
	}
	return all, nil
}
