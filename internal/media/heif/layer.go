package heif

import (
	"bytes"
	"cmp"
	"image"
	"maps"
	"slices"
)

// maxSide bounds a layer's sides, so that sums and products do not overflow.
const maxSide = 1 << 24

// layer reads an item: a picture, or a grid of them.
func (s *structure) layer(id int) (*Layer, error) {
	width, height, err := s.dimensions(id)
	if err != nil {
		return nil, err
	}
	l := &Layer{Width: width, Height: height, Columns: 1, Rows: 1}
	tiles := []int{id}
	if s.kinds[id] == "grid" {
		if err := s.checkNeeds(id); err != nil {
			return nil, err
		}
		if tiles, err = s.grid(l, id); err != nil {
			return nil, err
		}
	}
	return l, s.addTiles(l, tiles)
}

// dimensions are the size of an item before its transforms.
func (s *structure) dimensions(id int) (width, height int, err error) {
	f := &fields{b: s.property(id, "ispe")}
	f.version()
	width, height = f.int(4), f.int(4)
	if width < 1 || height < 1 || width > maxSide || height > maxSide {
		return 0, 0, damaged("a picture without a size")
	}
	return width, height, nil
}

// grid reads how tiles make a picture, and which these are.
func (s *structure) grid(l *Layer, id int) ([]int, error) {
	places, err := s.extents(id)
	if err != nil {
		return nil, err
	}
	const largest = 12 // bytes
	data := make([]byte, min(places[0].length, largest))
	if _, err := s.file.ReadAt(data, places[0].at); err != nil {
		return nil, orIncomplete(err)
	}
	f := &fields{b: data}
	f.int(1)
	size := 2 + 2*(f.int(1)&1)
	l.Rows, l.Columns = f.int(1)+1, f.int(1)+1
	l.Width, l.Height = f.int(size), f.int(size)
	tiles := s.linked("dimg", id)
	if f.short || l.Width < 1 || l.Height < 1 || l.Width > maxSide || l.Height > maxSide || len(tiles) != l.Rows*l.Columns {
		return nil, damaged("its grid of tiles")
	}
	return tiles, s.checkWhole(tiles)
}

// maxData bounds the bytes of a layer's tiles.
const maxData = 256 << 20

// addTiles reads the pictures that a layer is made of. All are of one size, and coded
// in one way. A few bytes of the file could be many tiles: together these may have no
// more than twice the file.
func (s *structure) addTiles(l *Layer, ids []int) error {
	bytesLeft := min(2*s.size, maxData)
	for i, id := range ids {
		if err := s.checkNeeds(id); err != nil {
			return err
		}
		codec := Codec(s.kinds[id])
		config := s.property(id, map[Codec]string{AV1: "av1C", HEVC: "hvcC"}[codec])
		width, height, err := s.dimensions(id)
		switch {
		case codec == "":
			return damaged("a picture that is not there")
		case codec != AV1 && codec != HEVC:
			return &NotReadError{"a picture of the type " + printable(s.kinds[id])}
		case err != nil:
			return err
		case i == 0:
			l.Codec, l.Config, l.Tile = codec, config, image.Pt(width, height)
		case codec != l.Codec || !bytes.Equal(config, l.Config) || l.Tile != image.Pt(width, height):
			return &NotReadError{"tiles that differ in their size or coding"}
		}
		places, err := s.extents(id)
		if err != nil {
			return err
		}
		for _, p := range places {
			bytesLeft -= p.length
		}
		if bytesLeft < 0 {
			return damaged("its pictures have more bytes than they may")
		}
		l.tiles = append(l.tiles, places)
	}
	return l.check()
}

// check refuses tiles that do not make the layer.
func (l *Layer) check() error {
	switch {
	case len(l.Config) < 4:
		return damaged("a picture without its decoder's configuration")
	case l.Tile.X*l.Columns < l.Width, l.Tile.Y*l.Rows < l.Height,
		l.Tile.X*(l.Columns-1) >= l.Width, l.Tile.Y*(l.Rows-1) >= l.Height:
		return damaged("its tiles do not make its size")
	case l.Count() > 1 && (l.Tile.X%2 != 0 || l.Tile.Y%2 != 0):
		return &NotReadError{"tiles of odd sizes"}
	}
	return nil
}

// understood are the properties that change nothing here, or are kept to: of a1op and
// lsel the values that choose all of a picture, transforms on whole pictures.
var understood = append([]string{"av1C", "hvcC", "ispe", "pixi", "colr", "pasp", "auxC", "a1op", "lsel"}, transforms...)

// transforms crop, turn and mirror a picture, in this order (MIAF, 7.3.6.7).
var transforms = []string{"clap", "irot", "imir"}

// checkNeeds refuses an item with an essential property that is not known, or that
// chooses a part of what is coded.
func (s *structure) checkNeeds(id int) error {
	for _, p := range s.properties[id] {
		f := &fields{b: p.body}
		switch {
		case p.essential && !slices.Contains(understood, p.kind),
			p.kind == "a1op" && f.int(1) != 0, p.kind == "lsel" && f.int(2) != 0xFFFF:
			return &NotReadError{"the property " + printable(p.kind)}
		}
	}
	return nil
}

// checkWhole refuses tiles that are to be transformed before they are joined.
func (s *structure) checkWhole(tiles []int) error {
	for _, id := range tiles {
		for _, p := range s.properties[id] {
			if p.essential && slices.Contains(transforms, p.kind) {
				return &NotReadError{"tiles that are cropped or turned"}
			}
		}
	}
	return nil
}

// printable is four bytes of a file for a message.
func printable(kind string) string {
	out := []byte(kind)
	for i, b := range out {
		if b < ' ' || b > '~' {
			out[i] = '?'
		}
	}
	return string(out)
}

// alphaTypes are the names of alpha among auxiliary pictures.
var alphaTypes = []string{"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"}

// findAlpha finds the alpha of the picture, or of each of its tiles.
func (s *structure) findAlpha(p *Picture) error {
	alphas := map[int]int{} // by the item that it is of
	for _, from := range slices.Sorted(maps.Keys(s.references["auxl"])) {
		f := &fields{b: s.property(from, "auxC")}
		f.version()
		name, _, _ := bytes.Cut(f.b, []byte{0})
		for _, to := range s.linked("auxl", from) {
			if slices.Contains(alphaTypes, string(name)) {
				alphas[to] = from
			}
		}
	}
	id, found := alphas[s.primary]
	if found {
		var err error
		p.Premultiplied = slices.Contains(s.linked("prem", s.primary), id)
		p.Alpha, err = s.layer(id)
		return cmp.Or(err, s.checkAlike(id))
	}
	var tiles []int
	premultiplied := 0
	for _, tile := range s.linked("dimg", s.primary) {
		if id, found := alphas[tile]; found {
			tiles = append(tiles, id)
			if slices.Contains(s.linked("prem", tile), id) {
				premultiplied++
			}
		}
	}
	if len(tiles) == 0 {
		return nil
	}
	switch {
	case len(tiles) != p.Colours.Count():
		return &NotReadError{"alpha for some of its tiles"}
	case premultiplied > 0 && premultiplied < len(tiles):
		return &NotReadError{"some premultiplied tiles"}
	}
	p.Premultiplied = premultiplied > 0
	p.Alpha = &Layer{Width: p.Colours.Width, Height: p.Colours.Height, Columns: p.Colours.Columns, Rows: p.Colours.Rows}
	return cmp.Or(s.checkWhole(tiles), s.addTiles(p.Alpha, tiles))
}

// checkAlike refuses alpha with other transforms than the colours have. Mostly it has
// none, and is turned with them.
func (s *structure) checkAlike(alpha int) error {
	for _, kind := range transforms {
		if own := s.property(alpha, kind); own != nil && !bytes.Equal(own, s.property(s.primary, kind)) {
			return &NotReadError{"alpha that is cropped or turned otherwise than its colours"}
		}
	}
	return nil
}

// coding is what the container says of an item's colours.
func (s *structure) coding(id int) *Coding {
	ids := append([]int{id}, s.linked("dimg", id)...)
	for _, id := range ids[:min(len(ids), 2)] { // a grid, or its first tile
		for _, p := range s.properties[id] {
			f := &fields{b: p.body}
			if p.kind == "colr" && string(f.bytes(4)) == "nclx" {
				c := &Coding{Primaries: f.int(2), Transfer: f.int(2), Matrix: f.int(2), Full: f.int(1)&0x80 != 0}
				if !f.short {
					return c
				}
			}
		}
	}
	return nil
}

// findTransforms reads how the picture is cropped, turned and mirrored. Properties are
// applied in their order; MIAF has no other than that of transforms, and each once.
func (s *structure) findTransforms(p *Picture) error {
	p.Crop = image.Rect(0, 0, p.Colours.Width, p.Colours.Height)
	last := -1
	for _, t := range s.properties[s.primary] {
		place := slices.Index(transforms, t.kind)
		if place < 0 {
			continue
		}
		if place <= last {
			return &NotReadError{"transforms in an order that MIAF does not have"}
		}
		last = place
		if err := p.transform(t); err != nil {
			return err
		}
	}
	return nil
}

// transform adds one of the transforms to the picture.
func (p *Picture) transform(t property) error {
	f := &fields{b: t.body}
	switch t.kind {
	case "clap":
		crop, ok := aperture(f, p.Crop)
		if !ok {
			return damaged("its clean aperture")
		}
		p.Crop = crop
	case "irot":
		p.Turns = f.int(1) & 3
	case "imir":
		p.Mirror = TopBottom
		if f.int(1)&1 == 1 {
			p.Mirror = LeftRight
		}
	}
	if f.short {
		return damaged("its transforms")
	}
	return nil
}

// aperture is the part of a picture in a box clap (ISO/IEC 14496-12, 12.1.4): its
// width and height, and how far its centre is from the picture's, as fractions.
func aperture(f *fields, whole image.Rectangle) (image.Rectangle, bool) {
	var n [8]int64
	for i := range n {
		n[i] = int64(int32(f.uint(4)))
	}
	for _, below := range []int{1, 3, 5, 7} {
		if n[below] < 1 {
			return image.Rectangle{}, false
		}
	}
	size := image.Pt(int(n[0]/n[1]), int(n[2]/n[3]))
	corner := func(side, part int, above, below int64) int {
		return (side - part + 2*int(above)/int(below)) / 2
	}
	from := image.Pt(corner(whole.Dx(), size.X, n[4], n[5]), corner(whole.Dy(), size.Y, n[6], n[7]))
	r := image.Rectangle{Min: from, Max: from.Add(size)}
	return r, size.X > 0 && size.Y > 0 && r.In(whole)
}
