package mailer

import "fmt"

// Reset is the mail by which somebody sets a new password at a link, which works for
// the time that valid says. site is where the service is.
func Reset(to, site, link, valid string) Message {
	return Message{To: to, Subject: "Set a new password", Text: fmt.Sprintf(`Somebody, probably you, asked for a new password for your account
at %s

Set it here, within %s:

%s

If it was not you, there is nothing to do: your password stays as it is.
`, site, valid, link)}
}

// Confirmation is the mail by which somebody confirms an address at a link, likewise.
func Confirmation(to, site, link, valid string) Message {
	return Message{To: to, Subject: "Confirm your address", Text: fmt.Sprintf(`Somebody, probably you, made an account for this address
at %s

Confirm that it is yours, within %s:

%s

If it was not you, there is nothing to do: without this the account can
submit nothing.
`, site, valid, link)}
}
