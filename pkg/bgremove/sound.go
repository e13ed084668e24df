package bgremove

import (
	"context"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// keepsSound reports whether the output has the clip's sound.
func (j *removal) keepsSound(info media.Info) bool {
	return info.HasAudio && !j.options.NoAudio && j.format().Sound()
}

// checkSound refuses sound of a codec that ffmpeg does not know, if the output is to have it.
func (j *removal) checkSound(path string, info media.Info) error {
	if info.AudioCodec != "" || !j.keepsSound(info) {
		return nil
	}
	return soundUnreadable(path, nil)
}

// missingSound blames a failure on sound that this ffmpeg knows and has no decoder for.
func (j *removal) missingSound(ctx context.Context, tools *ffmpeg.Tools, clip media.Clip, err error) error {
	c, ok := clip.(*ffmpeg.Clip)
	if !ok || !j.keepsSound(c.Info()) {
		return err
	}
	if decodes, e := tools.Decodes(ctx, c.Info().AudioCodec); decodes || e != nil {
		return err
	}
	return soundUnreadable(c.Path(), err)
}

func soundUnreadable(path string, err error) error {
	return &Error{Kind: Unreadable, Cause: SoundUnreadable, Path: path, Reason: "ffmpeg cannot decode its sound", Err: err}
}
