package agent

// Sizes of a request: bytes, which are counted, and tokens, which only the server
// can count.

const (
	bytesPerToken = 4    // of text, until the server has counted
	imageBytes    = 4000 // that a picture counts as: about a thousand tokens
)

// tokens is about how many tokens a request of so many bytes has.
func (s *Session) tokens(bytes int) int {
	return int(float64(bytes)/orDefault(s.density, bytesPerToken) + 0.5)
}

// count learns from what the server counted. A count that no text can have is of
// another kind, as of a server that leaves out what it had cached.
func (s *Session) count(bytes int, u Usage) {
	if u.Input == 0 {
		return
	}
	if density := float64(bytes) / float64(u.Input); density > 0.5 && density < 20 {
		s.density = density
	}
}

func textBytes(messages []Message) int {
	n := 0
	for _, m := range messages {
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case Text:
				n += len(b.Text)
			case Image:
				n += imageBytes
			case Thinking:
				n += len(b.Text)
			case ToolUse:
				n += len(b.Name) + len(b.Input) + len(b.RawInput)
			case ToolResult:
				n += len(b.Output)
			}
		}
	}
	return n
}

func specBytes(specs []Spec) int {
	n := 0
	for _, s := range specs {
		n += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	return n
}
