package batch

import "github.com/bgremove/bgremove/pkg/bgremove"

// The causes of this package's errors.
const (
	NoClips          bgremove.Cause = "no_clips"        // in any of the folders and those below
	NoClipsOnTop     bgremove.Cause = "no_clips_on_top" // in any of the folders; those below were not searched
	OnlyOutputs      bgremove.Cause = "only_outputs"    // the files that were named, or all in the folders, are outputs
	Forbidden        bgremove.Cause = "forbidden"       // a file or folder that must not be read
	BadObjectName    bgremove.Cause = "bad_object_name" // of an object, that names no file in a folder
	InputChanged     bgremove.Cause = "input_changed"   // while it was worked on
	OutIsFile        bgremove.Cause = "out_is_file"     // and not the folder of the outputs
	BadRecord        bgremove.Cause = "bad_record"      // a file of a manifest that is no record
	ManifestReadOnly bgremove.Cause = "manifest_read_only"
	OutReadOnly      bgremove.Cause = "out_read_only" // nothing can be created in the folder of the outputs
)
