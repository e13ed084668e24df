package client_test

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
)

// TestEveryOption wants JobOptions to have every option of the specification, and
// all of them to be sent.
func TestEveryOption(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	var options client.JobOptions
	fill(reflect.ValueOf(&options).Elem())
	var got received
	url := flaky(t, func(_ int, r received, w http.ResponseWriter) { got = r; accept(w) })
	if _, err := quick(t, url, "key").Submit(t.Context(), client.File{Name: "a.gif", Content: strings.NewReader("content")}, options); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(maps.Keys(doc.Components.Schemas["Options"].Value.Properties))
	want = append(want, "webhookUrl") // of a submission, but no option; the last by name
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got.fields))); diff != "" {
		t.Errorf("options (-specification +sent):\n%s", diff)
	}
}

// fill gives each field of a struct a value.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int, reflect.Int64: // of times, too
			f.SetInt(20)
		case reflect.Float64:
			f.SetFloat(20)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		}
	}
}

// TestURL checks that the address of a file is sent in its place, and alone.
func TestURL(t *testing.T) {
	t.Parallel()
	var got received
	c := quick(t, flaky(t, func(_ int, r received, w http.ResponseWriter) { got = r; accept(w) }), "key")
	const url = "https://example.com/clip.mp4"
	if _, err := c.Submit(t.Context(), client.File{URL: url}, client.JobOptions{}); err != nil {
		t.Fatal(err)
	}
	if got.fields["fileUrl"] != url || got.name != "" {
		t.Errorf("%+v", got)
	}
	if _, err := c.Submit(t.Context(), client.File{URL: url, Path: "clip.mp4"}, client.JobOptions{}); err == nil {
		t.Error("a file of two places was sent")
	}
}
