package option

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// ParseTime reads a time in a clip: seconds (1.5), a duration (90s) or
// [hours:]minutes:seconds.
func ParseTime(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	total := 0.0
	parts := strings.Split(text, ":")
	for i, part := range parts {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v >= 0) || len(parts) > 3 || i > 0 && v >= 60 || v > 1e7 {
			return 0, errors.New("must be a time such as 1.5, 90s or 1:30.5")
		}
		total = total*60 + v
	}
	return time.Duration(total * float64(time.Second)), nil
}
