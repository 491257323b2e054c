package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"

	"assent/agent"
)

// Limits of the pictures of one prompt: what model servers take. All of them have to
// fit into one frame of a dialect, in base64, beside the rest of the prompt.
const (
	MaxImageBytes = 5 << 20 // of one

	maxImages    = 20
	maxAllImages = 20 << 20 // bytes of all together
)

// ImageKinds are those that models see.
const ImageKinds = "PNG, JPEG, GIF or WebP"

// Images are the pictures of one prompt.
type Images []agent.Image

// Add takes a picture. Its first bytes tell its kind, whatever its name or a client
// says. One that can't be read is refused, since a server would refuse the prompt.
func (x *Images) Add(data []byte) error {
	all := len(data)
	for _, one := range *x {
		all += len(one.Data)
	}
	switch kind := imageType(data); {
	case len(data) == 0:
		return errors.New("it is empty; check the file")
	case len(data) > MaxImageBytes:
		return TooLarge()
	case kind == "":
		return fmt.Errorf("it is no picture of a kind that models see; use %s", ImageKinds)
	case len(*x) == maxImages:
		return fmt.Errorf("a prompt can have %d images; leave some out", maxImages)
	case all > maxAllImages:
		return fmt.Errorf("the images are larger than %d MiB together; leave some out", maxAllImages>>20)
	case !readable(kind, data):
		return errors.New("it begins as a picture does, but can't be read as one; check that it opens in a viewer")
	default:
		*x = append(*x, agent.Image{MediaType: kind, Data: data})
	}
	return nil
}

// TooLarge is the error for a picture that is, also before it was read.
func TooLarge() error {
	return fmt.Errorf("it is larger than %d MiB; make it smaller", MaxImageBytes>>20)
}

// Prompt is a message of the user with a text and then the pictures.
func (x Images) Prompt(text string) agent.Message {
	m := agent.UserText(text)
	for _, one := range x {
		m.Blocks = append(m.Blocks, one)
	}
	return m
}

// imageType is the media type of a picture, "" if it is none.
func imageType(data []byte) string {
	begins := func(with string) bool { return bytes.HasPrefix(data, []byte(with)) }
	switch {
	case begins("\x89PNG\r\n\x1a\n"):
		return "image/png"
	case begins("\xff\xd8\xff"):
		return "image/jpeg"
	case begins("GIF87a"), begins("GIF89a"):
		return "image/gif"
	case begins("RIFF") && len(data) >= 12 && string(data[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// readable reports whether the head of a picture says how large it is. Forms that only
// Go can't read are left to the server.
func readable(kind string, data []byte) bool {
	var size image.Config
	var err error
	switch r := bytes.NewReader(data); kind {
	case "image/png":
		size, err = png.DecodeConfig(r)
	case "image/jpeg":
		size, err = jpeg.DecodeConfig(r)
	case "image/gif":
		size, err = gif.DecodeConfig(r)
	case "image/webp":
		return readableWebP(data)
	}
	var rarePNG png.UnsupportedError
	var rareJPEG jpeg.UnsupportedError
	if errors.As(err, &rarePNG) || errors.As(err, &rareJPEG) {
		return true
	}
	return err == nil && size.Width > 0 && size.Height > 0
}

// readableWebP looks at the container, as Go has no reader of the rest: the whole of it
// is there, and its first chunk is one of the three.
func readableWebP(data []byte) bool {
	if len(data) < 20 || int64(binary.LittleEndian.Uint32(data[4:])) > int64(len(data)-8) {
		return false
	}
	switch string(data[12:16]) {
	case "VP8 ", "VP8L", "VP8X":
		return int64(binary.LittleEndian.Uint32(data[16:])) <= int64(len(data)-20)
	}
	return false
}
