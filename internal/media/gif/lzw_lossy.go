package gif

// lossySearch finds for a position the string of the dictionary that gains
// most: every pixel it covers is worth a reward, every error that showing it
// adds costs as much as it is. Writing similar colours where that prolongs a
// string is the idea of Kornel Lesiński's lossy GIF encoder (giflossy); here
// the choice is a small rate–distortion search over the true colours.
type lossySearch struct {
	e      *lzwEncoder
	px     *lzwPixels
	visits int

	score, code, end int // the best string yet
}

// longest returns the code of the best string that starts at pos, and where
// the string ends. Its first pixel is always exact.
func (s *lossySearch) longest(e *lzwEncoder, px *lzwPixels, pos int) (code, end int) {
	s.e, s.px, s.visits = e, px, lossyVisits
	s.code, s.end = e.match(px, pos)
	s.score = (s.end - pos) * px.lossy.reward
	s.follow(int(px.index[pos]), pos+1, px.lossy.reward)
	return s.code, s.end
}

// follow extends the string code, which ends before pos, in all ways that the
// pixels allow.
func (s *lossySearch) follow(code, pos, score int) {
	if score > s.score {
		s.score, s.code, s.end = score, code, pos
	}
	if pos == len(s.px.index) {
		return
	}
	for c := s.e.first[code]; c != 0 && s.visits > 0; c = s.e.sibling[c] {
		cost := s.px.cost(pos, s.e.suffix[c])
		if cost < 0 {
			continue
		}
		s.visits--
		s.follow(int(c), pos+1, score+s.px.lossy.reward-cost)
	}
}

// cost is the squared error that writing index i for the pixel at pos adds,
// or -1 if that must not be done.
func (px *lzwPixels) cost(pos int, i uint8) int {
	own := px.index[pos]
	if i == own || i == px.alt[pos] {
		return 0
	}
	l := px.lossy
	most, c := int(l.most[pos]), l.colour[pos]
	if most == 0 || int(own) >= len(l.palette) || int(i) >= len(l.palette) {
		return -1
	}
	if extra := squared(c, l.palette[i]) - squared(c, l.palette[own]); extra < most {
		return max(extra, 0)
	}
	return -1
}
