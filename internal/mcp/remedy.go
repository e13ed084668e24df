package mcp

import (
	"errors"
	"fmt"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// remedies are what an assistant can do about a cause, in terms of its tools.
var remedies = map[bgremove.Cause]string{
	bgremove.InputDamaged:        "get the file again",
	bgremove.InputTruncated:      "get the file again: its end is missing",
	bgremove.InputForbidden:      "its permissions must allow to read it",
	bgremove.InputNotFile:        "name one file",
	bgremove.NotClip:             "name another file: its content decides, not its name",
	bgremove.NotPicture:          "name another file as background",
	bgremove.HEIFPicture:         "make a JPEG of it first",
	bgremove.SoundOnly:           "name a file with pictures",
	bgremove.SoundUnreadable:     "noAudio true leaves the sound out",
	bgremove.OverLimits:          "make the clip smaller or shorter first",
	bgremove.OverChildLimits:     "make the clip smaller or shorter first",
	bgremove.OutputExists:        "overwrite true replaces it, or name another output",
	bgremove.OutputIsFolder:      "name a file in it",
	bgremove.OutputNotFile:       "name another output",
	bgremove.OutputBrokenLink:    "name another output",
	bgremove.OutputFolderMissing: "make the folder first, or name another output",
	bgremove.OutputNotCreated:    "name an output in another folder",
	bgremove.OutputIsInput:       "name another output",
	bgremove.VideoOfPicture:      "leave outputFormat out: a picture becomes a PNG",
	bgremove.PictureOfClip:       "frame chooses one picture of it, or name an output of another format",
	bgremove.FallbackIsInput:     "name another output, or give a background",
	bgremove.OutputTooLarge:      "make it smaller with fps, canvasW or end",
	bgremove.SizeNotReached:      "start from less with canvasW, fps or end",
	bgremove.PresetNotKept:       "choose another part with start and end, or fewer frames with fps",
	bgremove.NoSpace:             "free some space",
}

// serviceRemedies are those of errors of a service.
var serviceRemedies = []struct {
	err    error
	remedy string
}{
	{client.ErrUnauthorized, "whoever set the tools up must give another key"},
	{client.ErrNotFound, "check the id: only the key that created a job can see it"},
	{client.ErrNotReady, "job_status with wait tells when it is done"},
	{client.ErrExpired, "submit the file again"},
	{client.ErrUnreadable, "nothing was charged; probe says what is wrong with the file"},
	{client.ErrTooLarge, "nothing was charged; send a smaller clip"},
	{client.ErrConflict, "give another idempotencyKey, or exactly the same file and options as before"},
}

// explain adds to an error what can be done about it: by the assistant, or by whoever
// set the tools up. nil stays nil.
func (s *server) explain(err error) error {
	if remedy := s.remedy(err); remedy != "" {
		return fmt.Errorf("%w; %s", err, remedy)
	}
	return err
}

func (s *server) remedy(err error) string {
	var (
		known     *bgremove.Error
		uncertain *client.UncertainError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known) && known.Kind == bgremove.Missing:
		return s.Hint(err)
	case known != nil:
		return remedies[known.Cause]
	case errors.As(err, &uncertain):
		return fmt.Sprintf("the same submission with idempotencyKey %q finds out, and is not charged twice", uncertain.IdempotencyKey)
	case errors.As(err, new(*client.InsufficientCreditsError)):
		return "nothing was charged; the account needs more credits"
	case errors.As(err, new(*client.JobFailedError)):
		return "its credits were given back"
	}
	for _, row := range serviceRemedies {
		if errors.Is(err, row.err) {
			return row.remedy
		}
	}
	return ""
}
