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
	s.e, s.px, s.visits, s.score = e, px, lossyVisits, 0
	s.follow(int(px.index[pos]), pos+1, px.lossy.reward)
	if s.visits > 0 {
		return s.code, s.end
	}
	if code, end = e.match(px, pos); (end-pos)*px.lossy.reward > s.score {
		return code, end
	}
	return s.code, s.end
}

// follow extends the string code, which ends before pos, in all ways that the
// pixels allow.
func (s *lossySearch) follow(code, pos, score int) {
	if score > s.score {
		s.score, s.code, s.end = score, code, pos
	}
	e, l := s.e, s.px.lossy
	if pos == len(s.px.index) || e.children[code] == 0 || s.visits <= 0 {
		return
	}
	s.visits--
	own, alt := s.px.index[pos], s.px.alt[pos]
	maxError := int(l.maxError[pos])
	if maxError == 0 || int(own) >= len(l.palette) {
		s.extend(code, own, pos, score+l.reward)
		if alt != own {
			s.extend(code, alt, pos, score+l.reward)
		}
		return
	}
	c := l.colour[pos]
	mine := squared(c, l.palette[own])
	if e.children[code] > nearCount {
		for _, i := range l.near[own] {
			if extra := squared(c, l.palette[i]) - mine; extra < maxError {
				s.extend(code, i, pos, score+l.reward-max(extra, 0))
			}
		}
		return
	}
	for k := e.first[code]; k != 0; k = e.sibling[k] {
		i := e.suffix[k]
		if int(i) >= len(l.palette) {
			continue
		}
		if extra := squared(c, l.palette[i]) - mine; extra < maxError {
			s.follow(int(k), pos+1, score+l.reward-max(extra, 0))
		}
	}
}

// extend extends the string by index i, if the dictionary has it.
func (s *lossySearch) extend(code int, i uint8, pos, score int) {
	if child := s.e.child(code, i); child != 0 {
		s.follow(child, pos+1, score)
	}
}
