package workspace

import "assent/agent"

// What the tests, which cannot be in the package since agenttest imports it,
// need of its inside.

func Decode(data []byte) (text string, encoding int, err error) {
	text, enc, err := decode(data)
	return text, int(enc), err
}

func Encode(enc int, text string) ([]byte, error) { return encoding(enc).encode(text) }

// CreateInPlace makes a file as on a file system without links.
func (w *Workspace) CreateInPlace(path string, data []byte) error {
	t, err := w.find(path)
	if err != nil {
		return err
	}
	at, err := w.open(t)
	if err != nil {
		return err
	}
	defer at.close()
	return at.createInPlace(data)
}

// Confirm says what Apply says after a write of want, whatever is there by now.
func (w *Workspace) Confirm(path, want string, hunks []agent.Hunk) (agent.Landing, error) {
	l := &lander{w: w}
	t, err := w.find(path)
	if err != nil {
		return l.out, err
	}
	at, err := w.open(t)
	if err != nil {
		return l.out, err
	}
	defer at.close()
	l.confirm(at, want, hunks)
	return l.out, nil
}
