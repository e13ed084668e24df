//go:build !amd64 || purego

package plate

func (l *laying) row(i, at, n int) { l.rowPlain(i, at, n) }

func (d *drawing) row(at, i, n int) { d.rowPlain(at, i, n) }

func (o *comparison) row(i, j int) int { return o.rowPlain(i, j) }

func lightness(dst []float32, pix []uint8) { lightPlain(dst, pix) }

func (m *matching) row(i, j, n int) { m.rowPlain(i, j, n, 0) }

func (s *shifting) sum(i, j, n int) { s.sumPlain(i, j, n, 0) }

func (s *shifting) cost(i, j, n int) { s.costPlain(i, j, n, 0) }
