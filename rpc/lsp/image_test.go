package lsp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"assent/agent"
	"assent/editors/fake"
)

const (
	gifData  = "GIF89a\x01\x00\x01\x00\x00\x00\x00" // as far as its size
	webpData = "RIFF\x10\x00\x00\x00WEBPVP8 \x04\x00\x00\x00data"
)

func drawn(t *testing.T) (pngData, jpegData string) {
	t.Helper()
	var p, j bytes.Buffer
	dot := image.NewGray(image.Rect(0, 0, 1, 1))
	if err := errors.Join(png.Encode(&p, dot), jpeg.Encode(&j, dot, nil)); err != nil {
		t.Fatal(err)
	}
	return p.String(), j.String()
}

func picture(kind, data string) fake.Image {
	return fake.Image{MIMEType: kind, Data: base64.StdEncoding.EncodeToString([]byte(data))}
}

func TestThePicturesOfAPromptReachTheModel(t *testing.T) {
	d := deskWith(t, fake.Options{}, map[string]string{"a.txt": "shown\n"})
	pngData, jpegData := drawn(t)
	d.say(fake.Prompt{Text: "what is it?", Context: []fake.Context{{URI: d.uri("a.txt")}}, Images: []fake.Image{
		picture("image/png", pngData),
		picture("IMAGE/Jpeg", jpegData),
		picture("image/png", gifData), // its first bytes say what it is
		picture("application/octet-stream", webpData),
		picture("", gifData),
	}})
	sent := d.model.asked(1).Messages
	blocks := sent[len(sent)-1].Blocks
	want := []agent.Block{
		agent.Image{MediaType: "image/png", Data: []byte(pngData)},
		agent.Image{MediaType: "image/jpeg", Data: []byte(jpegData)},
		agent.Image{MediaType: "image/gif", Data: []byte(gifData)},
		agent.Image{MediaType: "image/webp", Data: []byte(webpData)},
		agent.Image{MediaType: "image/gif", Data: []byte(gifData)},
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
		many[i] = picture("image/gif", gifData)
	}
	gif := picture("image/gif", gifData)
	large := picture("image/gif", gifData+strings.Repeat("x", 5<<20-len(gifData)))
	for _, c := range []struct {
		name   string
		images []fake.Image
		says   string
	}{
		{"another type", []fake.Image{picture("image/svg+xml", "<svg/>")}, "image 1 of the prompt can't be used: it is no picture of a kind that models see; use PNG, JPEG, GIF or WebP"},
		{"no base64", []fake.Image{gif, {MIMEType: "image/png", Data: "iVBOR!"}}, "image 2 of the prompt can't be used: its data is no base64"},
		{"base64 of URLs", []fake.Image{{MIMEType: "image/jpeg", Data: "_9j_"}}, "no base64 in the standard alphabet"},
		{"base64 without padding", []fake.Image{{MIMEType: "image/gif", Data: strings.TrimRight(gif.Data, "=")}}, "with padding"},
		{"nothing", []fake.Image{{MIMEType: "image/png"}}, "it is empty"},
		{"a text", []fake.Image{picture("image/png", "hello")}, "no picture"},
		{"a picture that is cut", []fake.Image{picture("image/gif", gifData[:9])}, "can't be read as one"},
		{"too large", []fake.Image{picture("image/gif", gifData+strings.Repeat("x", 5<<20))}, "larger than 5 MiB"},
		{"a byte too large", []fake.Image{picture("image/gif", gifData+strings.Repeat("x", 5<<20-len(gifData)+1))}, "larger than 5 MiB"},
		{"too large together", []fake.Image{large, large, large, large, gif}, "image 5 of the prompt can't be used: the images are larger than 20 MiB together"},
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
