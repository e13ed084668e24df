package bgremove

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/apng"
	"github.com/bgremove/bgremove/internal/media/avif"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/media/sequence"
	"github.com/bgremove/bgremove/internal/media/webp"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/internal/system/outfile"
)

// OutputPath is the default place of a clip's output: beside the input, its
// stem and "-nobg", with the extension of the format; see Format.OutputName. Numbered
// pictures lose their number; without another name it is their folder's, beside that.
func OutputPath(input string, f Format) string {
	if stem, ok := sequence.Stem(input); ok {
		return f.OutputName(stem)
	}
	return f.OutputName(strings.TrimSuffix(input, filepath.Ext(input)))
}

// IsSequence reports whether an input is numbered pictures: a pattern such as
// f%04d.png that is no file's name, or a folder with them.
func IsSequence(input string) bool { return sequence.Is(input) }

// create makes the output's file, or explains why it cannot.
func create(path string, overwrite bool) (*outfile.File, error) {
	f, err := outfile.Create(path, overwrite)
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, outfile.ErrFolder):
		return nil, &Error{Kind: Failed, Cause: OutputIsFolder, Path: path, Reason: "is a folder", Err: err}
	case errors.Is(err, outfile.ErrSpecial):
		return nil, &Error{Kind: Failed, Cause: OutputNotFile, Path: path, Reason: "not a regular file", Err: err}
	case errors.Is(err, outfile.ErrDangling):
		return nil, &Error{Kind: Failed, Cause: OutputBrokenLink, Path: path, Reason: "a broken link", Err: err}
	case errors.Is(err, fs.ErrExist):
		return nil, existsError(path, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{Kind: Failed, Cause: OutputFolderMissing, Path: path, Reason: "the output's folder does not exist", Err: err}
	}
	return nil, &Error{Kind: Failed, Cause: OutputNotCreated, Path: path, Reason: "the output cannot be created: " + errors.Unwrap(err).Error(), Err: err}
}

func existsError(path string, err error) error {
	return &Error{Kind: Exists, Cause: OutputExists, Path: path, Reason: "the output already exists", Err: err}
}

// sink opens the writer of the format on a target. Colours bounds those of a GIF; 0 does
// not.
func (r *Remover) sink(ctx context.Context, to *target, in *input, o Options, colours int, survey *gif.Survey, out pipeline.Output) (media.Sink, error) {
	plays := in.clip.Info().Plays
	if o.Loop != nil {
		plays = *o.Loop
	}
	pool, limited := out.Pool, &limitedFile{file: to.file, limit: to.limit}
	switch f := to.format; f {
	case GIF:
		return gif.NewWriter(limited, out.Size.X, out.Size.Y, gif.WriterOptions{
			Quality: o.Quality, Colours: colours, Plays: plays, EdgeColour: colour(o.EdgeColour), Survey: survey, Pool: pool, Workers: out.Workers,
		})
	case APNG:
		return apng.NewWriter(limited, out.Size.X, out.Size.Y, apng.Options{
			Plays: plays, Opaque: !o.Transparent(), Pool: pool, Workers: out.Workers,
		})
	case WebP:
		tools, err := r.ffmpeg(ctx)
		if err != nil {
			return nil, err
		}
		wo := webp.Options{Plays: plays, Opaque: !o.Transparent(), Quality: o.Quality, Pool: pool, Workers: out.Workers}
		if in.clip.Info().Still || to.pattern != nil {
			return webp.NewPictures(ctx, tools, out.Size.X, out.Size.Y, wo, to.put)
		}
		return webp.NewWriter(ctx, tools, limited, out.Size.X, out.Size.Y, wo)
	case PNG:
		return apng.NewPictures(out.Size.X, out.Size.Y, apng.Options{Opaque: !o.Transparent(), Pool: pool, Workers: out.Workers}, to.put), nil
	case AVIF:
		tools, err := r.ffmpeg(ctx)
		if err != nil {
			return nil, err
		}
		return avif.NewSink(ctx, tools, limited, out.Size.X, out.Size.Y, avif.Options{
			Plays: plays, Opaque: !o.Transparent(), Quality: o.Quality, Timescale: timescale(in.clip.Info().TimeBase), Pool: pool, Workers: out.Workers,
		})
	case WebM, MP4, MOV, Stacked, HEVC:
		tools, err := r.ffmpeg(ctx)
		if err != nil {
			return nil, err
		}
		return tools.NewSink(ctx, to.file.Name(), videoOptions(in, f, o, out))
	default:
		return nil, fmt.Errorf("no writer for %s", f)
	}
}

// videoOptions is how a video of a clip is encoded.
func videoOptions(in *input, f Format, o Options, out pipeline.Output) ffmpeg.SinkOptions {
	so := ffmpeg.SinkOptions{
		Format: ffmpeg.Format(f), Width: out.Size.X, Height: out.Size.Y, Opaque: !o.Transparent() || f.Opaque(),
		Quality: o.Quality, End: out.End, Timescale: timescale(in.clip.Info().TimeBase), Pool: out.Pool, Workers: out.Workers,
	}
	if clip, ok := in.clip.(*ffmpeg.Clip); ok && clip.Info().HasAudio && !o.NoAudio {
		so.Audio, so.AudioFrom = clip, out.First
		if o.End > 0 {
			so.AudioFor = out.End
		}
	}
	return so
}

// timescale is the number of MP4 ticks a second in which the source's times
// are whole: its own, or a multiple fine enough for milliseconds.
func timescale(base media.Rational) int64 {
	const minTimescale, maxTimescale = 10_000, int64(time.Second / 1000)
	if base.Num != 1 || base.Den < 1 || base.Den > maxTimescale {
		return 0
	}
	return base.Den * max(1, (minTimescale+base.Den-1)/base.Den)
}

// limitedFile bounds what our own writers put into a file, as the sandbox bounds
// ffmpeg's.
type limitedFile struct {
	file           *outfile.File
	limit, written int64 // bytes; no limit if that is 0
}

func (f *limitedFile) Write(p []byte) (int, error) {
	f.written += int64(len(p))
	if err := checkSize(f.written, f.limit); err != nil {
		return 0, err
	}
	return f.file.Write(p)
}

// checkSize refuses more bytes than a limit, if there is one.
func checkSize(written, limit int64) error {
	if limit == 0 || written <= limit {
		return nil
	}
	return &Error{Kind: TooLarge, Cause: OutputTooLarge, Name: "file size", Limit: strconv.FormatInt(limit, 10),
		Reason: fmt.Sprintf("the output is over the limit of %d bytes", limit)}
}

func (f *limitedFile) Seek(offset int64, whence int) (int64, error) {
	return f.file.Seek(offset, whence)
}
