package host

import (
	"fmt"

	"assent/agent"
)

// Mode is what a person lets a session do without a question.
type Mode string

const (
	ModeAsk         Mode = "ask"          // every edit is asked about; also the empty Mode
	ModePlan        Mode = "plan"         // there are no tools that change anything
	ModeAcceptEdits Mode = "accept_edits" // edits land unasked, but for protected and secret files
)

// ParseMode reads a mode; "" is [ModeAsk].
func ParseMode(text string) (Mode, error) {
	switch m := Mode(text); m {
	case "":
		return ModeAsk, nil
	case ModeAsk, ModePlan, ModeAcceptEdits:
		return m, nil
	}
	return "", fmt.Errorf("the mode %q is not known; use %s, %s or %s", text, ModeAsk, ModePlan, ModeAcceptEdits)
}

// tools are those that exist in the mode.
func (m Mode) tools(all []agent.Tool) []agent.Tool {
	if m != ModePlan {
		return all
	}
	var reads []agent.Tool
	for _, t := range all {
		if t.Spec().Tier == agent.TierRead {
			reads = append(reads, t)
		}
	}
	return reads
}

// policy answers for the person. What must be asked in every mode, the session
// asks whatever this says.
func (m Mode) policy() agent.Policy {
	if m != ModeAcceptEdits {
		return nil
	}
	return func(e agent.Effect) agent.Verdict {
		if _, ok := e.(agent.Edit); ok {
			return agent.Verdict{Do: agent.Allow, By: agent.ByMode}
		}
		return agent.Verdict{}
	}
}
