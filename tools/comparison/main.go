// Command comparison writes docs/comparison.md and its pictures: six clips by bgremove, by
// filters of ffmpeg, and by rembg and backgroundremover where they are in PATH with
// their models. It needs ffmpeg, and runs in the root of the repository:
//
//	go run ./tools/comparison -bin bin/bgremove
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"text/template"
	"time"
)

//go:embed page.md.tmpl
var text string

var page = template.Must(template.New("page").Parse(text))

// vp9 are the settings by which bgremove encodes, so that all do the same work.
const vp9 = "-c:v libvpx-vp9 -pix_fmt yuva420p -crf 28 -b:v 0 -deadline realtime -cpu-used 6"

// clip is one that is compared.
type clip struct {
	Name, Heading, Text string
	source              []string // arguments of ffmpeg that make it, but for its name
	filter              string   // of ffmpeg: the best that we found by hand
	path                string
	height              int // of its picture on the page, which is 240 wide
	Rows                []row
}

// row is what one way makes of a clip.
type row struct {
	Way, Command string
	Seconds      float64
	Size         int64 // bytes
}

// Kilobytes is the size, rounded.
func (r row) Kilobytes() int64 { return (r.Size + 500) / 1000 }

// way is a program that takes backgrounds out.
type way struct {
	name string
	// command is what a person types, CLIP being the input and FILTER the clip's; it writes
	// the file output.
	command, output string
}

// ways are all that there are; those whose program is missing are left out.
var ways = []way{
	{"bgremove", "bgremove remove CLIP -o cut.webm --crop=false", "cut.webm"},
	{"ffmpeg", "ffmpeg -v error -i CLIP -an -vf FILTER " + vp9 + " cut.webm", "cut.webm"},
	{"rembg", "sh -c 'mkdir frames cut && ffmpeg -v error -i CLIP frames/%04d.png && rembg p frames cut && ffmpeg -v error -framerate RATE -i cut/%04d.png " + vp9 + " cut.webm'", "cut.webm"},
	{"backgroundremover", "backgroundremover -i CLIP -tv -o cut.mov", "cut.mov"},
}

func main() {
	program := flag.String("bin", "bin/bgremove", "the `program`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *program)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "comparison:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program string) (err error) {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	b := &bench{dir: filepath.Join(os.TempDir(), fmt.Sprint("bgremove-comparison-", os.Getpid())), pictures: filepath.Join(root, "docs", "images", "comparison")}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := errors.Join(os.RemoveAll(b.pictures), os.MkdirAll(b.pictures, 0o755), os.MkdirAll(filepath.Join(b.dir, "bin"), 0o755)); err != nil {
		return err
	}
	if err := os.Symlink(program, filepath.Join(b.dir, "bin", "bgremove")); err != nil {
		return err
	}
	b.path = filepath.Join(b.dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	var missing []string
	for _, w := range ways[2:] {
		if _, err := exec.LookPath(w.name); err != nil {
			missing = append(missing, w.name)
		}
	}
	all := clips(filepath.Join(root, "testdata"))
	for i := range all {
		if err := b.compare(ctx, &all[i]); err != nil {
			return fmt.Errorf("%s: %w", all[i].Name, err)
		}
	}
	f, err := os.Create(filepath.Join(root, "docs", "comparison.md"))
	if err != nil {
		return err
	}
	version, err := exec.CommandContext(ctx, "ffmpeg", "-version").Output()
	err = errors.Join(err, page.Execute(f, map[string]any{
		"Clips": all, "Missing": strings.Join(missing, " and "), "Cores": runtime.NumCPU(), "FFmpeg": strings.Fields(string(version))[2],
	}))
	return errors.Join(err, f.Close())
}

// bench is where the commands run.
type bench struct {
	dir, pictures string
	path          string // PATH, with the program
}

// sh runs a command of the page.
func (b *bench) sh(ctx context.Context, command string) error {
	c := exec.CommandContext(ctx, "sh", "-euc", command)
	c.Dir, c.Env = b.dir, append(os.Environ(), "PATH="+b.path)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	return nil
}

// ffmpeg makes the file at the end of the arguments.
func (b *bench) ffmpeg(ctx context.Context, args ...string) error {
	c := exec.CommandContext(ctx, "ffmpeg", append([]string{"-nostdin", "-v", "error", "-y"}, args...)...)
	c.Dir = b.dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("ffmpeg %v: %w\n%s", args, err, out)
	}
	return nil
}

// compare does one clip in all ways and draws the results.
func (b *bench) compare(ctx context.Context, c *clip) error {
	if c.Name == "screen" { // the studio is drawn
		if err := b.sh(ctx, "bgremove remove "+c.source[1]+" --crop=false --bg gradient:#2fb457,#178a3c -o "+c.path); err != nil {
			return err
		}
	} else if err := b.ffmpeg(ctx, append(c.source, c.path)...); err != nil {
		return err
	}
	files := []string{c.path}
	for _, w := range ways {
		if _, err := exec.LookPath(w.name); err != nil && w.name != "bgremove" {
			continue
		}
		command := strings.NewReplacer("CLIP", c.path, "FILTER", c.filter, "RATE", "12").Replace(w.command)
		began := time.Now()
		if err := b.sh(ctx, command); err != nil {
			return err
		}
		took := time.Since(began).Seconds()
		info, err := os.Stat(filepath.Join(b.dir, w.output))
		if err != nil {
			return err
		}
		c.Rows = append(c.Rows, row{w.name, strings.Replace(command, " -v error", "", 1), took, info.Size()})
		kept := c.Name + "-" + w.name + filepath.Ext(w.output)
		files = append(files, kept)
		if err := errors.Join(os.Rename(filepath.Join(b.dir, w.output), filepath.Join(b.dir, kept)), os.RemoveAll(filepath.Join(b.dir, "frames")), os.RemoveAll(filepath.Join(b.dir, "cut"))); err != nil {
			return err
		}
	}
	return b.draw(ctx, c, files)
}

// draw shows a clip and results of it side by side, over pink.
func (b *bench) draw(ctx context.Context, c *clip, files []string) error {
	var args []string
	var graph, row strings.Builder
	for i, file := range files {
		if strings.HasSuffix(file, ".webm") {
			args = append(args, "-c:v", "libvpx-vp9")
		}
		args = append(args, "-i", file)
		fmt.Fprintf(&graph, "color=0xf2a6d8:s=240x%d:r=12[q%d];[%d]fps=12,scale=240:%d,format=rgba[c%d];[q%d][c%d]overlay=shortest=1[r%d];", c.height, i, i, c.height, i, i, i, i)
		fmt.Fprintf(&row, "[r%d]", i)
	}
	all := graph.String() + row.String() + fmt.Sprintf("hstack=inputs=%d:shortest=1", len(files))
	for _, out := range [][]string{
		{"-t", "2", "-c:v", "libwebp_anim", "-quality", "60", "-compression_level", "6", "-loop", "0", filepath.Join(b.pictures, c.Name+".webp")},
		{"-frames:v", "1", "-c:v", "libwebp", "-quality", "80", filepath.Join(b.pictures, c.Name+"-still.webp")},
	} {
		if err := b.ffmpeg(ctx, append(append(append([]string{}, args...), "-filter_complex", all), out...)...); err != nil {
			return err
		}
	}
	return nil
}
