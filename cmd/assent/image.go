package main

import (
	"fmt"
	"io"
	"os"

	"assent/agent/host"
)

// readImages reads the pictures that go with a prompt.
func readImages(names []string) (host.Images, error) {
	var images host.Images
	for _, name := range names {
		data, err := readImage(name)
		if err != nil {
			return nil, fmt.Errorf("the image could not be read: %w; check its name", err)
		}
		if err := images.Add(data); err != nil {
			return nil, fmt.Errorf("the image %s can't be used: %w", name, err)
		}
	}
	return images, nil
}

// readImage stops where a file is too large, which may have no end.
func readImage(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, host.MaxImageBytes+1))
}
