package httpapi_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"io"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/httpapi"
)

// clip is a GIF of a red square that moves over white. It has a number of
// frames, each with a delay in hundredths of a second.
func clip(t testing.TB, frames, delay int) []byte {
	t.Helper()
	palette := color.Palette{color.White, color.RGBA{200, 30, 30, 255}}
	g := gif.GIF{}
	for i := range frames {
		p := image.NewPaletted(image.Rect(0, 0, 48, 40), palette)
		for y := 10; y < 30; y++ {
			for x := 8 + i; x < 24+i; x++ {
				p.SetColorIndex(x, y, 1)
			}
		}
		g.Image, g.Delay = append(g.Image, p), append(g.Delay, delay)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// field is a form's field; with a file name it is a file.
type field struct{ name, filename, value string }

func fileField(name string, content []byte) field { return field{"file", name, string(content)} }

func form(t testing.TB, fields ...field) (body []byte, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		create := w.CreateFormField
		if f.filename != "" {
			create = func(name string) (io.Writer, error) { return w.CreateFormFile(name, f.filename) }
		}
		p, err := create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte(f.value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), w.FormDataContentType()
}

// submit posts a form.
func (c *client) submit(path string, fields []field, header ...string) answer {
	c.Helper()
	body, contentType := form(c, fields...)
	return c.do(http.MethodPost, path, bytes.NewReader(body), append(header, "Content-Type", contentType)...)
}

const (
	jobs    = "/api/v1/jobs"
	batches = "/api/v1/batches"
)

// FuzzForm sends any bytes as a form, to an account that cannot pay. The form
// or the missing credits cause a refusal, and nothing is kept.
func FuzzForm(f *testing.F) {
	s := start(f, func(c *httpapi.Config) {
		c.MaxFile = 1000
		c.Rate = account.Rate{PerMinute: 60_000_000, Burst: 60_000_000}
		c.Throttle.Requests = c.Rate
	})
	key := s.key(s.user("ada@example.com", 0))
	body, _ := form(f, fileField("a.gif", []byte("GIF89a")), field{"pad", "", "12"}, field{"bgColor", "", "#ffffff"}, field{"", "", ""})
	_, boundary, _ := bytes.Cut(body, []byte("--"))
	boundary, _, _ = bytes.Cut(boundary, []byte("\r\n"))
	f.Add(bytes.ReplaceAll(body, boundary, []byte("x")))
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"file\"; filename*=utf-8''a%00.gif\r\n\r\n\r\n--x--"))
	f.Add([]byte("--x\r\n\r\n--x\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Disposition: form-data; name=trim\r\n\r\n=zz\r\n--x--"))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+jobs, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"X-Api-Key": {key}, "Content-Type": {"multipart/form-data; boundary=x"}}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		switch got.StatusCode {
		case http.StatusBadRequest, http.StatusPaymentRequired, http.StatusRequestEntityTooLarge:
		default:
			t.Errorf("got %d", got.StatusCode)
		}
		if kept, _ := filepath.Glob(filepath.Join(s.dir, "inputs", "*")); len(kept) > 0 {
			t.Errorf("%v are kept", kept)
		}
	})
}
