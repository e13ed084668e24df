// Command attack attacks a real server in ways that a review found harmful, and
// reports whether it holds. Servers run on SQLite and, if
// BGREMOVE_TEST_POSTGRES names a server, on PostgreSQL. It needs Linux and
// ffmpeg.
//
//	go run ./tools/attack -short
//	./tools/postgres.sh go run ./tools/attack -run 'uploads|headers'
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// attack is an attack that once did harm.
type attack struct {
	name string
	// what describes the attack.
	what string
	// flags start a server for this attack alone; nil uses the shared server.
	flags []string
	// only is the one database that it concerns; empty means all.
	only string
	// long excludes it from -short.
	long bool
	// run makes the attack. answer is the server's reaction, and err says why
	// that is wrong.
	run func(ctx context.Context, t *target) (answer string, err error)
}

// attacks returns all attacks in their order.
func attacks() []attack {
	return slices.Concat(fileAttacks, uploadAttacks, accountAttacks, creditAttacks, signInAttacks, strangerAttacks, storageAttacks, outageAttacks)
}

// within bounds an attack; an attack that the server survives takes much less.
const within = 3 * time.Minute

func main() {
	var c campaign
	binary := flag.String("bin", "", "the `binary` to attack; empty builds it")
	pattern := flag.String("run", "", "a `regexp` for the names of attacks")
	flag.BoolVar(&c.short, "short", false, "omit the long attacks")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := c.begin(ctx, *binary, *pattern)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

// errBroken means that an attack did harm, which has been reported already.
var errBroken = errors.New("the service does not hold")

// campaign is the state that all attacks share.
type campaign struct {
	rig      *rig.Rig
	short    bool
	chosen   *regexp.Regexp
	database string // sqlite or postgres

	held, broken int
}

// begin attacks on each available database.
func (c *campaign) begin(ctx context.Context, binary, pattern string) (err error) {
	if c.chosen, err = regexp.Compile(pattern); err != nil {
		return err
	}
	if binary == "" {
		c.rig, err = rig.Open(ctx)
	} else {
		c.rig, err = rig.Use(binary)
	}
	if err != nil {
		return err
	}
	databases := []string{"sqlite"}
	if os.Getenv("BGREMOVE_TEST_POSTGRES") != "" {
		databases = append(databases, "postgres")
	}
	for _, c.database = range databases {
		if err := c.round(ctx); err != nil {
			return errors.Join(err, c.rig.Close())
		}
	}
	fmt.Printf("%d attacks held, %d did not\n", c.held, c.broken)
	if c.broken > 0 {
		c.rig.End()
		fmt.Fprintln(os.Stderr, "logs and data are kept in", c.rig.Dir)
		return errBroken
	}
	return c.rig.Close()
}

// round makes all attacks on one database.
func (c *campaign) round(ctx context.Context) (err error) {
	fmt.Println(c.database)
	shared, err := c.open(ctx, "--signup", "open")
	if err != nil {
		return err
	}
	for _, a := range attacks() {
		if a.only != "" && a.only != c.database || a.long && c.short || !c.chosen.MatchString(a.name) {
			continue
		}
		began := time.Now()
		answer, err := c.run(ctx, a, shared)
		if ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), shared.close(ctx))
		}
		c.tell(a, answer, time.Since(began), err)
	}
	if err := shared.close(ctx); err != nil {
		c.tell(attack{name: "afterwards", what: "the state after the attacks"}, "", 0, err)
	}
	return nil
}

// run makes an attack on its server.
func (c *campaign) run(ctx context.Context, a attack, shared *target) (answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	t := shared
	if a.flags != nil {
		if t, err = c.open(ctx, a.flags...); err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, t.close(ctx)) }()
	}
	return a.run(ctx, t)
}

// tell prints the result of an attack.
func (c *campaign) tell(a attack, answer string, took time.Duration, err error) {
	verdict := "held"
	c.held++
	if err != nil {
		verdict = "BROKEN: " + oneLine(err)
		c.held--
		c.broken++
	}
	fmt.Printf("  %s: %s → %s (%.1f s): %s\n", a.name, a.what, answer, took.Seconds(), verdict)
}

// oneLine is an error without repetitions.
func oneLine(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}
