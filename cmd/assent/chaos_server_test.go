package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// chaosServer is a model server that fails as often as not. What it sends is drawn
// from its seed, and what of it was sent is in its log: the test believes that log
// and nothing that assent says of itself.
type chaosServer struct {
	seed  uint64
	slots *slots

	mu       sync.Mutex
	replies  []*chaosReply
	problems []string // of requests that were not in order
	bodies   []string
}

// chaosReply is what was made for one request, and how far it came.
type chaosReply struct {
	n      int
	fault  fault
	words  int // of its text
	body   []byte
	ends   []int // of the events in it
	finish int   // where in body the finish reason is said
	vague  bool  // more follows that, and nothing says that it is all
	calls  []chaosCall

	sent  int  // at most so many bytes of body went out
	whole bool // all of it did, and the end of the response
}

// chaosCall is a call, as a rule with a text in it that is in no other.
type chaosCall struct {
	marker string // "" if it has none
	file   string // where it lands; "" for a read
	slot   string // what it replaces there
	end    int    // where in the body of the reply its last byte is
}

// fault is what happens to a reply.
type fault string

const (
	faultNone     fault = "none"
	faultSlow     fault = "slow"   // with minutes of silence in it, now and then too many
	faultCut      fault = "cut"    // in one of the ways of cuts
	faultStall    fault = "stall"  // the connection stays open
	faultMute     fault = "mute"   // not even headers
	faultLimited  fault = "429"    // with or without a time to wait
	faultBroken   fault = "5xx"    //
	faultRefused  fault = "403"    // which must not be tried again
	faultEvent    fault = "event"  // an error in the stream
	faultPage     fault = "page"   // HTML
	faultEmpty    fault = "empty"  // a reply, but nothing in it
	faultNoStream fault = "nobody" // a stream without an event
	faultWritten  fault = "text"   // calls in the text
)

// chances are how often of a hundred times each fault is.
func chances() (all []fault) {
	for _, c := range []struct {
		fault fault
		times int
	}{
		{faultNone, 46}, {faultSlow, 6}, {faultCut, 16}, {faultStall, 7}, {faultMute, 2}, {faultLimited, 6}, {faultBroken, 6},
		{faultRefused, 1}, {faultEvent, 3}, {faultPage, 1}, {faultEmpty, 2}, {faultNoStream, 1}, {faultWritten, 3},
	} {
		all = append(all, slices.Repeat([]fault{c.fault}, c.times)...)
	}
	return all
}

func (s *chaosServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	reply, random := s.reply(request)
	a := &answer{ResponseWriter: w, request: r, reply: reply, random: random}
	switch reply.fault {
	case faultLimited:
		a.limit()
	case faultBroken:
		http.Error(w, `{"error":{"message":"overloaded"}}`, []int{500, 502, 503, 504, 529}[random.IntN(5)])
	case faultRefused:
		http.Error(w, `{"error":{"message":"not for you"}}`, http.StatusForbidden)
	case faultPage:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Please log in</body></html>")
	case faultNoStream:
		w.Header().Set("Content-Type", "text/event-stream")
	case faultMute:
		<-r.Context().Done()
	default:
		a.stream()
	}
}

// reply makes what is sent for a request, out of the seed and its number alone.
func (s *chaosServer) reply(request []byte) (*chaosReply, *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.replies)
	if err := checkChat(request); err != nil {
		s.problems = append(s.problems, fmt.Sprintf("request %d: %v", n, err))
	}
	random := rand.New(rand.NewPCG(s.seed, uint64(n)))
	var asked struct{ Tools []any }
	_ = json.Unmarshal(request, &asked) // checked above
	all := chances()
	reply := &chaosReply{n: n, fault: all[random.IntN(len(all))]}
	c := composer{reply: reply, random: random, slots: s.slots}
	c.compose(len(asked.Tools) > 0)
	s.replies = append(s.replies, reply)
	s.bodies = append(s.bodies, string(request))
	return reply, random
}

// answer sends one reply.
type answer struct {
	http.ResponseWriter
	request *http.Request
	reply   *chaosReply
	random  *rand.Rand
}

func (a *answer) limit() {
	switch a.random.IntN(4) {
	case 0:
		a.Header().Set("Retry-After", fmt.Sprint(1+a.random.IntN(40)))
	case 1:
		a.Header().Set("Retry-After", time.Now().Add(time.Duration(1+a.random.IntN(40))*time.Second).UTC().Format(http.TimeFormat))
	case 2:
		a.Header().Set("Retry-After", "86400") // too long to wait for
	}
	http.Error(a, `{"error":{"message":"slow down","type":"requests"}}`, http.StatusTooManyRequests)
}

// stream sends the body in pieces, as far as the fault lets it.
func (a *answer) stream() {
	body := a.reply.body
	a.Header().Set("Content-Type", "text/event-stream")
	upTo, cut := len(body), a.random.IntN(5)
	switch a.reply.fault {
	case faultCut, faultStall, faultEvent:
		upTo = a.random.IntN(len(body))
		switch a.random.IntN(4) { // the delicate places
		case 0:
			upTo = min(len(body)-1, max(0, a.reply.finish-40+a.random.IntN(80)))
		case 1:
			upTo = a.reply.endBefore(min(upTo, a.reply.finish-1))
		}
	}
	if a.reply.fault == faultEvent { // between two events, the finish not being one of them
		upTo = a.reply.endBefore(min(upTo, a.reply.finish-1))
	}
	if a.reply.fault == faultCut && cut == 1 || a.random.IntN(8) == 0 {
		a.Header().Set("Transfer-Encoding", "identity") // its end is that of the connection
	}
	if !a.send(body[:upTo]) {
		return
	}
	switch a.reply.fault {
	case faultCut:
		if cut >= 3 {
			a.request.Context().Value(chaosConn{}).(*pipe).reset.Store(cut == 4)
			panic(http.ErrAbortHandler)
		}
	case faultStall:
		a.stall(a.random.IntN(2) == 0)
	case faultEvent:
		_, _ = io.WriteString(a, `data: {"error":{"message":"The engine is overloaded","type":"server_error"}}`+"\n\n")
	default:
		a.reply.whole = true
	}
}

// endBefore is where the last event ends that ends before an offset.
func (r *chaosReply) endBefore(offset int) (end int) {
	for _, e := range r.ends {
		if e <= offset {
			end = e
		}
	}
	return end
}

// send reports whether the other side still listens.
func (a *answer) send(body []byte) bool {
	flush := http.NewResponseController(a.ResponseWriter).Flush
	if flush() != nil {
		return false
	}
	for len(body) > 0 {
		n := min(len(body), 1+a.random.IntN(400))
		if a.reply.fault == faultSlow && a.random.IntN(4) == 0 && !a.wait(4*time.Minute) {
			return false
		}
		a.reply.sent += n // before it is, so that no byte arrives that is not counted
		if _, err := a.Write(body[:n]); err != nil || flush() != nil {
			return false
		}
		body = body[n:]
	}
	return true
}

// stall keeps the connection open until the other side has had enough of it.
func (a *answer) stall(comments bool) {
	for a.wait(20 * time.Second) {
		if comments {
			_, _ = io.WriteString(a, ": still there\n\n")
			_ = http.NewResponseController(a.ResponseWriter).Flush()
		}
	}
}

func (a *answer) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-a.request.Context().Done():
		return false
	}
}

// pipes is a network within the process, so that no wait in it is a real one.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

// pipe is the client's end of a connection.
type pipe struct {
	net.Conn
	reset atomic.Bool // its end is not a clean one
}

func (p *pipe) Read(data []byte) (int, error) {
	n, err := p.Conn.Read(data)
	if errors.Is(err, io.EOF) && p.reset.Load() {
		err = syscall.ECONNRESET
	}
	return n, err
}

// served is the server's end, which knows the other one.
type served struct {
	net.Conn
	client *pipe
}

// chaosConn is the key of the client's end in the context of a request.
type chaosConn struct{}

func (p *pipes) dial() (net.Conn, error) {
	client, server := net.Pipe()
	end := &pipe{Conn: client}
	select {
	case p.conns <- served{server, end}:
		return end, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "pipe"} }
