package store

import (
	"strconv"
	"strings"
)

// List is a list of values for IN: its placeholders, from $1 on, and their arguments.
func List[T any](values []T) (places string, args []any) {
	all := make([]string, len(values))
	args = make([]any, len(values))
	for i, v := range values {
		all[i], args[i] = "$"+strconv.Itoa(i+1), v
	}
	return strings.Join(all, ", "), args
}
