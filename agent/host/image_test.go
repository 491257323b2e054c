package host_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"assent/agent"
	"assent/agent/host"
)

// pictures are one of each kind.
func pictures(t *testing.T) (pngData, jpegData, gifData string) {
	t.Helper()
	dot := image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black})
	var p, j, g bytes.Buffer
	for _, err := range []error{png.Encode(&p, dot), jpeg.Encode(&j, dot, nil), gif.Encode(&g, dot, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return p.String(), j.String(), g.String()
}

const webp = "RIFF\x10\x00\x00\x00WEBPVP8 \x04\x00\x00\x00data"

func TestThePicturesOfAPrompt(t *testing.T) {
	pngData, jpegData, gifData := pictures(t)
	none := "PNG, JPEG, GIF or WebP"
	for _, c := range []struct{ name, data, kind, trouble string }{
		{"a PNG", pngData, "image/png", ""},
		{"a JPEG", jpegData, "image/jpeg", ""},
		{"an old GIF", "GIF87a" + gifData[6:], "image/gif", ""},
		{"a GIF", gifData, "image/gif", ""},
		{"a WebP", webp, "image/webp", ""},
		{"another RIFF", "RIFF\x24\x00\x00\x00WAVEfmt ", "", none},
		{"a RIFF that ends early", "RIFF\x24\x00\x00\x00WEB", "", none},
		{"a text", "PNG", "", none},
		{"nothing", "", "", "empty"},
		{"the head of a PNG alone", pngData[:8], "", "can't be read"},
		{"a PNG with a broken head", pngData[:20] + "\xff" + pngData[21:], "", "can't be read"},
		{"a JPEG that is cut", jpegData[:20], "", "can't be read"},
		{"a GIF that is cut", gifData[:9], "", "can't be read"},
		{"a GIF of no size", "GIF89a\x00\x00\x00\x00" + gifData[10:], "", "can't be read"},
		{"a WebP that is cut", webp[:22], "", "can't be read"},
		{"a WebP of another kind", strings.Replace(webp, "VP8 ", "NONE", 1), "", "can't be read"},
		{"a JPEG of a rare kind", "\xff\xd8\xff\xc9\x00\x0b\x08\x00\x01\x00\x01\x01\x01\x11\x00", "image/jpeg", ""},
		{"too much", pngData + strings.Repeat("x", 5<<20), "", "larger than 5 MiB"},
		{"just not too much", pngData + strings.Repeat("x", 5<<20-len(pngData)), "image/png", ""},
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

func TestAPromptHasSoManyPicturesAtMost(t *testing.T) {
	pngData, _, _ := pictures(t)
	for _, c := range []struct {
		size, fit int
		says      string
	}{
		{len(pngData), 20, "a prompt can have 20 images; leave some out"},
		{5 << 20, 4, "the images are larger than 20 MiB together; leave some out"},
		{3 << 20, 6, "the images are larger than 20 MiB together; leave some out"},
	} {
		var images host.Images
		data := append([]byte(pngData), make([]byte, c.size-len(pngData))...)
		for i := range c.fit {
			if err := images.Add(data); err != nil {
				t.Fatalf("image %d of %d bytes: %v", i+1, c.size, err)
			}
		}
		if err := images.Add(data); err == nil || err.Error() != c.says || len(images) != c.fit {
			t.Errorf("one more of %d bytes: %v", c.size, err)
		}
	}
}

func TestPicturesStandBehindTheText(t *testing.T) {
	pngData, _, _ := pictures(t)
	var images host.Images
	if err := images.Add([]byte(pngData)); err != nil {
		t.Fatal(err)
	}
	want := []agent.Block{agent.Text{Text: "what is it?"}, agent.Image{MediaType: "image/png", Data: []byte(pngData)}}
	if got := images.Prompt("what is it?"); got.Role != agent.RoleUser || !reflect.DeepEqual(got.Blocks, want) {
		t.Errorf("the message is %+v", got)
	}
}
