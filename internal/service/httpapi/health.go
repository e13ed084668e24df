package httpapi

import (
	"context"
	"errors"

	"github.com/bgremove/bgremove/pkg/api"
)

// GetHealth says that the process answers.
func (o operations) GetHealth(context.Context, api.GetHealthRequestObject) (api.GetHealthResponseObject, error) {
	return api.GetHealth200JSONResponse{Status: api.HealthStatusOk}, nil
}

// GetReady says whether requests can be served.
func (o operations) GetReady(ctx context.Context, _ api.GetReadyRequestObject) (api.GetReadyResponseObject, error) {
	if err := o.Ready(ctx); err != nil {
		return nil, errors.Join(errNotReady, err)
	}
	return api.GetReady200JSONResponse{Status: api.HealthStatusOk}, nil
}
