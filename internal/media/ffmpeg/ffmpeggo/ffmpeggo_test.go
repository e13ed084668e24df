package ffmpeggo_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	original "github.com/u2takey/ffmpeg-go"

	"github.com/bgremove/bgremove/internal/media/ffmpeg/ffmpeggo"
)

// in is an input with the selected stream; without a specifier all streams are
// selected.
type in struct {
	url, specifier string
	options        []ffmpeggo.KwArgs
}

// command is the request to both packages.
type command struct {
	inputs  []in
	url     string
	options []ffmpeggo.KwArgs
	global  []string
}

func (c command) args() []string {
	var streams []*ffmpeggo.Stream
	for _, i := range c.inputs {
		s := ffmpeggo.Input(i.url, i.options...)
		if i.specifier != "" {
			s = s.Get(i.specifier)
		}
		streams = append(streams, s)
	}
	return ffmpeggo.Output(streams, c.url, c.options...).GlobalArgs(c.global...).GetArgs()
}

func (c command) original() []string {
	var streams []*original.Stream
	for _, i := range c.inputs {
		s := original.Input(i.url, theirs(i.options)...)
		if i.specifier != "" {
			s = s.Get(i.specifier)
		}
		streams = append(streams, s)
	}
	return original.Output(streams, c.url, theirs(c.options)...).GlobalArgs(c.global...).GetArgs()
}

func theirs(all []ffmpeggo.KwArgs) []original.KwArgs {
	var converted []original.KwArgs
	for _, some := range all {
		args := original.KwArgs{}
		for name, value := range some {
			args[name] = value
		}
		converted = append(converted, args)
	}
	return converted
}

// TestAsOriginal checks for the same lists as the original's.
func TestAsOriginal(t *testing.T) {
	t.Parallel()
	type args = []ffmpeggo.KwArgs
	for name, c := range map[string]command{
		"nothing but files": {inputs: []in{{url: "a.mov"}}, url: "b.mp4"},
		"one stream":        {inputs: []in{{url: "a.mov", specifier: "3"}}, url: "pipe:1", global: []string{"-nostdin"}},
		"options, sorted": {
			inputs: []in{{url: "pipe:0", specifier: "v", options: args{{"ss": "1.5", "f": "matroska", "protocol_whitelist": "pipe", "c:v": "libvpx-vp9"}}}},
			url:    "pipe:1", options: args{{"vf": "select='not(mod(n,2))',format=rgba", "f": "nut", "c:v": "rawvideo", "an": ""}},
			global: []string{"-y", "-loglevel", "error"},
		},
		"options twice": {
			inputs: []in{{url: "a", options: args{{"f": "mov", "t": "1"}, {"f": "gif", "ss": "2"}}}},
			url:    "b", options: args{{"crf": "1", "b:v": "0"}, {"crf": "2"}},
		},
		"sound from another file": {
			inputs: []in{{url: "pipe:0", specifier: "v", options: args{{"f": "matroska"}}}, {url: "file:a.mov", specifier: "a:0", options: args{{"f": "mov", "itsoffset": "-1"}}}},
			url:    "file:b.webm", options: args{{"f": "webm", "c:a": "copy"}}, global: []string{"-y"},
		},
		"sound from the same file":   {inputs: []in{{url: "a", specifier: "v"}, {url: "a", specifier: "a:0"}}, url: "b"},
		"one file, different places": {inputs: []in{{url: "a", specifier: "v"}, {url: "a", specifier: "a", options: args{{"ss": "1"}}}}, url: "b"},
		"all of two files":           {inputs: []in{{url: "a"}, {url: "b"}}, url: "c"},
		"no value for the format":    {inputs: []in{{url: "a", options: args{{"f": ""}}}}, url: "b", options: args{{"f": ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.original(), c.args()); diff != "" {
				t.Errorf("original −, ours +:\n%s", diff)
			}
		})
	}
}

// TestMisuse checks for panics where the original panics.
func TestMisuse(t *testing.T) {
	t.Parallel()
	for name, misuse := range map[string]func(){
		"stream of a stream": func() { ffmpeggo.Input("a").Video().Get("0") },
		"no stream":          func() { ffmpeggo.Output(nil, "a") },
		"no output":          func() { ffmpeggo.Input("a").Output("") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("there was no panic")
				}
			}()
			misuse()
		})
	}
}
