package model

import (
	"errors"
	"fmt"
)

// Errors that callers only compare.
var (
	// ErrNotONNX means that a file holds no network, or only part of one.
	ErrNotONNX = errors.New("not a complete ONNX file")
	// ErrExternal means that an import would leave a network's weights behind.
	ErrExternal = errors.New("its weights lie in files of their own")
	// ErrNoRecord means that a network was put into the folder by hand, so that
	// nothing records its digest.
	ErrNoRecord = errors.New("it was not imported, so its sha256 is not known")
	// ErrExists means that an import's name is taken by other content.
	ErrExists = errors.New("another model has that name")
	// ErrBundled means that an operation on files was asked of Bundled.
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

// SidecarError is an unusable NAME.json beside a network.
type SidecarError struct {
	Path string
	Err  error
}

func (e *SidecarError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

func (e *SidecarError) Unwrap() error { return e.Err }

// OtherContentError means that an import has a name of the catalogue, but not
// that network's content.
type OtherContentError struct {
	Name string
	Err  error // a *fetch.DigestError
}

func (e *OtherContentError) Error() string {
	return fmt.Sprintf("not the network that the catalogue calls %s: %v", e.Name, e.Err)
}

func (e *OtherContentError) Unwrap() error { return e.Err }

// DamagedError means that an installed file has changed since its installation.
type DamagedError struct {
	Name     string
	Imported bool  // false if it is of the catalogue
	Err      error // a *fetch.DigestError or a *fetch.SizeError
}

func (e *DamagedError) Error() string { return fmt.Sprintf("model %s is damaged: %v", e.Name, e.Err) }

func (e *DamagedError) Unwrap() error { return e.Err }
