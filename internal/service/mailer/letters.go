package mailer

import "fmt"

// Reset is the mail by which somebody sets a new password at a link. site is
// where the service is.
func Reset(to, site, link string) Message {
	return Message{To: to, Subject: "Set a new password", Text: fmt.Sprintf(`Somebody, probably you, asked for a new password for your account
at %s

Set it here, within an hour:

%s

If it was not you, there is nothing to do: your password stays as it is.
`, site, link)}
}

// Confirmation is the mail by which somebody confirms an address at a link.
func Confirmation(to, site, link string) Message {
	return Message{To: to, Subject: "Confirm your address", Text: fmt.Sprintf(`Somebody, probably you, made an account for this address
at %s

Confirm that it is yours, within 24 hours:

%s

If it was not you, there is nothing to do: without this the account can
submit nothing.
`, site, link)}
}
