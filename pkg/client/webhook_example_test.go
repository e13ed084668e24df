package client_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bgremove/bgremove/pkg/api"
)

// --8<-- [start:endpoint]

// endpoint prints the ends of jobs that a service sends, signed with the webhook's secret.
func endpoint(secret string) (http.HandlerFunc, error) {
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var event api.WebhookEvent
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = hook.Verify(body, r.Header)
		}
		if err == nil {
			err = json.Unmarshal(body, &event)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Println(event.Type, event.Data.ID)
		w.WriteHeader(http.StatusNoContent)
	}, nil
}

// --8<-- [end:endpoint]

// A program checks the signature of what a webhook sends it.
func Example_webhook() {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	handler, err := endpoint(secret)
	if err != nil {
		log.Fatal(err)
	}
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		log.Fatal(err)
	}
	at := time.Now()
	body := `{"type": "job.done", "data": {"id": "job_06dwb6z7mc3qjk8v1r5t9x2wne"}}`
	signature, err := signer.Sign("msg_1", at, []byte(body))
	if err != nil {
		log.Fatal(err)
	}
	for _, signed := range []string{signature, "v1,c29tZWJvZHkgZWxzZQ=="} {
		r := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(body))
		r.Header.Set(standardwebhooks.HeaderWebhookID, "msg_1")
		r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, fmt.Sprint(at.Unix()))
		r.Header.Set(standardwebhooks.HeaderWebhookSignature, signed)
		answer := httptest.NewRecorder()
		handler(answer, r)
		fmt.Println(answer.Code)
	}
	// Output:
	// job.done job_06dwb6z7mc3qjk8v1r5t9x2wne
	// 204
	// 400
}
