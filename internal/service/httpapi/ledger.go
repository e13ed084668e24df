package httpapi

import (
	"context"
	"encoding/csv"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/pkg/api"
)

func entryBody(l account.Line) api.LedgerEntry {
	b := api.LedgerEntry{
		ID: l.ID, At: milliseconds(l.CreatedAt), Kind: api.LedgerEntryKind(l.Kind), Amount: l.Amount, Balance: l.Balance, Note: l.Note,
	}
	if l.JobID != "" {
		b.Job = &l.JobID
	}
	return b
}

// GetLedger is a page of how the account's credits moved.
func (o operations) GetLedger(ctx context.Context, in api.GetLedgerRequestObject) (api.GetLedgerResponseObject, error) {
	wanted, err := parseLimit(in.Params.Limit)
	if err != nil {
		return nil, err
	}
	from, err := parseBefore(in.Params.Before, account.IsEntryID)
	if err != nil {
		return nil, err
	}
	found, err := o.Ledger.Statement(ctx, requestFrom(ctx).account.ID, from, wanted+1)
	if err != nil {
		return nil, err
	}
	lines, last := pageOf(found, wanted)
	b := api.LedgerPage{Entries: bodies(lines, entryBody)}
	if last != nil {
		b.Next = &last.ID
	}
	return api.GetLedger200JSONResponse(b), nil
}

// GetLedgerCSV is all of the ledger.
func (o operations) GetLedgerCSV(ctx context.Context, _ api.GetLedgerCSVRequestObject) (api.GetLedgerCSVResponseObject, error) {
	next, stop := iter.Pull2(o.Ledger.All(ctx, requestFrom(ctx).account.ID))
	t := &table{next: next, stop: stop}
	var err error
	if t.line, err, t.more = next(); err != nil { // an immediate error can still be refused
		stop()
		return nil, err
	}
	return t, nil
}

// table is an answer of a ledger as CSV.
type table struct {
	line account.Line // the one to be written, if there are more
	more bool
	next func() (account.Line, error, bool)
	stop func()
}

// VisitGetLedgerCSVResponse implements api.GetLedgerCSVResponseObject.
func (t *table) VisitGetLedgerCSVResponse(w http.ResponseWriter) error {
	defer t.stop()
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", disposition("attachment", "bgremove-ledger.csv"))
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180
	_ = out.Write([]string{"at", "kind", "amount", "balance", "job", "note", "id"})
	for t.more && out.Error() == nil {
		l := t.line
		_ = out.Write([]string{ // its error is Error's
			l.CreatedAt.Format(time.RFC3339Nano), string(l.Kind), strconv.FormatInt(l.Amount, 10), strconv.FormatInt(l.Balance, 10),
			escapeFormula(l.JobID), escapeFormula(l.Note), l.ID,
		})
		var err error
		if t.line, err, t.more = t.next(); err != nil {
			panic(http.ErrAbortHandler) // the client must see that the table is cut
		}
	}
	out.Flush()
	return out.Error()
}

// escapeFormula is a text that no spreadsheet takes for a formula (OWASP, CSV
// injection).
func escapeFormula(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
