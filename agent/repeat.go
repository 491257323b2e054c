package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

const (
	repeatHint = 3 // from this identical call on the model is told so, and writes are not asked again
	repeatStop = 5 // at this one the run stops

	cutStop = 3 // replies in a row that hit the output limit, at which the run stops
)

// stuck says why the run must stop although the model wants to go on; "" if it need not.
// goes says that it was given something to go on with.
func (r *run) stuck(reply Message, goes bool) StopReason {
	if reply.Stop == StopRepeated && !goes {
		return StopRepeated
	}
	if reply.Stop != StopTruncated {
		r.cut = 0
	} else if r.cut++; r.cut >= cutStop {
		return StopTruncated
	}
	if r.seen.tooOften {
		return StopRepeated
	}
	return ""
}

// repetition counts identical calls since the person last said something. Calls are
// identical when name and arguments are, whatever the order of keys and the white
// space. One whose answer changed starts again (waiting for something that runs is
// legitimate), and so does each read and command once an edit landed, or another
// command ran, which may have changed anything: but for that only so many times.
type repetition struct {
	counts   map[string]*repeated
	reply    map[string]bool // calls of this reply: twice in one counts once
	misses   map[string]int  // by path: replies in a row with an edit that met no text
	tooOften bool
}

type repeated struct {
	tier    Tier
	times   int
	excused int // by other commands, since its answer changed
	out     [sha256.Size]byte
}

const maxExcused = 3

func callKey(u ToolUse) string {
	if u.Invalid != "" {
		return u.Name + " " + u.RawInput
	}
	var input any
	dec := json.NewDecoder(bytes.NewReader(u.Input))
	dec.UseNumber()
	if dec.Decode(&input) != nil {
		return u.Name + " " + string(u.Input)
	}
	canonical, err := json.Marshal(input) // sorts the keys
	if err != nil {
		return u.Name + " " + string(u.Input)
	}
	return u.Name + " " + string(canonical)
}

// see counts a call and says the how-manieth it is.
func (s *repetition) see(u ToolUse, tier Tier) int {
	if s.counts == nil {
		s.counts = map[string]*repeated{}
	}
	if s.reply == nil {
		s.reply = map[string]bool{}
	}
	c := s.counts[callKey(u)]
	if c == nil {
		c = &repeated{tier: tier}
		s.counts[callKey(u)] = c
	}
	if !s.reply[callKey(u)] {
		s.reply[callKey(u)] = true
		c.times++
	}
	return c.times
}

// times says how often the call was seen.
func (s *repetition) times(u ToolUse) int {
	if c := s.counts[callKey(u)]; c != nil {
		return c.times
	}
	return 0
}

// learn takes what came of a call.
func (s *repetition) learn(u ToolUse, out string, landed bool) {
	if landed {
		for key, c := range s.counts {
			if c.tier != TierWrite {
				delete(s.counts, key)
			}
		}
		return
	}
	c := s.counts[callKey(u)]
	if c == nil {
		return
	}
	if sum := sha256.Sum256([]byte(out)); c.out != sum {
		if c.tier != TierWrite {
			c.times, c.excused = 1, 0
		}
		c.out = sum
	}
	if c.tier != TierRun && c.tier != TierRemote {
		return
	}
	for key, o := range s.counts {
		if key != callKey(u) && o.tier != TierWrite && o.excused < maxExcused {
			o.times, o.excused = 0, o.excused+1
		}
	}
}

// missed counts an edit that rests on a text that is not in its file, once in a reply,
// and says what to tell the model of it.
func (s *repetition) missed(path string) string {
	if s.misses == nil {
		s.misses = map[string]int{}
	}
	if key := "\x00" + path; !s.reply[key] { // no call has such a key
		s.reply[key] = true
		s.misses[path]++
	}
	n := s.misses[path]
	s.tooOften = s.tooOften || n >= repeatStop
	if n < repeatHint {
		return ""
	}
	return fmt.Sprintf("\n\nThis is failed edit number %d of this file in a row. Read it with read_file before the next one, and copy old_string from it; at number %d the turn is stopped.", n, repeatStop)
}

// met says that an edit of a file fits its text, so failures of it count anew.
func (s *repetition) met(path string) { delete(s.misses, path) }

// judge says how often a call came by now, and stops the run if that is too often.
func (s *repetition) judge(u ToolUse) int {
	n := s.times(u)
	if n >= repeatStop {
		s.tooOften = true
	}
	return n
}

func repeatNote(times int) string {
	return fmt.Sprintf("This is identical call number %d since you were asked, and its outcome does not change. Do something else, or answer with what you know; at call %d the turn is stopped.", times, repeatStop)
}
