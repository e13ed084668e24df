// Package ffmpeggo builds the argument lists of ffmpeg. It is the part of
// github.com/u2takey/ffmpeg-go v0.5.0 that this program uses, under the Apache
// License 2.0 in LICENSE, and gives the same lists, which its tests check.
//
// Changed from the original: no S3 (52 packages of the AWS SDK v1), no
// filter graphs, no starting of programs, no aliases of options (format,
// video_bitrate, audio_bitrate, video_size), option values are strings, no
// contexts, and nodes are compared by their contents, not by a hash.
package ffmpeggo

import (
	"errors"
	"maps"
	"slices"
	"strconv"
)

// KwArgs are options of one input or output: names without the dash, and
// values. An option with an empty value stands alone. Lists have the options
// in the order of their names.
type KwArgs map[string]string

// merged is a copy of all, in which later values win.
func merged(all []KwArgs) KwArgs {
	args := KwArgs{}
	for _, some := range all {
		maps.Copy(args, some)
	}
	return args
}

func (k KwArgs) list() []string {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(k)) {
		args = append(args, "-"+name)
		if k[name] != "" {
			args = append(args, k[name])
		}
	}
	return args
}

// input is a file that ffmpeg reads.
type input struct {
	url    string
	kwargs KwArgs
}

func (i *input) equal(other *input) bool {
	return i.url == other.url && maps.Equal(i.kwargs, other.kwargs)
}

// args has the format first, as the original.
func (i *input) args() []string {
	var args []string
	kwargs := maps.Clone(i.kwargs)
	if format := kwargs["f"]; format != "" {
		args = append(args, "-f", format)
	}
	delete(kwargs, "f")
	return append(append(args, kwargs.list()...), "-i", i.url)
}

// Stream is all of an input, or those of its streams that a specifier selects.
type Stream struct {
	from     *input
	selector string
}

// Input is the file at url, or a pipe (pipe:0), with the options before its -i.
func Input(url string, kwargs ...KwArgs) *Stream {
	return &Stream{from: &input{url: url, kwargs: merged(kwargs)}}
}

// Get selects streams of an input by a specifier: an index, v, a:0. It panics
// where that has been done already.
func (s *Stream) Get(specifier string) *Stream {
	if s.selector != "" {
		panic(errors.New("stream already has a selector"))
	}
	return &Stream{from: s.from, selector: specifier}
}

// Video selects the video streams.
func (s *Stream) Video() *Stream { return s.Get("v") }

// Output is Output of one stream.
func (s *Stream) Output(url string, kwargs ...KwArgs) *Command {
	return Output([]*Stream{s}, url, kwargs...)
}

// Command is an ffmpeg with one output.
type Command struct {
	streams []*Stream
	url     string
	kwargs  KwArgs
	global  []string
}

// Output maps streams to the file at url, or to a pipe (pipe:1), with the
// options before it. It panics without a stream or a URL.
func Output(streams []*Stream, url string, kwargs ...KwArgs) *Command {
	if len(streams) == 0 || url == "" {
		panic(errors.New("an output needs streams and a URL"))
	}
	return &Command{streams: streams, url: url, kwargs: merged(kwargs)}
}

// GlobalArgs is the command with arguments for all of ffmpeg, such as -y.
func (c *Command) GlobalArgs(args ...string) *Command {
	with := *c
	with.global = args
	return &with
}

// GetArgs is the argument list, after the program's name. Equal inputs are
// opened once.
func (c *Command) GetArgs() []string {
	var inputs []*input
	var mapped []string
	for _, s := range c.streams {
		at := slices.IndexFunc(inputs, s.from.equal)
		if at < 0 {
			at, inputs = len(inputs), append(inputs, s.from)
		}
		name := strconv.Itoa(at)
		if s.selector != "" {
			name += ":" + s.selector
		}
		if name != "0" || len(c.streams) > 1 {
			mapped = append(mapped, "-map", name)
		}
	}
	var args []string
	for _, i := range inputs {
		args = append(args, i.args()...)
	}
	args = append(append(args, mapped...), c.kwargs.list()...)
	return append(append(args, c.url), c.global...)
}
