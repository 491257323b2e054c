package fake

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestInitializeOffersWhatTheOptionsSay(t *testing.T) {
	nothing := Options{
		NoReview: true, NoApprove: true, NoApplyEdit: true, NoDocumentChanges: true,
		NoResourceOperations: true, NoMessageRequest: true, NoProgress: true,
	}
	tests := []struct {
		name    string
		options Options
		has     []string
		lacks   []string
	}{
		{"a capable editor", Options{}, []string{
			`"processId":null`, `"rootUri":"file:///w%20s"`, `"applyEdit":true`, `"documentChanges":true`,
			`"resourceOperations"`, `"showMessage"`, `"workDoneProgress":true`, `"assent":{"approve":true,"review":true,"version":1}`,
		}, []string{"positionEncodings", "syncsAll", "initializationOptions"}},
		{"a plain editor", nothing, []string{`"showDocument"`}, []string{
			"applyEdit", "documentChanges", "resourceOperations", `"showMessage"`, "workDoneProgress", "experimental",
		}},
		{"an editor that says more", Options{
			ProcessID: 7, SyncsAll: true, Encodings: []string{"utf-8", "utf-16"}, InitializationOptions: map[string]string{"model": "m"},
		}, []string{`"processId":7`, `"syncsAll":true`, `"positionEncodings":["utf-8","utf-16"]`, `"initializationOptions":{"model":"m"}`}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, p := connect(t, tt.options)
			go func() { _, _ = e.Initialize(t.Context(), "/w s", "/other") }()
			m := p.expect("initialize")
			p.answer(m, `{"capabilities":{}}`)
			p.expect("initialized")
			for _, part := range tt.has {
				if !strings.Contains(string(m.Params), part) {
					t.Errorf("%s lacks %s", m.Params, part)
				}
			}
			for _, part := range tt.lacks {
				if strings.Contains(string(m.Params), part) {
					t.Errorf("%s has %s", m.Params, part)
				}
			}
		})
	}
}

func TestTheServerChoosesAmongTheOfferedEncodings(t *testing.T) {
	tests := []struct {
		offered []string
		chosen  string
		want    Encoding // "": an error
	}{
		{nil, `{}`, UTF16},
		{nil, `{"positionEncoding":"utf-8"}`, ""},
		{[]string{"utf-8"}, `{"positionEncoding":"utf-8"}`, UTF8},
		{[]string{"utf-32"}, `{"positionEncoding":"utf-32"}`, UTF32},
		{[]string{"utf-8"}, `{}`, UTF16},
		{[]string{"utf-7"}, `{"positionEncoding":"utf-7"}`, ""},
	}
	for _, tt := range tests {
		e, p := connect(t, Options{Encodings: tt.offered})
		go func() { p.answer(p.expect("initialize"), `{"capabilities":`+tt.chosen+`}`) }()
		_, err := e.Initialize(t.Context())
		if (err == nil) != (tt.want != "") || err == nil && e.Encoding() != tt.want {
			t.Errorf("%v, %s: %v, %v", tt.offered, tt.chosen, e.Encoding(), err)
		}
	}
}

func TestTextDocumentSyncHasThreeForms(t *testing.T) {
	for raw, want := range map[string]syncOptions{
		``:                                 {},
		`null`:                             {},
		`0`:                                {},
		`1`:                                {true, 1, true, false},
		`{"openClose":true}`:               {true, 0, false, false},
		`{"change":2,"save":true}`:         {false, 2, true, false},
		`{"save":{}}`:                      {false, 0, true, false},
		`{"save":{"includeText":true}}`:    {false, 0, true, true},
		`{"openClose":true,"save":false }`: {true, 0, false, false},
	} {
		if got, err := parseSync(json.RawMessage(raw)); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", raw, got, err, want)
		}
	}
	for _, raw := range []string{`"full"`, `{"save":7}`} {
		if _, err := parseSync(json.RawMessage(raw)); err == nil {
			t.Errorf("%s was taken", raw)
		}
	}
}

func TestPeopleEditInIncrements(t *testing.T) {
	e, p := start(t, Options{}, full)
	path := file(t, "ä.go", "package 𝄞\r\n")
	uri := URI(path)
	if err := e.OpenFile(path); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, p.expect("textDocument/didOpen").Params,
		`{"textDocument":{"uri":"`+uri+`","languageId":"go","version":1,"text":"package 𝄞\r\n"}}`)
	if err := e.Type(uri, at(0, 10, 10), "x"); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, p.expect("textDocument/didChange").Params, `{"textDocument":{"uri":"`+uri+`","version":2},"contentChanges":[
		{"range":{"start":{"line":0,"character":10},"end":{"line":0,"character":10}},"text":"x"}]}`)
	if err := e.Replace(uri, "𝄞x", "main"); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, p.expect("textDocument/didChange").Params, `{"textDocument":{"uri":"`+uri+`","version":3},"contentChanges":[
		{"range":{"start":{"line":0,"character":8},"end":{"line":0,"character":11}},"text":"main"}]}`)
	wantText(t, e, uri, "package main\r\n", 3)
	wantDisk(t, path, "package 𝄞\r\n")
	if got := e.Unsaved(); len(got) != 1 || got[0] != uri {
		t.Errorf("unsaved: %v", got)
	}
	if err := e.Save(uri); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, p.expect("textDocument/didSave").Params, `{"textDocument":{"uri":"`+uri+`"},"text":"package main\r\n"}`)
	wantDisk(t, path, "package main\r\n")
	if err := e.CloseFile(uri); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, p.expect("textDocument/didClose").Params, `{"textDocument":{"uri":"`+uri+`"}}`)
	if _, _, open := e.Text(uri); open || len(e.Unsaved()) != 0 {
		t.Error("it is still open")
	}
}

func TestWholeTextsAreSentWhereEitherSideWants(t *testing.T) {
	for name, tt := range map[string]struct {
		options Options
		server  string
	}{
		"the editor": {Options{FullSync: true}, full},
		"the server": {Options{}, `{"textDocumentSync":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			e, p := start(t, tt.options, tt.server)
			if err := errors.Join(e.OpenText("untitled:a", "one"), e.Replace("untitled:a", "one", "two")); err != nil {
				t.Fatal(err)
			}
			p.expect("textDocument/didOpen")
			wantJSON(t, p.expect("textDocument/didChange").Params,
				`{"textDocument":{"uri":"untitled:a","version":2},"contentChanges":[{"text":"two"}]}`)
		})
	}
}

func TestAServerThatWantsNothingHearsNothing(t *testing.T) {
	e, p := start(t, Options{}, `{}`)
	path := file(t, "a.txt", "one")
	uri := URI(path)
	err := errors.Join(e.OpenFile(path), e.Replace(uri, "one", "two"), e.Save(uri), e.CloseFile(uri), e.Notify("marker", nil))
	if err != nil {
		t.Fatal(err)
	}
	p.expect("marker")
	wantDisk(t, path, "two")
}

func TestAByteOrderMarkIsKeptOutOfTheText(t *testing.T) {
	e, p := start(t, Options{}, full)
	path := file(t, "a.txt", bom+"one")
	uri := URI(path)
	if err := errors.Join(e.OpenFile(path), e.Replace(uri, "one", "two"), e.Save(uri)); err != nil {
		t.Fatal(err)
	}
	if m := p.expect("textDocument/didOpen"); strings.Contains(string(m.Params), bom) {
		t.Errorf("%s has the mark", m.Params)
	}
	wantText(t, e, uri, "two", 2)
	wantDisk(t, path, bom+"two")
}

func TestWhatCannotBeDoneToADocumentIsAnError(t *testing.T) {
	e, _ := start(t, Options{}, full)
	latin := file(t, "latin1.txt", "\xe9")
	if err := errors.Join(e.OpenText("untitled:a", "𝄞")); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"open: no file":              e.OpenFile(latin + "x"),
		"open: no UTF-8":             e.OpenFile(latin),
		"open: twice":                e.OpenText("untitled:a", ""),
		"open: a text of no UTF-8":   e.OpenText("untitled:b", "\xff"),
		"type: not open":             e.Type("untitled:b", Range{}, "x"),
		"type: inside a character":   e.Type("untitled:a", at(0, 1, 2), "x"),
		"type: no UTF-8":             e.Type("untitled:a", Range{}, "\xff"),
		"replace: not there":         e.Replace("untitled:a", "b", "c"),
		"replace: half a character":  e.Replace("untitled:a", "𝄞", "\xf0"),
		"save: no file":              e.Save("untitled:a"),
		"save, close, flush: closed": errors.Join(e.Save("x:"), e.CloseFile("x:"), e.Flush("x:")),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	wantText(t, e, "untitled:a", "𝄞", 1)
}

func TestACallIsAnsweredOrFails(t *testing.T) {
	for _, framing := range []Framing{Headers, Lines} {
		e, p := connect(t, Options{Framing: framing})
		go func() {
			p.answer(p.expect("assent/prompt"), `{"sessionId":"s","stopReason":"complete","message":"é","turns":2,"usage":{"inputTokens":3,"outputTokens":4},"denied":1}`)
			p.send(`{"jsonrpc":"2.0","id":` + string(p.expect("a/b").ID) + `,"error":{"code":-5,"message":"no","data":[1]}}`)
		}()
		r, err := e.Prompt(t.Context(), Prompt{Text: "grüß"})
		if want := (PromptResult{"s", "complete", "é", 2, Usage{3, 4}, 1, nil}); err != nil || !reflect.DeepEqual(r, want) {
			t.Errorf("got %+v, %v", r, err)
		}
		var failure *Error
		if err := e.Call(t.Context(), "a/b", nil, nil); !errors.As(err, &failure) || failure.Code != -5 || string(failure.Data) != "[1]" {
			t.Errorf("got %v", err)
		}
	}
}

func TestACallThatIsGivenUpSendsACancelAndReturns(t *testing.T) {
	e, p := connect(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- e.Call(ctx, "slow", nil, nil) }()
	m := p.expect("slow")
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	wantJSON(t, p.expect("$/cancelRequest").Params, `{"id":`+string(m.ID)+`}`)
	p.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32800,"message":"cancelled"}}`)
	en, err := e.AwaitEntry(t.Context(), func(en Entry) bool { return en.FromServer && en.Response })
	if err != nil || en.Method != "slow" || en.ID != string(m.ID) {
		t.Errorf("got %+v, %v", en, err)
	}
}

func TestACancelledCallCanBeWaitedFor(t *testing.T) {
	e, p := connect(t, Options{})
	call, err := e.Start("slow", nil)
	if err != nil {
		t.Fatal(err)
	}
	m := p.expect("slow")
	if err := call.Cancel(); err != nil {
		t.Fatal(err)
	}
	p.expect("$/cancelRequest")
	p.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32800,"message":"cancelled"}}`)
	var failure *Error
	if err := call.Wait(t.Context(), nil); !errors.As(err, &failure) || failure.Code != CodeRequestCancelled {
		t.Errorf("got %v", err)
	}
}

func TestCallsEndWhenTheServerDoes(t *testing.T) {
	e, p := connect(t, Options{})
	result := make(chan error, 1)
	go func() { result <- e.Call(t.Context(), "slow", nil, nil) }()
	p.expect("slow")
	p.out.Close()
	if err := <-result; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := e.Call(t.Context(), "later", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := e.Await(t.Context(), func(Event) bool { return true }); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestFaultsOfTheServerAreKept(t *testing.T) {
	for name, tt := range map[string]struct{ wire, part string }{
		"a stray byte":            {"x", "inside a header"},
		"a line on stdout":        {"debug: x\n", "no frame"},
		"a length that is short":  {"Content-Length: 1\r\n\r\n{}", "no JSON object"},
		"a length that is long":   {"Content-Length: 3\r\n\r\n{}", "after 2 of 3"},
		"an answer to nothing":    {"Content-Length: 38\r\n\r\n" + `{"jsonrpc":"2.0","id":99,"result":{} }`, "waits for one"},
		"an event without a type": {"Content-Length: 74\r\n\r\n" + `{"jsonrpc":"2.0","method":"assent/event","params":{"seq":1,"event":{   }}}`, "no type"},
	} {
		t.Run(name, func(t *testing.T) {
			e, p := connect(t, Options{})
			p.write(tt.wire)
			p.out.Close()
			mustFault(t, e, tt.part)
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			e.conn.faults = nil // what a broken frame leaves behind it
		})
	}
}

func TestAServerThatDoesNotReadDoesNotHoldTheEditor(t *testing.T) {
	fromServer, out := io.Pipe()
	_, toServer := io.Pipe()
	e := New(fromServer, toServer, Options{})
	if err := e.Notify("never/read", nil); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if err := e.Close(); err == nil || !strings.Contains(err.Error(), "no longer reads") {
		t.Errorf("got %v", err)
	}
	if err := e.Notify("late", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestACallThatCannotBeWrittenFails(t *testing.T) {
	fromServer, out := io.Pipe()
	in, toServer := io.Pipe()
	e := New(fromServer, toServer, Options{})
	in.CloseWithError(errors.New("broken pipe"))
	if err := e.Call(t.Context(), "a", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	out.Close()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseCancelsThePersonAndHearsTheRest(t *testing.T) {
	asked := make(chan struct{})
	e, p := start(t, Options{Review: func(ctx context.Context, _ Review) (Answer, error) {
		close(asked)
		<-ctx.Done()
		return Answer{}, ctx.Err()
	}}, full)
	p.ask("assent/review", `{"proposalId":"p"}`)
	<-asked
	call, err := e.Start("slow", nil)
	if err != nil {
		t.Fatal(err)
	}
	m := p.expect("slow")
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	if _, more := <-p.in; more {
		t.Error("a closing editor sent something")
	}
	p.answer(m, `"heard"`)
	var heard string
	if err := call.Wait(t.Context(), &heard); err != nil || heard != "heard" {
		t.Errorf("got %q, %v", heard, err)
	}
	p.out.Close()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestShutdownThenExit(t *testing.T) {
	e, p := connect(t, Options{})
	go func() { p.answer(p.expect("shutdown"), "null") }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := e.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	p.expect("exit")
}
