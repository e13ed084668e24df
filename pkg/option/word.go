package option

// Method separates the subject from the background. The empty Method is Auto.
type Method string

// The methods.
const (
	Auto  Method = "auto"  // Fast on a flat, steady backdrop, else Rembg
	Fast  Method = "fast"  // flood-fill from the border
	Rembg Method = "rembg" // segmentation by a neural network
)

// Methods are all methods, the default first.
func Methods() []Method { return []Method{Auto, Fast, Rembg} }

// Anchor is where the subject stands on a canvas that it does not fill. The empty
// Anchor is Center.
type Anchor string

// The anchors; both centre horizontally.
const (
	Center Anchor = "center"
	Bottom Anchor = "bottom"
)

// Anchors are all anchors, the default first.
func Anchors() []Anchor { return []Anchor{Center, Bottom} }

// Scale is how pictures are scaled to a canvas. The empty Scale is ScaleAuto.
type Scale string

// The ways to scale.
const (
	ScaleAuto    Scale = "auto"    // ScaleNearest where pixel art is enlarged, else ScaleSmooth
	ScaleSmooth  Scale = "smooth"  // by a spline
	ScaleNearest Scale = "nearest" // repeats or leaves out pixels
)

// Scales are all ways to scale, the default first.
func Scales() []Scale { return []Scale{ScaleAuto, ScaleSmooth, ScaleNearest} }

// Fit is how a file behind the subject is fitted to the output. The empty Fit is
// Cover.
type Fit string

// The fits; all but Tile keep the middle in the middle.
const (
	Cover   Fit = "cover"   // scaled until nothing is left uncovered; what is over is cut off
	Contain Fit = "contain" // scaled until all of it is seen; the rest is black
	Tile    Fit = "tile"    // repeated at its own size from the top left corner
)

// Fits are all fits, the default first.
func Fits() []Fit { return []Fit{Cover, Contain, Tile} }

// Holes says what happens to areas of the backdrop's colour that the subject
// encloses, with Fast. The empty Holes is HolesAuto.
type Holes string

// The policies for holes.
const (
	HolesAuto   Holes = "auto"   // stay unless larger than 5 % of the picture
	HolesKeep   Holes = "keep"   // stay
	HolesRemove Holes = "remove" // go
)

// AllHoles are all policies for holes, the default first.
func AllHoles() []Holes { return []Holes{HolesAuto, HolesKeep, HolesRemove} }

// Subject is which of the things that the network finds is wanted. The empty
// Subject is SubjectAuto.
type Subject string

// The subjects.
const (
	SubjectAuto Subject = "auto"    // by appearance and motion
	Moving      Subject = "moving"  // only what moves
	Salient     Subject = "salient" // all that the network finds
)

// Subjects are all subjects, the default first.
func Subjects() []Subject { return []Subject{SubjectAuto, Moving, Salient} }

// SheetData is the schema in which a sprite sheet is described. The empty SheetData
// is TexturePacker.
type SheetData string

// The schemas.
const (
	TexturePacker SheetData = "texturepacker" // JSON (Hash), on any number of pages
	Aseprite      SheetData = "aseprite"      // an array, on one page
)

// AllSheetData are all schemas, the default first.
func AllSheetData() []SheetData { return []SheetData{TexturePacker, Aseprite} }

// SheetPack is how frames are placed on a sprite sheet. The empty SheetPack is Tight.
type SheetPack string

// The ways to pack.
const (
	Tight SheetPack = "tight" // trimmed, equal ones once, wherever there is room
	Rows  SheetPack = "rows"  // whole and all, in equal cells
)

// SheetPacks are all ways to pack, the default first.
func SheetPacks() []SheetPack { return []SheetPack{Tight, Rows} }

// The words of Key that are no #rrggbb.
const (
	KeyAuto  = "auto"
	KeyGreen = "green"
	KeyBlue  = "blue"
)

// Transparent is the background that is none.
const Transparent = "transparent"

// Preset is the limits of a service that takes clips. The empty Preset is NoPreset.
type Preset string

// NoPreset has no limits.
const NoPreset Preset = "none"
