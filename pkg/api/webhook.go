package api

import (
	"bytes"
	"encoding/json"
	"errors"
)

// UnmarshalJSON takes an object with the fields of a WebhookRequest alone. Without an address a
// secret is made, so a misspelt "url", or null, must not pass for none.
func (r *WebhookRequest) UnmarshalJSON(text []byte) error {
	type fields WebhookRequest
	var v *fields
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return err
	}
	if v == nil {
		return errors.New("null is no object")
	}
	*r = WebhookRequest(*v)
	return nil
}
