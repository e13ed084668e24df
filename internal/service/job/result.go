package job

import (
	"database/sql"
	"encoding/json"
)

// Placement says where a job's input is in its output, so that both can be
// shown on top of each other: Window, a part of the input, lands on Target, a
// part of the output.
type Placement struct {
	Width  int  `json:"width"` // of the output
	Height int  `json:"height"`
	Source Size `json:"source"` // of the input, upright
	Window Box  `json:"window"` // with padding it may reach beyond the input
	Target Box  `json:"target"`
	// Start is when the output begins in the input, in seconds: above 0 where
	// trim or the option start left frames out.
	Start float64 `json:"start"`
}

// Size is that of a picture, in pixels.
type Size struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Box is a rectangle of a picture, in pixels.
type Box struct {
	X int `json:"x"`
	Y int `json:"y"`
	Size
}

// Quality says how an output looks.
type Quality struct {
	Kept     float64   `json:"kept"` // share of the input's visible area
	Warnings []Warning `json:"warnings"`
}

// Warning is something that may be wrong with an output.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"` // for people
}

// toColumn encodes an output's facts for the database; nil is null.
func toColumn[T any](v *T) (sql.NullString, error) {
	if v == nil {
		return sql.NullString{}, nil
	}
	text, err := json.Marshal(v)
	return sql.NullString{String: string(text), Valid: true}, err
}

// fromColumn reads it back.
func fromColumn[T any](column sql.NullString) (*T, error) {
	if !column.Valid {
		return nil, nil
	}
	v := new(T)
	return v, json.Unmarshal([]byte(column.String), v)
}
