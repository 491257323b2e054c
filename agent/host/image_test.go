package host_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/host"
)

const pngHead = "\x89PNG\r\n\x1a\n"

func TestThePicturesOfAPrompt(t *testing.T) {
	for _, c := range []struct{ name, data, kind, trouble string }{
		{"a PNG", pngHead + "…", "image/png", ""},
		{"a JPEG", "\xff\xd8\xff\xe0…", "image/jpeg", ""},
		{"an old GIF", "GIF87a…", "image/gif", ""},
		{"a GIF", "GIF89a…", "image/gif", ""},
		{"a WebP", "RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp", ""},
		{"another RIFF", "RIFF\x24\x00\x00\x00WAVEfmt ", "", "PNG, JPEG, GIF or WebP"},
		{"a RIFF that ends early", "RIFF\x24\x00\x00\x00WEB", "", "PNG, JPEG, GIF or WebP"},
		{"a text", "PNG", "", "PNG, JPEG, GIF or WebP"},
		{"nothing", "", "", "empty"},
		{"too much", pngHead + strings.Repeat("x", 20<<20), "", "larger than 20 MiB"},
		{"just not too much", pngHead + strings.Repeat("x", 20<<20-len(pngHead)), "image/png", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var images host.Images
			err := images.Add([]byte(c.data))
			if c.trouble != "" {
				if err == nil || !strings.Contains(err.Error(), c.trouble) || len(images) > 0 {
					t.Errorf("taken as %d images, the error is %v", len(images), err)
				}
				return
			}
			if err != nil || images[0].MediaType != c.kind || string(images[0].Data) != c.data {
				t.Errorf("the type is %v, the error %v", images, err)
			}
		})
	}
}

func TestAPromptHasTwentyPicturesAtMost(t *testing.T) {
	var images host.Images
	for i := range 21 {
		if err := images.Add([]byte(pngHead)); (err != nil) != (i == 20) {
			t.Fatalf("image %d: %v", i+1, err)
		}
	}
	var large host.Images
	data := append([]byte(pngHead), bytes.Repeat([]byte("x"), 20<<20-len(pngHead))...)
	for i := range 6 {
		if err := large.Add(data); (err != nil) != (i == 5) {
			t.Fatalf("large image %d: %v", i+1, err)
		}
	}
}

func TestPicturesStandBehindTheText(t *testing.T) {
	var images host.Images
	if err := images.Add([]byte(pngHead)); err != nil {
		t.Fatal(err)
	}
	want := []agent.Block{agent.Text{Text: "what is it?"}, agent.Image{MediaType: "image/png", Data: []byte(pngHead)}}
	if got := images.Prompt("what is it?"); got.Role != agent.RoleUser || !reflect.DeepEqual(got.Blocks, want) {
		t.Errorf("the message is %+v", got)
	}
}
