package cli

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/internal/service/server"
)

// check reads the flags with words and addresses, and joins all problems.
func (o *serveOptions) check() error {
	return errors.Join(o.checkWords(), o.location.check(), o.checkNumbers(), o.checkProxies(), o.checkPublicURL(), o.checkShop(), o.checkMail())
}

func (o *serveOptions) checkWords() error {
	o.Role = server.Role(o.role)
	o.Jobs.Unlimited, o.SignUp = o.credits == "unlimited", o.signUp == "open"
	switch o.fileURLs {
	case "public":
		o.FileURLs = outbound.Public()
	case "private":
		o.FileURLs = outbound.Private()
	}
	return errors.Join(
		checkWord("role", o.role), checkWord("credits", o.credits), checkWord("signup", o.signUp),
		checkWord("file-urls", o.fileURLs), checkWord("log-format", o.logFormat))
}

// checkWord refuses what is none of a flag's words.
func checkWord(flag, value string) error {
	if words := flagWords[flag]; !slices.Contains(words, value) {
		return fmt.Errorf("%s must be one of %s, not %q", flag, strings.Join(words, ", "), value)
	}
	return nil
}

// minSplit is the shortest duration of parts: each needs some seconds around it, too.
const minSplit = 10 * time.Second

func (o *serveOptions) checkNumbers() error {
	var errs []error
	for _, n := range []struct {
		flag  string
		value any
	}{
		{"slots", o.Slots}, {"max-running", o.Jobs.MaxRunning},
		{"rate", o.Rate.PerMinute}, {"burst", o.Rate.Burst},
		{"account-rate", o.AccountRate.PerMinute}, {"account-burst", o.AccountRate.Burst},
		{"max-file", o.MaxFile}, {"max-dimension", o.Limits.MaxDimension}, {"max-pixels", o.Limits.MaxPixels}, {"temp-space", o.TempSpace}, {"upload-space", o.UploadSpace},
		{"max-fps", o.Limits.MaxFPS}, {"pixel-rate", o.Limits.PixelRate},
		{"probe-cpu", o.Engine.ProbeLimits.CPU}, {"probe-memory", o.Engine.ProbeLimits.Memory},
		{"max-duration", o.Limits.MaxDuration}, {"time-limit", o.Jobs.TimeLimit}, {"drain", o.Drain},
		{"keep-inputs", o.Jobs.KeepInputs}, {"keep-outputs", o.Jobs.KeepOutputs}, {"keep-orphans", o.Jobs.KeepOrphans}, {"keep-jobs", o.Jobs.KeepJobs},
	} {
		if reflect.ValueOf(n.value).Int() <= 0 {
			errs = append(errs, fmt.Errorf("%s must be above 0, not %v", n.flag, n.value))
		}
	}
	if o.SplitOver != 0 && o.SplitOver < minSplit {
		errs = append(errs, fmt.Errorf("split-over must be at least %v, not %v", minSplit, o.SplitOver))
	}
	for flag, rate := range map[string]int{"rate": o.Rate.PerMinute, "account-rate": o.AccountRate.PerMinute} {
		if rate > account.MaxPerMinute {
			errs = append(errs, fmt.Errorf("%s must be at most %d, not %d", flag, account.MaxPerMinute, rate))
		}
	}
	if o.Jobs.Lease < job.MinLease {
		errs = append(errs, fmt.Errorf("lease must be at least %v, not %v", job.MinLease, o.Jobs.Lease))
	}
	return errors.Join(errs...)
}

func (o *serveOptions) checkProxies() error {
	var errs []error
	for _, text := range o.proxies {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("trusted-proxies: %q is not a network such as 10.0.0.0/8", text))
		}
		o.TrustedProxies = append(o.TrustedProxies, p)
	}
	return errors.Join(errs...)
}

func (o *serveOptions) checkPublicURL() error {
	if o.publicURL == "" {
		return nil
	}
	u, err := url.Parse(o.publicURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("public-url: %q is not an address such as https://clips.example", o.publicURL)
	}
	o.PublicURL = u
	return nil
}

// checkLocal refuses flags that would open a local service to others, or send its clips
// elsewhere: they may come from somebody else's file in the working directory.
func (o *serveOptions) checkLocal(f *pflag.FlagSet) error {
	if !o.Local {
		return nil
	}
	var errs []error
	for _, flag := range []struct{ name, addr string }{{"addr", o.Addr}, {"metrics-addr", o.MetricsAddr}} {
		if flag.addr == "" {
			continue
		}
		if err := server.CheckLocal(flag.addr); err != nil {
			errs = append(errs, fmt.Errorf("%s: with --local, %w", flag.name, err))
		}
	}
	for _, flag := range []struct {
		name  string
		wrong bool
	}{
		{"role", o.Role != server.All}, {"signup", o.SignUp}, {"credits", f.Changed("credits") && o.credits != "unlimited"},
		{"public-url", o.publicURL != ""}, {"trusted-proxies", len(o.proxies) > 0},
		{"stripe-key", o.Shop.Key != ""}, {"smtp", o.shop.smtp != ""},
		{"database", strings.HasPrefix(o.database, "postgres")}, {"storage", strings.HasPrefix(o.storage, "s3:")},
	} {
		if flag.wrong {
			errs = append(errs, fmt.Errorf("%s: not with --local, which is for one user of this machine", flag.name))
		}
	}
	return errors.Join(errs...)
}
