package main

import "path/filepath"

// clips are six kinds of clips, made of those in a folder.
func clips(testdata string) []clip {
	hop, head, milk := filepath.Join(testdata, "demo", "hop.mp4"), filepath.Join(testdata, "real", "head.mp4"), filepath.Join(testdata, "real", "milk.mov")
	all := []clip{
		{
			Name: "drawn", height: 136, Heading: "A drawn clip on a flat sky", source: []string{"-i", hop, "-t", "2"}, path: "drawn.mp4",
			filter: "colorkey=0x77bee7:0.1:0.05",
			Text:   "Both do it. ffmpeg is quicker, and must be told the colour. Its edges keep some of the sky.",
		},
		{
			Name: "dithered", height: 136, Heading: "A GIF with dither", path: "dithered.gif",
			source: []string{"-i", hop, "-t", "2", "-vf", "fps=12,split[a][b];[a]palettegen=max_colors=64[p];[b][p]paletteuse=dither=bayer"},
			filter: "colorkey=0x77bee7:0.1:0.05",
			Text:   "As above, where one colour has become several.",
		},
		{
			Name: "screen", height: 136, Heading: "A green screen", source: []string{"-i", head}, path: "screen.mp4",
			filter: "chromakey=0x239f48:0.1:0.02,despill=type=green",
			Text:   "The screen is drawn. A chroma key with good numbers is nearly as good, and quicker: try it first where you have many hours.",
		},
		{
			Name: "wall", height: 136, Heading: "A talking head before a wall", source: []string{"-i", head}, path: "wall.mp4",
			filter: "colorkey=0xcacdd2:0.12:0.06",
			Text:   "The wall is not of one colour, and the skin is near it. Without a network there is no key for it.",
		},
		{
			Name: "room", height: 180, Heading: "A person in a room", source: []string{"-i", milk, "-an"}, path: "room.mp4",
			filter: "colorkey=0xb1beb8:0.14:0.05",
			Text:   "A room has many colours. The key is its wall's.",
		},
		{
			Name: "moving", height: 172, Heading: "The same, from a camera that moves", path: "moving.mp4",
			source: []string{"-i", milk, "-an", "-vf", "crop=420:300:'20+90*t+4*sin(31*t)':'30+4*sin(23*t)'"},
			filter: "colorkey=0xb1beb8:0.14:0.05",
			Text:   "The camera's motion is made by a moving crop.",
		},
	}
	return all
}
