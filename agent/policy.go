package agent

import "context"

// Policy answers for the person where a rule or a mode of theirs speaks. The nil
// Policy asks about everything.
//
// Whatever it answers, the session asks about secrets, about protected paths and
// about edits outside the workspace.
type Policy func(Effect) Verdict

// Verdict is a policy's answer. The zero Verdict asks the person.
type Verdict struct {
	Do     Ruling
	By     By     // ByRule, ByMode or ByHeadless
	Reason string // of a denial, for the model
}

// Ruling is what to do with an effect.
type Ruling int

const (
	Ask Ruling = iota
	Deny
	Allow
)

// rule is the policy's verdict on a part, narrowed by what no policy may allow. A
// policy that crashes or does not answer leaves the question to the person.
func (r *run) rule(p Part) Verdict {
	if r.s.cfg.Policy == nil {
		return Verdict{}
	}
	v, err := guard(r.ctx, r.s.cfg.ToolTimeout, func(context.Context) (Verdict, error) { return r.s.cfg.Policy(p.Effect), nil })
	if err != nil || v.Do == Allow && p.Alone {
		return Verdict{}
	}
	return v
}

func mustAsk(p Part) bool {
	switch p.Effect.(type) {
	case Edit:
		return p.Info.Protected || p.Info.Secret || p.Info.Outside || p.To.Protected || p.To.Secret || p.To.Outside
	case SecretRead:
		return true
	}
	return false
}
