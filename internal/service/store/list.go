package store

import (
	"strconv"
	"strings"
)

// Places are n placeholders, from $1 on, as a list for IN.
func Places(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = "$" + strconv.Itoa(i+1)
	}
	return strings.Join(all, ", ")
}
