package model

import (
	"errors"
	"fmt"
)

// What callers only compare.
var (
	// ErrNotONNX is a file that holds no network, or not all of it.
	ErrNotONNX = errors.New("not a complete ONNX file")
	// ErrApart is an import of a network whose weights would be left behind.
	ErrApart = errors.New("its weights lie in files of their own")
	// ErrNoRecord is a network that was put into the folder by hand, so that
	// nothing tells its digest.
	ErrNoRecord = errors.New("it was not imported, so that its sha256 is not known")
	// ErrExists is an import under a name that is taken by other content.
	ErrExists = errors.New("another model has that name")
	// ErrBundled is what can be done with files only, asked for Bundled.
	ErrBundled = errors.New("the model " + Bundled + " is part of the program")
)

// NameError is a name that no model can have.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q is no model name: lower-case letters, digits, dots, dashes and underscores make one", e.Name)
}

// UnknownError is a name that neither the catalogue nor the cache knows.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no model %q", e.Name) }

// NotInstalledError is a model of the catalogue that has not been fetched.
type NotInstalledError struct{ Name string }

func (e *NotInstalledError) Error() string { return fmt.Sprintf("model %s is not installed", e.Name) }

// LicenceError is a licence that must be accepted first.
type LicenceError struct{ Model Model }

func (e *LicenceError) Error() string {
	return fmt.Sprintf("the licence of %s (%s) %s", e.Model.Name, e.Model.Licence, e.Model.Restricted())
}

// SidecarError is a NAME.json beside a network that cannot be used.
type SidecarError struct {
	Path string
	Err  error
}

func (e *SidecarError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

func (e *SidecarError) Unwrap() error { return e.Err }

// OtherContentError is an import under a name of the catalogue of what is not
// that network.
type OtherContentError struct {
	Name string
	Err  error // a *fetch.DigestError
}

func (e *OtherContentError) Error() string {
	return fmt.Sprintf("not the network that the catalogue calls %s: %v", e.Name, e.Err)
}

func (e *OtherContentError) Unwrap() error { return e.Err }

// DamagedError is an installed file that is not what was installed.
type DamagedError struct {
	Name     string
	Imported bool  // and not of the catalogue
	Err      error // a *fetch.DigestError or a *fetch.SizeError
}

func (e *DamagedError) Error() string { return fmt.Sprintf("model %s is damaged: %v", e.Name, e.Err) }

func (e *DamagedError) Unwrap() error { return e.Err }
