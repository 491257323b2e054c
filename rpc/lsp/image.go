package lsp

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// addTo wants the bytes to be what the client says: one that errs about the type
// may err about the picture.
func (m Image) addTo(images *host.Images) error {
	kind := strings.ToLower(m.MIMEType)
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind) {
		return fmt.Errorf("the mimeType %q is not known; use image/png, image/jpeg, image/gif or image/webp", m.MIMEType)
	}
	data, err := base64.StdEncoding.DecodeString(m.Data)
	if err != nil {
		return errors.New("its data is no base64 in the standard alphabet, with padding")
	}
	if err := images.Add(data); err != nil {
		return err
	}
	if is := (*images)[len(*images)-1].MediaType; is != kind {
		return fmt.Errorf("its mimeType is %s, but its bytes are %s; send what it is", kind, is)
	}
	return nil
}
