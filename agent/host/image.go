package host

import (
	"bytes"
	"errors"
	"fmt"

	"assent/agent"
)

// Limits of the pictures of one prompt. A journal has it on one line, and a model
// server takes far less.
const (
	MaxImageBytes = 20 << 20 // of one

	maxImages    = 20
	maxAllImages = 100 << 20 // bytes of all together
)

// Images are the pictures of one prompt.
type Images []agent.Image

// Add takes a picture. Its first bytes tell its type: names and clients err.
func (x *Images) Add(data []byte) error {
	all := len(data)
	for _, image := range *x {
		all += len(image.Data)
	}
	switch kind := imageType(data); {
	case len(data) == 0:
		return errors.New("it is empty")
	case len(data) > MaxImageBytes:
		return fmt.Errorf("it is larger than %d MiB; make it smaller", MaxImageBytes>>20)
	case kind == "":
		return errors.New("it is no picture of a kind that models see; use PNG, JPEG, GIF or WebP")
	case len(*x) == maxImages:
		return fmt.Errorf("a prompt can have %d images; leave some out", maxImages)
	case all > maxAllImages:
		return fmt.Errorf("the images are larger than %d MiB together; leave some out", maxAllImages>>20)
	default:
		*x = append(*x, agent.Image{MediaType: kind, Data: data})
	}
	return nil
}

// Prompt is a message of the user with a text and then the pictures.
func (x Images) Prompt(text string) agent.Message {
	m := agent.UserText(text)
	for _, image := range x {
		m.Blocks = append(m.Blocks, image)
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
