package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is a clip to submit: the file at Path, or Content, or what is at URL.
type File struct {
	Path string
	// URL is an https address that the service fetches the clip from, if its
	// operator lets it. Its file's name is found by the service, too.
	URL string
	// Name is the file's name for the service; its extension must be .gif,
	// .mp4, .mov or .webm. If empty, it is the base name of Path.
	Name string
	// Content is read from where it stands to its end. One that is an
	// io.Seeker too can be sent again when the connection breaks. Any other is
	// not tried again once it has begun to be read. It is not read any more
	// when the submission has returned, unless its context ended it.
	Content io.Reader
}

// fetched reports whether the service fetches the clip.
func (f File) fetched() bool {
	return f.URL != "" && f.Path == "" && f.Name == "" && f.Content == nil
}

// source is a File that is ready to be sent.
type source struct {
	name, path string
	content    io.Reader
	seeker     io.Seeker // nil where content can be read but once
	start      int64     // of content
	size       int64     // -1 is not known
	begun      bool      // content has begun to be read
}

// open looks at a file; nothing is held open yet.
func (f File) open() (*source, error) {
	s := &source{name: f.Name, path: f.Path, content: f.Content, size: -1}
	switch {
	case f.URL != "":
		return nil, errors.New("a file at a URL has no Path, Name or Content")
	case f.Content == nil && f.Path == "":
		return nil, errors.New("a file needs a Path, Content or a URL")
	case f.Content != nil && f.Path != "":
		return nil, errors.New("a file has either a Path or Content")
	case f.Content != nil && f.Name == "":
		return nil, errors.New("content needs a Name")
	case f.Content != nil:
		return s, s.measure()
	}
	if s.name == "" {
		s.name = filepath.Base(f.Path)
	}
	stat, err := os.Stat(f.Path)
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", f.Path)
	}
	s.size = stat.Size()
	return s, nil
}

// measure finds out whether content can be sent twice, and its size.
func (s *source) measure() error {
	seeker, ok := s.content.(io.Seeker)
	if !ok {
		return nil
	}
	start, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil // a pipe, which has the method but not the ability
	}
	end, err := seeker.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	if _, err := seeker.Seek(start, io.SeekStart); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.seeker, s.start, s.size = seeker, start, end-start
	return nil
}

// reader returns the content from its start. The caller closes it.
func (s *source) reader() (io.ReadCloser, error) {
	if s.path != "" {
		return os.Open(s.path)
	}
	if s.seeker != nil {
		if _, err := s.seeker.Seek(s.start, io.SeekStart); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	s.begun = true
	return io.NopCloser(s.content), nil
}

// spent reports whether the content cannot be sent again.
func (s *source) spent() bool { return s.begun && s.seeker == nil }
