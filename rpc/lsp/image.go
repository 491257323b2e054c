package lsp

import (
	"encoding/base64"
	"errors"

	"assent/agent/host"
	"assent/rpc"
)

// images are the pictures that go with a prompt.
func (p PromptParams) images() (host.Images, error) {
	var images host.Images
	for i, image := range p.Images {
		if err := image.addTo(&images); err != nil {
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "image %d of the prompt can't be used: %v", i+1, err)
		}
	}
	return images, nil
}

// addTo does not look at the type that the client says: package host has one rule for
// all. What is too large is not decoded.
func (m Image) addTo(images *host.Images) error {
	if base64.StdEncoding.DecodedLen(len(m.Data)) > host.MaxImageBytes+2 { // with the padding
		return host.TooLarge()
	}
	data, err := base64.StdEncoding.DecodeString(m.Data)
	if err != nil {
		return errors.New("its data is no base64 in the standard alphabet, with padding; send it so")
	}
	return images.Add(data)
}
