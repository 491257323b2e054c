package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"assent/agent/host"
)

// readImages reads the pictures that go with a prompt.
func readImages(names []string) (host.Images, error) {
	var images host.Images
	for _, name := range names {
		data, err := readImage(name)
		if err != nil {
			return nil, fmt.Errorf("the image could not be read: %w; name a file with a picture", ofFile(err))
		}
		if err := images.Add(data); err != nil {
			return nil, fmt.Errorf("the image %s can't be used: %w", name, err)
		}
	}
	return images, nil
}

// readImage reads nothing but regular files: a pipe may never end, or never begin. It
// stops where a file is too large.
func readImage(name string) ([]byte, error) {
	info, err := os.Stat(name) // to open a pipe would wait for its other end
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, host.MaxImageBytes+1))
}

// ofFile is an error of a file as people say it, without the call that failed.
func ofFile(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", failed.Path, failed.Err)
	}
	return err
}
