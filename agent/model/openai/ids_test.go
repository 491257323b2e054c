package openai

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestIDsOnTheWire is case A44: ids of whatever form become ones that the server takes,
// the same each time, and no two the same.
func TestIDsOnTheWire(t *testing.T) {
	given := []string{"call_1", "functions.read:0", "functions.read:0|fc_0123456789abcdef0123456789abcdef0123456789", "", "ABCdef123", "ä", strings.Repeat("x", 41)}
	for i := range 3000 {
		given = append(given, fmt.Sprintf("call_%040d", i), fmt.Sprintf("%s%d", strings.Repeat("same beginning ", 5), i))
	}
	for form, want := range map[idForm]string{
		idsPlain: `^[A-Za-z0-9_-]{1,40}$`, idsAny: `^[A-Za-z0-9_.:-]{1,64}$`, idsNine: `^[A-Za-z0-9]{9}$`,
	} {
		takes := regexp.MustCompile(want)
		x, again, seen := newIDs(form), newIDs(form), map[string]string{}
		for _, id := range given {
			wire := x.of(id)
			if !takes.MatchString(wire) || x.of(id) != wire || again.of(id) != wire {
				t.Fatalf("form %d: %q is %q, then %q", form, id, wire, x.of(id))
			}
			if takes.MatchString(id) && wire != id {
				t.Errorf("form %d: %q would be taken and became %q", form, id, wire)
			}
			if other, taken := seen[wire]; taken {
				t.Fatalf("form %d: %q and %q are both %q", form, id, other, wire)
			}
			seen[wire] = id
		}
	}
}

// TestAnIDThatIsTakenIsNotGivenTwice: an id of the server may be the one that was made
// for another call before.
func TestAnIDThatIsTakenIsNotGivenTwice(t *testing.T) {
	x := newIDs(idsNine)
	made := x.of("long id of another server")
	if other := x.of(made); other == made || !idsNine.takes(other) {
		t.Errorf("%q is %q", made, other)
	}
}
