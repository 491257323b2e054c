package journal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"assent/agent"
)

// text is a text on the wire: a JSON string, or {"base64":"…"}.
type text string

// UnmarshalJSON gets a value that was checked already. Most texts of some length
// have escapes; the others are spared a second parse.
func (t *text) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("null")):
		return nil
	case len(b) >= 2 && b[0] == '"' && bytes.IndexByte(b, '\\') < 0:
		*t = text(b[1 : len(b)-1])
		return nil
	case b[0] == '{':
		var w struct {
			Base64 *string `json:"base64"`
		}
		if err := json.Unmarshal(b, &w); err != nil {
			return err
		}
		if w.Base64 == nil {
			return fmt.Errorf("an object that is no text: it has no base64")
		}
		raw, err := base64.StdEncoding.DecodeString(*w.Base64)
		*t = text(raw)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}

func plainTexts(ts []text) []string {
	var list []string
	for _, t := range ts {
		list = append(list, string(t))
	}
	return list
}

func parseHash(t text) (agent.Hash, error) {
	var h agent.Hash
	if t == "" {
		return h, nil
	}
	raw, err := hex.DecodeString(string(t))
	if err != nil || len(raw) != len(h) {
		return h, fmt.Errorf("%q is not a hash", t)
	}
	return agent.Hash(raw), nil
}
