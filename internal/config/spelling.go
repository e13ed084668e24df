package config

import "strings"

// twins are flags and the other spelling of their names. Flags that end in -colour have
// one, too.
var twins = map[string]string{
	"accept-license": "accept-licence", "harmonise": "harmonize", "licences": "licenses", "no-colours": "no-colors",
}

// Spelling is the flag that a name in either spelling means, on the command line, in the
// file and in the environment.
func Spelling(name string) string {
	for flag, twin := range twins {
		if name == twin {
			return flag
		}
	}
	if stem, ok := strings.CutSuffix(name, "-color"); ok {
		return stem + "-colour"
	}
	return name
}

// spellings are a flag's name and its other spelling, if it has one.
func spellings(flag string) []string {
	if stem, ok := strings.CutSuffix(flag, "-colour"); ok {
		return []string{flag, stem + "-color"}
	}
	if twin, ok := twins[flag]; ok {
		return []string{flag, twin}
	}
	return []string{flag}
}
