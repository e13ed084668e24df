//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"strings"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// The memory in bytes that a large upload may add to the process that receives
// it.
const (
	aimFiles = 20e6
	aimS3    = 40e6
)

// memory measures the memory that a large upload adds, on files and on S3.
func (b *bench) memory(ctx context.Context) (err error) {
	fmt.Printf("\nmemory added by an upload of %.0f MB\n", float64(b.uploadSize)/1e6)
	p, err := b.rig.SQLite()
	if err != nil {
		return err
	}
	if err := b.upload(ctx, "files", p, aimFiles); err != nil || b.versitygw == "" {
		return err
	}
	s3, err := b.rig.S3(ctx, b.versitygw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s3.Close()) }()
	if p, err = b.rig.SQLite(); err != nil {
		return err
	}
	if err := p.UseS3(s3); err != nil {
		return err
	}
	return b.upload(ctx, "S3", p, aimS3)
}

// upload measures the peak above the process's memory after a small upload.
func (b *bench) upload(ctx context.Context, where string, p *rig.Place, aim float64) (err error) {
	nodes, client, err := b.populate(ctx, p, "api")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(nodes)) }()
	send := func(size int64) error {
		body, contentType, length, err := longForm(size)
		if err == nil {
			_, err = client.Upload(ctx, nodes[0].URL, contentType, body, length)
		}
		return err
	}
	if err := send(1e6); err != nil {
		return err
	}
	added, err := nodes[0].PeakAdded(func() error { return send(b.uploadSize) })
	if err != nil {
		return err
	}
	show(where, fmt.Sprintf("%.1f MB", added/1e6), fmt.Sprintf("≤ %.0f MB", aim/1e6), added <= aim)
	return nil
}

// longForm is a form with a GIF of nearly size bytes, generated during the
// reading.
func longForm(size int64) (body io.Reader, contentType string, length int64, err error) {
	clip, n, err := rig.LongGIF(size)
	if err != nil {
		return nil, "", 0, err
	}
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	if _, err := w.CreateFormFile("file", "long.gif"); err != nil {
		return nil, "", 0, err
	}
	end := "\r\n--" + w.Boundary() + "--\r\n"
	length = int64(head.Len()) + n + int64(len(end))
	return io.MultiReader(&head, clip, strings.NewReader(end)), w.FormDataContentType(), length, nil
}
