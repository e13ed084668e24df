package bgremove

// NoteCode says what a Note is about, for programs.
type NoteCode string

// The codes.
const (
	GIFInstead    NoteCode = "gif_instead"    // of an MP4, which has no transparency; a Background gives the MP4
	MatteWhite    NoteCode = "matte_white"    // of a Stacked output, because nothing is transparent
	NotCropped    NoteCode = "not_cropped"    // no subject was found
	FramesLost    NoteCode = "frames_lost"    // some could not be decoded
	Unused        NoteCode = "unused"         // an option that has no effect in this run
	RateAssumed   NoteCode = "rate_assumed"   // of numbered pictures: no FPS was given
	TimesLeft     NoteCode = "times_left"     // out of numbered pictures; Result.FrameRate is their rate
	GaveUp        NoteCode = "gave_up"        // something, for MaxSize; Result.Fit has it
	FewerFrames   NoteCode = "fewer_frames"   // than the clip has, for the limits of the Preset
	CutShort      NoteCode = "cut_short"      // at the limit of the Preset
	DeviceRefused NoteCode = "device_refused" // the network ran on Result.Device instead
)

// Note is a deviation from the request or from the expected result.
type Note struct {
	Code    NoteCode `json:"code"`
	Field   string   `json:"field,omitempty"`  // the option it is about, by its JSON name; may be empty
	Frames  int      `json:"frames,omitempty"` // how many, with FramesLost and FewerFrames
	Message string   `json:"message"`          // what follows the option's name
}

// String is the note in one line for people.
func (n Note) String() string {
	if n.Field == "" {
		return n.Message
	}
	return n.Field + " " + n.Message
}
