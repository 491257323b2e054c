package rpc_test

import (
	"encoding/hex"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"assent/rpc"
)

var (
	parseError = failed("null", rpc.CodeParse)
	invalid    = failed("null", rpc.CodeInvalidRequest)
)

var framed = []struct {
	name, in string
	want     []string
}{
	{"nothing", "", nil},
	{"blanks only", " \r\n\t\n", nil},
	{"a byte-order mark only", "\ufeff", nil},

	{"headers", frame(ping), []string{pong}},
	{"blanks before headers", "\r\n \n" + frame(ping), []string{pong}},
	{"a byte-order mark before headers", "\ufeff" + frame(ping), []string{pong}},
	{"two frames in one write", frame(ping) + frame(ping2), []string{pong, pong2}},
	{"lower case", "content-length: 45\r\n\r\n" + ping, []string{pong}},
	{"upper case", "CONTENT-LENGTH:45\r\n\r\n" + ping, []string{pong}},
	{"blanks in a header", "Content-Length:\t 45 \r\n\r\n" + ping, []string{pong}},
	{"Content-Type first", "Content-Type: application/vscode-jsonrpc; charset=utf8\r\n" + frame(ping), []string{pong}},
	{"Content-Type last", "Content-Length: 45\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" + ping, []string{pong}},
	{"other headers", "X-A: 1\r\nContent-Length: 45\r\nX-B:\r\n\r\n" + ping, []string{pong}},
	{"the same length twice", "Content-Length: 45\r\nContent-Length: 45\r\n\r\n" + ping, []string{pong}},
	{"LF only", "Content-Length: 45\n\n" + ping + "Content-Length: 45\n\n" + ping2, []string{pong, pong2}},
	{"blank lines between frames", frame(ping) + "\r\n\r\n" + frame(ping2) + "\n", []string{pong, pong2}},
	{"a long header after the length", "Content-Length: 45\r\nX-Long: " + strings.Repeat("a", 9000) + "\r\n\r\n" + ping + frame(ping2), []string{pong, pong2}},
	{"a header longer than the buffer", "X-Long: " + strings.Repeat("a", 200_000) + "\r\n" + frame(ping), []string{pong}},
	{"length 0, then in step", frame("") + frame(ping), []string{parseError, pong}},
	{"a garbage line before a header", "Debugger listening on ws://x\n" + frame(ping), []string{pong}},
	{"garbage between frames", frame(ping) + "warning: x is deprecated\n" + frame(ping2), []string{pong, pong2}},
	{"a long garbage line", strings.Repeat("g", 100_000) + "\n" + frame(ping), []string{pong}},
	{"no Content-Length", "X-A: 1\r\n\r\n" + frame(ping), []string{parseError, pong}},
	{"a body with a byte-order mark", frame("\ufeff"+ping) + frame(ping2), []string{pong, pong2}},
	{"blanks around a body", frame("\n "+ping+"\r\n") + frame(ping2), []string{pong, pong2}},
	{"a body that is not JSON", "Content-Length: 5\r\n\r\n{bad}" + frame(ping), []string{parseError, pong}},
	{"a body that is half JSON", frame(ping[:30]) + frame(ping), []string{parseError, pong}},
	{"two messages in a body", frame(ping+ping) + frame(ping), []string{parseError, pong}},
	{"the end in a header", frame(ping) + "Content-Len", []string{pong}},
	{"the end after a header", frame(ping) + "Content-Length: 45\r\n", []string{pong}},
	{"the end in a body", frame(ping) + frame(ping)[:50], []string{pong}},

	{"lines", ping + "\n" + ping2 + "\n", []string{pong, pong2}},
	{"a last line without end", ping, []string{pong}},
	{"lines with CRLF", ping + "\r\n" + ping2 + "\r\n", []string{pong, pong2}},
	{"blanks before lines", " \r\n\t" + ping + "\n", []string{pong}},
	{"a byte-order mark before lines", "\ufeff" + ping + "\n", []string{pong}},
	{"a byte-order mark before each line", "\ufeff" + ping + "\n\ufeff" + ping2, []string{pong, pong2}},
	{"a batch first", "[" + ping + "]\n" + ping + "\n", []string{invalid, pong}},
	{"blank lines", ping + "\n\n \r\n" + ping2 + "\n\n", []string{pong, pong2}},
	{"a line that is not JSON", ping + "\nwarning\n" + ping2 + "\n", []string{pong, parseError, pong2}},
	{"a line longer than the buffer", `{"jsonrpc":"2.0","id":1,"method":"ping","params":["` + strings.Repeat("a", 200_000) + `"]}` + "\n" + ping,
		[]string{`{"jsonrpc":"2.0","id":1,"result":"pong"}`, pong}},
	{"the end in a line", ping + "\n" + ping[:20], []string{pong, parseError}},
}

func TestFramesAreReadAsClientsWriteThem(t *testing.T) {
	for _, c := range framed {
		t.Run(c.name, func(t *testing.T) {
			for how, in := range map[string]io.Reader{
				"at once":         strings.NewReader(c.in),
				"a byte at once":  iotest.OneByteReader(strings.NewReader(c.in)),
				"half at once":    iotest.HalfReader(strings.NewReader(c.in)),
				"end with a byte": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				got, err := replay(t, in, rpc.Options{}, standard())
				if err != nil {
					t.Errorf("%s: Serve = %v", how, err)
				}
				same(t, got, c.want...)
			}
		})
	}
}

func TestTheOutputHasTheFramingOfTheInput(t *testing.T) {
	for _, c := range []struct {
		name    string
		framing rpc.Framing
		in, out string
	}{
		{"found headers", rpc.FramingAuto, frame(ping), frame(pong)},
		{"found lines", rpc.FramingAuto, ping + "\n", pong + "\n"},
		{"told headers", rpc.FramingHeaders, frame(ping), frame(pong)},
		{"told lines", rpc.FramingLines, ping + "\n", pong + "\n"},
		{"told headers, got a line first", rpc.FramingHeaders, ping + "\n" + frame(ping), frame(pong)},
		{"told lines, got garbage first", rpc.FramingLines, "hello\n", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not JSON: invalid character 'h' looking for beginning of value"}}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			if err := rpc.New(strings.NewReader(c.in), &out, rpc.Options{Framing: c.framing}).Serve(t.Context(), standard()); err != nil {
				t.Errorf("Serve = %v", err)
			}
			if out.String() != c.out {
				t.Errorf("written: %q\nwant: %q", out.String(), c.out)
			}
		})
	}
}

func TestALengthCountsBytesOfUTF8(t *testing.T) {
	in, err := hex.DecodeString("436f6e74656e742d4c656e6774683a2036390d0a0d0a" +
		"7b226a736f6e727063223a22322e30222c226964223a312c226d6574686f64223a22782f6563686f222c22706172616d73223a7b2274223a22c3a9e6bca2f09f9982227d7d")
	if err != nil {
		t.Fatal(err)
	}
	h := standard()
	h["x/echo"] = h["echo"]
	got, err := replay(t, strings.NewReader(string(in)+frame(ping)), rpc.Options{}, h)
	if err != nil {
		t.Errorf("Serve = %v", err)
	}
	same(t, got, pong, `{"jsonrpc":"2.0","id":1,"result":{"t":"é漢🙂"}}`)
}

func TestALoneSurrogateDoesNotBreakTheFrames(t *testing.T) {
	for _, text := range []string{`\ud83d`, `\udE42`, `\ude42\ud83d`, `a\ud83db`} {
		request := `{"jsonrpc":"2.0","id":"` + text + `","method":"echo","params":["` + text + `"]}`
		for _, in := range []string{frame(request) + frame(ping), request + "\n" + ping + "\n"} {
			got := replayed(t, in)
			if len(got) != 2 || got[0] != pong && got[1] != pong {
				t.Errorf("%s: written: %q", text, got)
			}
		}
	}
}

func TestALengthThatCantBeBelievedEndsTheConnection(t *testing.T) {
	for _, length := range []string{"-5", "-1", "99999999999", "9999999999999999999999", "", "x", "4 5", "0x2d", "45, 45", strings.Repeat("9", 1000)} {
		t.Run(length[:min(len(length), 30)], func(t *testing.T) {
			in := frame(ping) + "Content-Length: " + length + "\r\n\r\n" + ping + frame(ping)
			got, err := replay(t, strings.NewReader(in), rpc.Options{}, standard())
			if err == nil || !strings.Contains(err.Error(), "Content-Length") || len(err.Error()) > 200 {
				t.Errorf("Serve = %v", err)
			}
			same(t, got, parseError, pong)
		})
	}
	in := "Content-Length: 45\r\nContent-Length: 46\r\n\r\n" + ping
	if _, err := replay(t, strings.NewReader(in), rpc.Options{}, standard()); err == nil {
		t.Error("two lengths: Serve = nil")
	}
}

func TestALengthAloneTakesNoMemory(t *testing.T) {
	in := "Content-Length: 67108864\r\n\r\n" + ping
	per := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = replay(b, strings.NewReader(in), rpc.Options{}, standard())
		}
	}).AllocedBytesPerOp()
	if per > 1<<20 {
		t.Errorf("%d bytes were allocated for a message that did not come", per)
	}
}

func TestAMessageThatIsTooLargeIsLeftOut(t *testing.T) {
	long := func(n int) string { // a ping of n bytes
		return ping[:len(ping)-1] + strings.Repeat(" ", n-len(ping)) + "}"
	}
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"headers, at the limit", frame(long(100)) + frame(ping2), []string{pong, pong2}},
		{"headers, over the limit", frame(long(101)) + frame(ping), []string{invalid, pong}},
		{"headers, far over it", frame(long(300_000)) + frame(ping), []string{invalid, pong}},
		{"headers, the end in it", frame(long(300_000))[:1000], nil},
		{"lines, at the limit", long(100) + "\n" + ping2, []string{pong, pong2}},
		{"lines, over the limit", long(101) + "\n" + ping, []string{invalid, pong}},
		{"lines, far over it", ping + "\n" + long(300_000) + "\n" + ping2, []string{pong, invalid, pong2}},
		{"lines, the last one", ping + "\n" + long(101), []string{pong, invalid}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := replay(t, strings.NewReader(c.in), rpc.Options{MaxMessage: 100}, standard())
			if err != nil {
				t.Errorf("Serve = %v", err)
			}
			same(t, got, c.want...)
		})
	}
}

func TestAFramingIsReadFromItsName(t *testing.T) {
	for name, want := range map[string]rpc.Framing{"auto": rpc.FramingAuto, "headers": rpc.FramingHeaders, "lines": rpc.FramingLines} {
		if got, err := rpc.ParseFraming(name); got != want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := rpc.ParseFraming("xml"); err == nil || !strings.Contains(err.Error(), `"xml"`) {
		t.Errorf("xml: %v", err)
	}
}
