package agent

// Config says what a session is made of.
type Config struct {
	Policy Policy
}

// Session is a conversation.
type Session struct{ cfg Config }
