package avif

// alphaType is the name of alpha among auxiliary pictures.
const alphaType = "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"

// colour says how colours are coded (ITU-T H.273): primaries of BT.709, sRGB's
// transfer, BT.709's matrix, limited range.
var colour = box("colr", []byte("nclx"), u16(1, 13, 1), u8(0))

// The items of the still picture.
const (
	colourItem = iota + 1
	alphaItem
)

// still is the box meta, by which the first frame is a picture by itself. Its data
// begin at an offset in the file.
func (m *muxer) still(at int, units []unit) []byte {
	var infos, places, links []byte
	for i, u := range units {
		id, name := i+colourItem, "Colour"
		if m.tracks[i].alpha {
			name = "Alpha"
			links = full("iref", 0, 0, box("auxl", u16(alphaItem, 1, colourItem)))
		}
		infos = append(infos, full("infe", 2, 0, u16(id, 0), []byte("av01"), text(name))...)
		places = append(append(places, u16(id, 0, 1)...), u32(at, len(u.data))...)
		at += len(u.data)
	}
	return full("meta", 0, 0,
		handler("pict"), full("pitm", 0, 0, u16(colourItem)),
		full("iloc", 0, 0, u8(0x44, 0), u16(len(units)), places), // offsets and lengths of four bytes
		full("iinf", 0, 0, u16(len(units)), infos), links, m.properties())
}

// properties is the box iprp: the items' properties, and which each has.
func (m *muxer) properties() []byte {
	const essential = 0x80
	c := m.tracks[0]
	all := [][]byte{
		full("ispe", 0, 0, u32(c.width, c.height)),
		full("pixi", 0, 0, u8(3, 8, 8, 8)), c.config, colour,
	}
	has := append(u16(colourItem), 4, 1, 2, essential|3, 4)
	if len(m.tracks) > 1 {
		all = append(all, full("pixi", 0, 0, u8(1, 8)), m.tracks[1].config, full("auxC", 0, 0, text(alphaType)))
		has = append(append(has, u16(alphaItem)...), 4, 1, 5, essential|6, 7)
	}
	return box("iprp", box("ipco", all...), full("ipma", 0, 0, u32(len(m.tracks)), has))
}

// handler is the box hdlr.
func handler(kind string) []byte {
	return full("hdlr", 0, 0, u32(0), []byte(kind), u32(0, 0, 0), text(""))
}
