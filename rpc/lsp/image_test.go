package lsp

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"assent/agent"
	"assent/editors/fake"
)

const (
	pngHead = "\x89PNG\r\n\x1a\n"
	gifHead = "GIF89a"
)

func picture(kind, data string) fake.Image {
	return fake.Image{MIMEType: kind, Data: base64.StdEncoding.EncodeToString([]byte(data))}
}

func TestThePicturesOfAPromptReachTheModel(t *testing.T) {
	d := deskWith(t, fake.Options{}, map[string]string{"a.txt": "shown\n"})
	d.say(fake.Prompt{Text: "what is it?", Context: []fake.Context{{URI: d.uri("a.txt")}}, Images: []fake.Image{
		picture("image/png", pngHead+"\x00\xff"),
		picture("IMAGE/Jpeg", "\xff\xd8\xff\xe0"),
		picture("image/gif", gifHead),
		picture("image/webp", "RIFF....WEBPVP8 "),
	}})
	sent := d.model.asked(1).Messages
	blocks := sent[len(sent)-1].Blocks
	want := []agent.Block{
		agent.Image{MediaType: "image/png", Data: []byte(pngHead + "\x00\xff")},
		agent.Image{MediaType: "image/jpeg", Data: []byte("\xff\xd8\xff\xe0")},
		agent.Image{MediaType: "image/gif", Data: []byte(gifHead)},
		agent.Image{MediaType: "image/webp", Data: []byte("RIFF....WEBPVP8 ")},
	}
	if len(blocks) == 0 || !reflect.DeepEqual(blocks[1:], want) {
		t.Fatalf("the model was sent %q", blocks)
	}
	text, _ := blocks[0].(agent.Text)
	has(t, text.Text, "what is it?", "shown")
}

func TestPicturesThatAreNoneAreRefused(t *testing.T) {
	many := make([]fake.Image, 21)
	for i := range many {
		many[i] = picture("image/gif", gifHead)
	}
	png := picture("image/png", pngHead)
	for _, c := range []struct {
		name   string
		images []fake.Image
		says   string
	}{
		{"another type", []fake.Image{picture("image/svg+xml", "<svg/>")}, `image 1 of the prompt can't be used: the mimeType "image/svg+xml" is not known; use image/png,`},
		{"no type", []fake.Image{picture("", pngHead)}, `the mimeType "" is not known`},
		{"no base64", []fake.Image{png, {MIMEType: "image/png", Data: "iVBOR!"}}, "image 2 of the prompt can't be used: its data is no base64"},
		{"base64 of URLs", []fake.Image{{MIMEType: "image/jpeg", Data: "_9j_"}}, "no base64 in the standard alphabet"},
		{"base64 without padding", []fake.Image{{MIMEType: "image/png", Data: strings.TrimRight(png.Data, "=")}}, "with padding"},
		{"nothing", []fake.Image{{MIMEType: "image/png"}}, "it is empty"},
		{"a text", []fake.Image{picture("image/png", "hello")}, "no picture"},
		{"another kind than it says", []fake.Image{picture("image/png", gifHead)}, "its mimeType is image/png, but its bytes are image/gif"},
		{"too large", []fake.Image{picture("image/gif", gifHead+strings.Repeat("x", 20<<20))}, "larger than 20 MiB"},
		{"too many", many, "image 21 of the prompt can't be used: a prompt can have 20 images"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := deskWith(t, fake.Options{}, nil)
			_, err := d.Prompt(d.ctx, fake.Prompt{Text: "go", Images: c.images})
			if codeOf(err) != fake.CodeInvalidParams {
				t.Fatalf("the answer is %v", err)
			}
			has(t, err.Error(), c.says)
			if events := d.Events(); len(events) > 0 {
				t.Errorf("it began: %v", events)
			}
			d.say(fake.Prompt{Text: "and now?"})
		})
	}
}
