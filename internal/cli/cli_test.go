package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdgif "image/gif"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bgremove/bgremove/internal/cli/clitest"
	"github.com/bgremove/bgremove/internal/synth"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bgremove": func() { clitest.Main(testCatalogue) },
		"draw":     draw,
		"gifinfo":  gifInfo,
		"network":  makeNetwork,
		"library":  makeLibrary,
	})
}

// TestScripts runs testdata/*.txtar: each is a session at the command line.
func TestScripts(t *testing.T) {
	t.Parallel()
	media, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			self, err := exec.LookPath("bgremove")
			if err != nil {
				return err
			}
			e.Setenv("MEDIA", media)
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "cache"))
			e.Setenv("BGREMOVE_ONNXRUNTIME", os.Getenv("BGREMOVE_ONNXRUNTIME"))
			e.Setenv("BINDIR", filepath.Dir(self))
			e.Setenv("TMPDIR", filepath.Join(e.WorkDir, "tmp"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "share"))
			return os.Mkdir(filepath.Join(e.WorkDir, "tmp"), 0o777)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"finish": finish,
			"json":   jsonField,
			"status": exitStatus,
			"probed": probed,
			"empty":  emptyFolder,
			"pixel":  pixel,
			"field":  patchField,
			"cut":    cutFile,
			"serve":  serveFolder,
			"sha256": fileDigest,

			"listening": listeningAt,
			"terminate": terminate,
			"keep":      keepOutput,
			"steps":     workflowSteps,

			"bucket":  startBucket,
			"put":     putObject,
			"objects": wantObjects,
		},
		Condition: func(cond string) (bool, error) {
			return cond == "networks" && os.Getenv("BGREMOVE_ONNXRUNTIME") != "", nil
		},
		RequireUniqueNames: true,
	})
}

// draw NAME.gif DELAY… draws a disc on green, with a frame for each delay in
// centiseconds. Equal delays in a row marked with = show the same picture.
func draw() {
	name, delays := os.Args[1], os.Args[2:]
	width, height := 64, 48
	if name == "dot.gif" {
		width, height = 1, 1
	}
	clip := synth.Clip{Width: width, Height: height, Frames: len(delays), Backdrop: synth.Green, Subject: synth.Gap}
	g := stdgif.GIF{LoopCount: 0}
	at := -1
	for _, d := range delays {
		still := strings.HasPrefix(d, "=")
		if !still || at < 0 {
			at++
		}
		n, err := strconv.Atoi(strings.TrimPrefix(d, "="))
		fail(err)
		img := synth.Palette(clip.Frame(at).Image, 64)
		g.Image = append(g.Image, paletted(img))
		g.Delay = append(g.Delay, n)
	}
	if v := os.Getenv("LOOP"); v != "" {
		var err error
		g.LoopCount, err = strconv.Atoi(v)
		fail(err)
	}
	f, err := os.Create(name)
	fail(err)
	fail(stdgif.EncodeAll(f, &g))
	fail(f.Close())
}

func paletted(img *image.NRGBA) *image.Paletted {
	index := map[color.NRGBA]uint8{}
	p := image.NewPaletted(img.Rect, nil)
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			c := img.NRGBAAt(x, y)
			i, ok := index[c]
			if !ok {
				i = uint8(len(index))
				index[c] = i
				p.Palette = append(p.Palette, c)
			}
			p.SetColorIndex(x, y, i)
		}
	}
	return p
}

// gifInfo FILE prints the standard library's reading of a file, which is
// independent of our own reader.
func gifInfo() {
	f, err := os.Open(os.Args[1])
	fail(err)
	g, err := stdgif.DecodeAll(f)
	fail(err)
	fmt.Printf("frames %d\ndelays %v\nloop %d\nsize %dx%d\n", len(g.Image), g.Delay, g.LoopCount, g.Config.Width, g.Config.Height)
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// json FIELD WANT checks a field of the JSON object on the last stdout.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json FIELD WANT")
	}
	var object map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &object))
	value, ok := object[args[0]]
	if got := fmt.Sprint(value); (got == args[1]) == neg || !ok {
		ts.Fatalf("%s is %s, want %s (negated: %v)", args[0], got, args[1], neg)
	}
}

// keep VARIABLE puts the last stdout into a variable.
func keepOutput(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// status CODE COMMAND… runs a command and checks its exit code.
func exitStatus(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// probed FILE ENTRIES WANT compares ffprobe's entries of the first video
// stream, as comma-separated values.
func probed(ts *testscript.TestScript, neg bool, args []string) {
	out, err := exec.Command("ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0",
		"-show_entries", args[1], "-of", "csv=p=0", ts.MkAbs(args[0])).Output()
	ts.Check(err)
	if got := strings.Join(strings.Fields(string(out)), " "); (strings.TrimRight(got, ",") == args[2]) == neg {
		ts.Fatalf("%s of %s is %q, want %q", args[1], args[0], got, args[2])
	}
}

// empty DIR checks that a folder is empty, counting hidden files.
func emptyFolder(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(entries) > 0 {
		ts.Fatalf("%s holds %v", args[0], entries)
	}
}

// pixel FILE.png X Y R,G,B,A checks a pixel, within 6 of each channel.
func pixel(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	img, err := png.Decode(f)
	ts.Check(err)
	x, _ := strconv.Atoi(args[1])
	y, _ := strconv.Atoi(args[2])
	c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
	for i, v := range []uint8{c.R, c.G, c.B, c.A} {
		want, err := strconv.Atoi(strings.Split(args[3], ",")[i])
		ts.Check(err)
		if d := int(v) - want; d < -6 || d > 6 {
			ts.Fatalf("pixel %d,%d is %v, want %s", x, y, c, args[3])
		}
	}
}

// cut FILE PERCENT NEW copies the first part of a file.
func cutFile(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.ReadFile(args[0])
	percent, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(data[:len(data)*percent/100]), 0o666))
}

// field FILE OFFSET HEX overwrites bytes of a file.
func patchField(ts *testscript.TestScript, _ bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b []byte
	_, err = fmt.Sscanf(args[2], "%x", &b)
	ts.Check(err)
	copy(data[at:], b)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}
