package view

// CellPlane is one byte of each cell.
type CellPlane int

// The planes of Cells. Shares and motions of 1 are 255. What has a sign is 127 times the
// value, from 128. Numbers of frames are 16 times the binary logarithm of 1 plus the number.
const (
	// CellCoverage is the share of the cell that the matte covers.
	CellCoverage CellPlane = iota
	CellRed
	CellGreen
	CellBlue
	// CellMotion is the motion against the camera from the frame before to this one, and
	// CellTrust how surely it is right.
	CellMotion
	CellTrust
	// CellAlong is that motion in the direction in which the camera moves the place: above
	// 0 as of things that stand nearer than the backdrop, below as of those that the camera
	// follows.
	CellAlong
	// TrackMotion and TrackAlong are the means of both along the place's track through the
	// shot, weighted by trust, and TrackTrust is the sum of that trust.
	TrackMotion
	TrackAlong
	TrackTrust
	// TrackCoverage is the mean of the matte along the track, and TrackFrames the frames in
	// it.
	TrackCoverage
	TrackFrames
	// ShotSubject is the TrackMotion of the matte's liveliest fifth in this shot, ShotBackdrop
	// that of the backdrop's median, and ShotBusiest of its tenth. ShotLively is the share of
	// frames in which the matte's liveliest fifth moves much from one frame to the next. They
	// are the same in all cells.
	ShotSubject
	ShotBackdrop
	ShotBusiest
	ShotLively
	// CellCount is how many planes the chooser is shown.
	CellCount
)

// Cells is a frame of W × H cells in planes, one after the other.
type Cells struct {
	W, H int
	Pix  []uint8
	// Features has a place for each square of 2 × 2 cells.
	Features Features
}

// NewCells is a frame of which nothing is known.
func NewCells(w, h int) Cells {
	return Cells{w, h, make([]uint8, int(CellCount)*w*h), Features{}.Fit(Places(w, h))}
}

// Places is the size of the Features of w × h cells.
func Places(w, h int) (int, int) { return (w + 1) / 2, (h + 1) / 2 }

// Plane is one of the planes, row by row.
func (c *Cells) Plane(p CellPlane) []uint8 {
	n := c.W * c.H
	return c.Pix[int(p)*n : int(p+1)*n : int(p+1)*n]
}
