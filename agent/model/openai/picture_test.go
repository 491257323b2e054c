package openai_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/agenttest"
	"assent/agent/model/openai"
)

func shown(data string) string { return base64.StdEncoding.EncodeToString([]byte(data)) }

func showing(text string, pictures ...string) agent.Message {
	m := agent.UserText(text)
	for _, p := range pictures {
		m.Blocks = append(m.Blocks, agent.Image{MediaType: "image/png", Data: []byte(p)})
	}
	return m
}

// TestAPictureThatCannotBeReadDoesNotEndTheSession: it goes out with each later request
// too. Other pictures, also of other sessions, are shown as before.
func TestAPictureThatCannotBeReadDoesNotEndTheSession(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"Anthropic":         {400, `{"type":"error","error":{"type":"invalid_request_error","message":"Could not process image"}}`},
		"too large":         {400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"}}`},
		"too large for all": {413, `{"error":{"message":"The image is too large"}}`},
		"OpenAI":            {400, `{"error":{"message":"You uploaded an unsupported image. Please make sure your image is valid.","type":"invalid_request_error","param":"messages[0].content[1].image_url","code":"image_parse_error"}}`},
		"Invalid data":      {422, `{"detail":"Invalid image data"}`},
		"Gemini":            {400, `[{"error":{"code":400,"message":"Unable to process input image. Please retry or report","status":"INVALID_ARGUMENT"}}]`},
		"llama.cpp":         {400, `{"error":{"code":400,"message":"Failed to load image or audio file","type":"invalid_request_error"}}`},
		"Ollama":            {500, `{"error":"failed to process inputs: image: unknown format"}`},
		"vLLM":              {400, `{"object":"error","message":"cannot identify image file <_io.BytesIO object at 0x7f>","type":"BadRequestError","param":null,"code":400}`},
		"in an event":       {200, `{"error":{"message":"Could not process image","code":"invalid_request_error"}}`},
	} {
		for _, api := range []string{openai.APIChat, openai.APIResponses} {
			t.Run(name+" "+api, func(t *testing.T) {
				var bodies []map[string]any
				m := connect(t, picky(t, &bodies, func(req map[string]any) (int, string) {
					if text, _ := json.Marshal(req); strings.Contains(string(text), shown("bad")) {
						if c.status == 200 {
							return 200, "data: " + c.body + "\n\n"
						}
						return c.status, c.body
					}
					return 0, ""
				}), func(o *openai.Options) { o.API = api })
				retries, store := 0, &agenttest.Memory{}
				session, err := agent.New(agent.Config{Model: m, Store: store})
				if err != nil {
					t.Fatal(err)
				}
				for _, prompt := range []agent.Message{showing("look", "bad"), agent.UserText("and now?"), showing("look at this", "good")} {
					for event, err := range session.Run(t.Context(), prompt) {
						if err != nil {
							t.Fatal(err)
						}
						switch e := event.(type) {
						case agent.Retrying:
							retries++
							if said := e.Err.Error(); e.Wait != 0 || !strings.Contains(said, "the pictures in it are left out from now on: ") {
								t.Errorf("after %v: %s", e.Wait, said)
							}
						case agent.Done:
							if e.Reason != agent.StopComplete {
								t.Fatalf("the run ended as %s: %v", e.Reason, e.Err)
							}
						}
					}
				}
				last, _ := json.Marshal(bodies[len(bodies)-1])
				if retries != 1 || len(bodies) != 4 || !strings.Contains(string(last), shown("good")) || !strings.Contains(string(last), "a picture that") {
					t.Errorf("%d retries, %d requests, the last is %s", retries, len(bodies), last)
				}
			})
		}
	}
}

// Other complaints may speak of images too.
func TestPicturesAreLeftOutOnlyWhereTheyAreToBlame(t *testing.T) {
	for _, c := range []struct {
		status int
		said   string
	}{
		{400, "Invalid value for 'temperature'"},
		{401, "Invalid image key"},
		{429, "Too many images per minute"},
		{400, "The model `see-image-1` does not exist"},
		{400, "This model's maximum context length is 8192 tokens, however the images and messages have 9000 tokens"},
		{500, "the image of the container failed"},
	} {
		m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, c.said)
		}))
		if _, _, err := run(m, agent.Request{Messages: []agent.Message{showing("look", "x")}}); err == nil || strings.Contains(err.Error(), "pictures") {
			t.Errorf("%d %s: %v", c.status, c.said, err)
		}
	}
	m := connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		fmt.Fprint(w, `{"error":{"message":"Could not process image"}}`)
	}))
	if _, _, err := run(m, agent.Request{Messages: []agent.Message{agent.UserText("an image, please")}}); err == nil || strings.Contains(err.Error(), "left out") {
		t.Errorf("without a picture: %v", err)
	}
}
