package agent

// Sizes of a request: bytes, which are counted, and tokens, which only the server
// can count.

const (
	bytesPerToken = 4    // of text, until the server has counted
	leastWindow   = 2000 // tokens: no model has less, whatever its server says
	imageBytes    = 4000 // that a picture counts as: about a thousand tokens
)

// tokens is about how many tokens a request of so many bytes has.
func (s *Session) tokens(bytes int) int {
	return int(float64(bytes)/orDefault(s.density, bytesPerToken) + 0.5)
}

// bytesOf is about how many bytes of text so many tokens are.
func (s *Session) bytesOf(tokens int) int {
	return int(float64(tokens) * orDefault(s.density, bytesPerToken))
}

// unsent is how many bytes the messages of the next request have, about.
func (s *Session) unsent() int { return s.bytes + textBytes(s.history[s.sound:]) }

// overflowed learns from a server that refused a request of so many bytes as too long.
// What it says of itself counts for more than what was set up, and that it refused for
// more than how we count. It reports false if the request can't have been too long, in
// whatever tokens: then nothing is to be learned.
func (s *Session) overflowed(e *ModelError, bytes int) bool {
	if bytes < leastWindow {
		return false
	}
	if e.Tokens > 0 {
		s.count(bytes, Usage{Input: e.Tokens})
	}
	limit := e.Limit
	if limit < leastWindow { // it did not say, or something that can't be: less than this
		limit = max(s.tokens(bytes)*9/10, leastWindow)
	}
	if s.window == 0 || limit < s.window {
		s.window = limit
	}
	if s.tokens(bytes) <= s.window { // it counts more tokens than we did
		s.density = float64(bytes) / (float64(s.window) * 1.1)
	}
	return true
}

// count learns from what the server counted. A count that no text can have is of
// another kind, as of a server that leaves out what it had cached, and so is one that
// does not grow with the text, as of a server that cuts it in silence.
func (s *Session) count(bytes int, u Usage) {
	grown := bytes > s.counted.bytes+s.counted.bytes/50
	stale := grown && s.counted.bytes > 0 && u.Input <= s.counted.tokens
	if u.Input == 0 || stale {
		return
	}
	s.counted.bytes, s.counted.tokens = bytes, u.Input
	if density := float64(bytes) / float64(u.Input); density > 1 && density < 12 {
		s.density = density
	}
}

// cutShort learns from a reply that the server cut after a few words: the window was
// full, though it did not say so.
func (s *Session) cutShort(reply Message) {
	const few = 16 // tokens
	full := reply.Usage.Input + reply.Usage.Output
	if reply.Stop == StopTruncated && reply.Usage.Output <= few && full >= leastWindow && (s.window == 0 || full < s.window) {
		s.window = full
	}
}

func textBytes(messages []Message) int {
	n := 0
	for _, m := range messages {
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case Text:
				n += len(b.Text)
			case Note:
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
