package bgremove

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/apng"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/media/picture"
	"github.com/bgremove/bgremove/internal/media/sequence"
	"github.com/bgremove/bgremove/internal/media/webp"
	"github.com/bgremove/bgremove/internal/system/infile"
)

// Info describes an input file: upright, with square pixels, as it decodes.
type Info struct {
	Input     string  `json:"input"`
	Container string  `json:"container"` // gif, mp4, mov, webm, matroska, avi, png, jpeg, webp, avif, heif or pictures
	Codec     string  `json:"codec"`
	Frames    int     `json:"frames"`
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	Duration  float64 `json:"duration"`  // seconds, to the millisecond
	InputSize int64   `json:"inputSize"` // bytes
	HasAlpha  bool    `json:"hasAlpha"`
	HasAudio  bool    `json:"hasAudio"`
	Still     bool    `json:"still"` // one picture, whose duration is 0
	// Loop is how often an animation plays; 0 is for ever.
	Loop int `json:"loop"`
	// Truncated says that the file is truncated.
	Truncated bool `json:"truncated"`
}

// Probe reads the metadata of a file. The file's content decides its container,
// not its name. No picture is decoded. The path may be that of numbered pictures, as
// in Remove.
func (r *Remover) Probe(ctx context.Context, path string) (*Info, error) {
	in, err := r.openAt(ctx, path, 0)
	if err != nil {
		return nil, ended(ctx, err)
	}
	m := in.clip.Info()
	return &Info{
		Input: path, Container: string(m.Container), Codec: m.Codec, Frames: m.Frames,
		Width: m.Width, Height: m.Height, Duration: milliseconds(m.Duration), InputSize: in.size,
		HasAlpha: m.HasAlpha, HasAudio: m.HasAudio, Still: m.Still, Loop: m.Plays, Truncated: m.Truncated,
	}, nil
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}

// input is an opened clip and its file's size.
type input struct {
	clip     media.Clip
	size     int64
	pictures []string // the files of a sequence
}

// openAt opens an input: a file, or numbered pictures that are shown at a rate.
func (r *Remover) openAt(ctx context.Context, path string, rate float64) (*input, error) {
	if !r.takes(media.Pictures) || !sequence.Is(path) {
		return r.open(ctx, path)
	}
	paths, err := sequence.Find(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Kind: NotFound, Path: path, Reason: "no picture has such a name", Err: err}
	}
	var clip *sequence.Clip
	if err == nil {
		clip, err = sequence.Probe(paths, rate, r.config.Limits.gif())
	}
	if errors.As(err, new(*media.UnreadableError)) {
		return nil, &Error{Kind: Unreadable, Cause: BadSequence, Path: path, Reason: err.Error(), Err: err}
	}
	if err != nil {
		return nil, explain(path, err)
	}
	return &input{clip: clip, size: clip.Size, pictures: paths}, nil
}

// open recognises and probes a file.
func (r *Remover) open(ctx context.Context, path string) (*input, error) {
	head, size, err := readHead(path)
	if err != nil {
		return nil, explain(path, err)
	}
	in := &input{size: size}
	container := media.Sniff(head)
	if !r.takes(container) {
		container = media.Unknown
	}
	switch container {
	case media.GIF:
		in.clip, err = gif.Probe(path, r.config.Limits.gif())
	case media.MP4, media.MOV, media.WebM, media.Matroska, media.AVI, media.AVIF, media.HEIF:
		in.clip, err = r.openVideo(ctx, path, container)
	case media.PNG, media.JPEG, media.WebP:
		in.clip, err = r.openPicture(path, container)
	default:
		err = notClipError(path, size)
	}
	if err != nil {
		return nil, explain(path, err)
	}
	return in, nil
}

// openVideo reads a video's metadata. Meanwhile it has ffmpeg checked, once:
// starting the programs takes longer than their work here.
func (r *Remover) openVideo(ctx context.Context, path string, container media.Container) (*ffmpeg.Clip, error) {
	located, confirmed, err := r.locateFFmpeg()
	if err != nil {
		return nil, noFFmpeg(err)
	}
	limits := r.config.Limits.video()
	if confirmed {
		return located.Probe(ctx, path, container, limits)
	}
	probeCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var clip *ffmpeg.Clip
	var probeErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		clip, probeErr = located.Probe(probeCtx, path, container, limits)
	}()
	tools, err := r.ffmpeg(ctx)
	if err != nil || tools != located {
		cancel()
	}
	<-done
	if err != nil {
		return nil, err
	}
	if tools != located {
		return tools.Probe(ctx, path, container, limits)
	}
	return clip, probeErr
}

// openPicture opens a picture, or an animation of pictures.
func (r *Remover) openPicture(path string, c media.Container) (media.Clip, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	animated := media.Animated(f)
	_ = f.Close() // it was only read
	switch {
	case animated && c == media.PNG:
		return apng.Probe(path, r.config.Limits.gif())
	case animated:
		return webp.Probe(path, r.config.Limits.gif())
	}
	return picture.Probe(path, r.config.Limits.video())
}

// notClipError is the error of a file of no kind that is read.
func notClipError(path string, size int64) error {
	if size == 0 {
		return &Error{Kind: Unreadable, Cause: InputDamaged, Path: path, Reason: "the file is empty"}
	}
	return &Error{Kind: Unreadable, Cause: NotClip, Path: path, Reason: "not an animation, video or picture that bgremove reads"}
}

// openInput opens a file that is read.
func openInput(path string) (*os.File, error) {
	f, err := infile.Open(path)
	if errors.Is(err, infile.ErrNotRegular) {
		return nil, &Error{Kind: Unreadable, Cause: InputNotFile, Path: path, Reason: "not a regular file", Err: err}
	}
	return f, err
}

// readHead reads the first bytes of a regular file, and its size.
func readHead(path string) (head []byte, size int64, err error) {
	f, err := openInput(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	head = make([]byte, media.SniffLen)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, err
	}
	return head[:n], stat.Size(), nil
}
