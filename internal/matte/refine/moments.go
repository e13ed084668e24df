package refine

// moments are sums over a window of samples: the colours, their products, the
// matte p and its products with the colours. texture is the variance of colour
// within samples times its weight, which is certainty (textureCertainty).
type moments struct {
	r, g, b                int32
	rr, rg, rb, gg, gb, bb int32
	p, pr, pg, pb          int32
	texture, certainty     int32
}

func (m *moments) add(o *moments) {
	m.r += o.r
	m.g += o.g
	m.b += o.b
	m.rr += o.rr
	m.rg += o.rg
	m.rb += o.rb
	m.gg += o.gg
	m.gb += o.gb
	m.bb += o.bb
	m.p += o.p
	m.pr += o.pr
	m.pg += o.pg
	m.pb += o.pb
	m.texture += o.texture
	m.certainty += o.certainty
}

func (m *moments) subtract(o *moments) {
	m.r -= o.r
	m.g -= o.g
	m.b -= o.b
	m.rr -= o.rr
	m.rg -= o.rg
	m.rb -= o.rb
	m.gg -= o.gg
	m.gb -= o.gb
	m.bb -= o.bb
	m.p -= o.p
	m.pr -= o.pr
	m.pg -= o.pg
	m.pb -= o.pb
	m.texture -= o.texture
	m.certainty -= o.certainty
}

// trusted is a coef times the trust in it, and that trust, 0..1.
type trusted struct{ r, g, b, rest, trust float32 }

func (t *trusted) add(o *trusted) {
	t.r += o.r
	t.g += o.g
	t.b += o.b
	t.rest += o.rest
	t.trust += o.trust
}

// solve returns the coefficients that explain the matte by the colours, by
// linear ridge regression. n is the number of samples. These are means: the
// pixels that the coefficients are for vary more, which would bring texture into
// the matte. The more colour explains beside that texture, the more it is trusted.
// The rest is left to the matte as it is.
func (m *moments) solve(n int32) trusted {
	inv := 1 / float64(n)
	square := inv * inv
	// Products of sums stay below 2^26.
	rr := float64(n*m.rr-m.r*m.r)*square + epsilon
	rg := float64(n*m.rg-m.r*m.g) * square
	rb := float64(n*m.rb-m.r*m.b) * square
	gg := float64(n*m.gg-m.g*m.g)*square + epsilon
	gb := float64(n*m.gb-m.g*m.b) * square
	bb := float64(n*m.bb-m.b*m.b)*square + epsilon
	pr := float64(n*m.pr-m.p*m.r) * square
	pg := float64(n*m.pg-m.p*m.g) * square
	pb := float64(n*m.pb-m.p*m.b) * square
	c0, c1, c2 := gg*bb-gb*gb, gb*rb-rg*bb, rg*gb-gg*rb
	c3, c4, c5 := rr*bb-rb*rb, rb*rg-rr*gb, rr*gg-rg*rg
	det := 1 / (rr*c0 + rg*c1 + rb*c2)
	ar := (c0*pr + c1*pg + c2*pb) * det
	ag := (c1*pr + c3*pg + c4*pb) * det
	ab := (c2*pr + c4*pg + c5*pb) * det
	explained := ar*pr + ag*pg + ab*pb
	certainty := float64(m.certainty)
	t := explained * certainty / ((explained+1e-3)*certainty + textureWeight*float64(m.texture)*(ar*ar+ag*ag+ab*ab))
	ar, ag, ab = t*ar, t*ag, t*ab
	rest := t*float64(m.p) - ar*float64(m.r) - ag*float64(m.g) - ab*float64(m.b)
	return trusted{float32(ar), float32(ag), float32(ab), float32(rest * inv), float32(t)}
}
