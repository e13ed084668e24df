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
	// trim left frames out.
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

// column is a placement as the database keeps it.
func (p *Placement) column() (sql.NullString, error) {
	if p == nil {
		return sql.NullString{}, nil
	}
	text, err := json.Marshal(p)
	return sql.NullString{String: string(text), Valid: true}, err
}

// placement reads it back.
func placement(column sql.NullString) (*Placement, error) {
	if !column.Valid {
		return nil, nil
	}
	p := new(Placement)
	return p, json.Unmarshal([]byte(column.String), p)
}
