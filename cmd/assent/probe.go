package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assent/agent"
	"assent/agent/model/openai"
)

// server asks the model server what a session needs of it: no more than the list of
// models, a short answer and one call.
func (d *doctor) server(ctx context.Context, cfg config) {
	switch cfg.Provider {
	case "replay":
		if d.failed["settings"] { // it can't be read
			return
		}
		d.ok("server", "none is needed, replies come from the file %s", cfg.Model)
		return
	case "demo":
		d.ok("server", "none is set up, so the built-in demo answers")
		for _, offer := range offers(openai.FindLocal(ctx)) {
			d.ok("local", "%s", offer)
		}
		return
	}
	options := cfg.modelOptions()
	options.Model = orDefault(options.Model, "any")
	model, err := openai.New(options)
	if err != nil || !d.list(ctx, cfg, options) || cfg.Model == "" { // all of which is said
		return
	}
	p := &probe{model: model, timeout: d.timeout}
	if d.answer(ctx, p) {
		d.call(ctx, p)
	}
}

// list finds out whether the server can be reached, and which models it has. It
// reports whether there is a server to ask more.
func (d *doctor) list(ctx context.Context, cfg config, options openai.Options) bool {
	checking, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	names, err := openai.Models(checking, options)
	if ctx.Err() != nil {
		return false
	}
	failed, _ := errors.AsType[*agent.ModelError](err)
	switch {
	case err == nil:
		d.ok("server", "%s answers", cfg.place())
	case failed == nil || failed.Status == 0:
		d.bad("server", noAnswer(err, d.timeout), remedy(err))
		return false
	case failed.Kind == agent.ErrorAuth:
		d.bad("server", failed.Error(), "")
		return false
	default: // it is there, and may do without a list
		d.ok("server", "%s answers", cfg.place())
		d.ok("models", "no list of models came (HTTP %d), which is no fault: some servers have none", failed.Status)
		return true
	}
	switch {
	case cfg.Model == "":
		d.ok("models", "%s: %s", plural(len(names), "model"), strings.Join(names[:min(len(names), 20)], ", "))
	case len(names) == 0:
		d.ok("models", "the list of models is empty")
	case slices.Contains(names, cfg.Model), slices.Contains(names, cfg.Model+":latest"): // as Ollama reads it
		d.ok("models", "%s, and %s is one of them", plural(len(names), "model"), cfg.Model)
	default:
		d.bad("models", fmt.Sprintf("%s is not one of its %s", cfg.Model, plural(len(names), "model")), "name one that is, such as "+strings.Join(closest(cfg.Model, names, 3), ", "))
	}
	return true
}

// answer wants a reply, in pieces. It reports whether there was one.
func (d *doctor) answer(ctx context.Context, p *probe) bool {
	got, err := p.ask(ctx, agent.Request{Messages: []agent.Message{agent.UserText("Count from one to twenty in words, and say nothing else.")}})
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		d.bad("answer", noAnswer(err, d.timeout), remedy(err))
		return false
	}
	for _, note := range got.learned {
		d.ok("note", "%s", note)
	}
	text := strings.TrimSpace(got.reply.Text())
	switch {
	case got.reply.Stop == agent.StopTruncated:
		d.bad("answer", "the answer to a short question was cut at the limit of tokens", "set max_tokens higher, or leave it out")
	case got.reply.Stop == agent.StopRefused:
		d.bad("answer", "the model, or a filter of its server, refused a harmless question", "use another model")
	case text == "":
		d.bad("answer", "the answer has no text", "use another model, or look at the log of the server")
	default:
		d.ok("answer", "it answers, the first byte after %d ms, the whole in %d ms", got.first.Milliseconds(), got.whole.Milliseconds())
	}
	if got.pieces > 1 {
		d.ok("stream", "it streams: %d pieces", got.pieces)
	} else if text != "" {
		d.bad("stream", "the answer came in one piece, so you will see nothing until each reply is whole", "turn streaming on in the server, and buffering off in proxies before it")
	}
	return true
}

// echo is a tool of nothing: the model is asked to call it, and it is not run.
const echo = "assent_doctor_echo"

func echoSpec() agent.Spec {
	return agent.Spec{
		Name: echo, Description: "Repeats a text.", Tier: agent.TierRead,
		Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"what to repeat"}},"required":["text"],"additionalProperties":false}`),
	}
}

// call wants the model to call a tool, without which it can't do anything here.
func (d *doctor) call(ctx context.Context, p *probe) {
	got, err := p.ask(ctx, agent.Request{
		System:   "You test whether tools work. Call the tool that you are asked to call.",
		Messages: []agent.Message{agent.UserText("Call the tool " + echo + " with the text hello.")},
		Tools:    []agent.Spec{echoSpec()},
	})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		d.bad("tools", noAnswer(err, d.timeout), remedy(err))
		return
	}
	for _, note := range got.learned {
		d.ok("note", "%s", note)
	}
	if text, remedy := judgeCall(got.reply); text != "" {
		d.bad("tools", text, remedy)
		return
	}
	d.ok("tools", "it calls a tool, with valid arguments")
}

// judgeCall says what is wrong with the call that was asked for, and what to do.
func judgeCall(reply agent.Message) (text, remedy string) {
	const another = "choose a model that can call tools, or turn tool calling on in its server (vLLM: --enable-auto-tool-choice --tool-call-parser NAME, llama.cpp: --jinja)"
	uses := reply.ToolUses()
	if len(uses) == 0 {
		if reply.Stop == agent.StopTruncated {
			return "the reply was cut at the limit of tokens before it called a tool", "set max_tokens higher, or leave it out"
		}
		return fmt.Sprintf("asked to call a tool, the model answered in text (%q)", excerpt(reply.Text())), another
	}
	use := uses[0]
	var input map[string]any
	switch {
	case use.Invalid == agent.WrittenAsText:
		return "asked to call a tool, the model wrote the call into its text", another
	case use.Name != echo:
		return fmt.Sprintf("asked to call %s, the model called %q", echo, use.Name), "use a model that is better at calling tools"
	case use.Invalid != "":
		return "the model calls a tool, but " + use.Invalid, "use a model that is better at calling tools, or another parser of calls in its server"
	case json.Unmarshal(use.Input, &input) != nil:
		return "the model calls a tool, but its arguments are not one JSON object", "use a model that is better at calling tools, or another parser of calls in its server"
	}
	if said, ok := input["text"].(string); !ok || said == "" {
		return "the model calls a tool, but leaves out the argument that was asked for", "use a model that is better at calling tools"
	}
	return "", ""
}

// probe asks a model, each time within a limit.
type probe struct {
	model   agent.Model
	timeout time.Duration
}

// got is a reply and how it came.
type got struct {
	reply        agent.Message
	first, whole time.Duration
	pieces       int
	learned      []string // what is left out of requests from now on
}

// maxLearned is how often a request is put in other words: there are fewer to choose.
const maxLearned = 20

func (p *probe) ask(ctx context.Context, req agent.Request) (got, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var learned []string
	for {
		g, err := p.once(ctx, req)
		failed, ok := errors.AsType[*agent.ModelError](err)
		if !ok || failed.Kind != agent.ErrorUnsupported || len(learned) == maxLearned {
			g.learned = learned
			return g, err
		}
		learned = append(learned, failed.Error())
	}
}

func (p *probe) once(ctx context.Context, req agent.Request) (got, error) {
	var g got
	whole := false
	began := time.Now()
	for chunk, err := range p.model.Stream(ctx, req) {
		if err != nil {
			return g, err
		}
		if g.first == 0 {
			g.first = time.Since(began)
		}
		if chunk.Text != "" || chunk.Thinking != "" {
			g.pieces++
		}
		if chunk.Reply != nil {
			g.reply, whole = *chunk.Reply, true
		}
	}
	g.whole = time.Since(began)
	if !whole {
		return g, &agent.ModelError{Kind: agent.ErrorTruncated, Message: "the reply has no end"}
	}
	return g, nil
}

// noAnswer is an error of the server in words.
func noAnswer(err error, timeout time.Duration) string {
	if errors.Is(err, context.DeadlineExceeded) {
		if _, ok := errors.AsType[*agent.ModelError](err); !ok {
			return fmt.Sprintf("no answer within %v", timeout)
		}
	}
	return err.Error()
}

func excerpt(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return string(runes)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// closest are the n names that are most like one.
func closest(name string, names []string, n int) []string {
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
	return sorted[:min(n, len(sorted))]
}

// distance is how many letters differ; what one name has before or behind the other
// counts little.
func distance(a, b string) int {
	s, t := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if strings.Contains(string(s), string(t)) || strings.Contains(string(t), string(s)) {
		return max(len(s), len(t)) - min(len(s), len(t)) - 1000
	}
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		last := row[0]
		row[0] = i + 1
		for j := range t {
			change := last
			if s[i] != t[j] {
				change++
			}
			last = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(t)]
}
