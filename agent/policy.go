package agent

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

// rule is the policy's verdict on a part, narrowed by what no policy may allow.
func (s *Session) rule(p Part) Verdict {
	var v Verdict
	if s.cfg.Policy != nil {
		v = s.cfg.Policy(p.Effect)
	}
	if v.Do == Allow && mustAsk(p) {
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
