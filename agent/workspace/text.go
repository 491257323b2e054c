package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is how a text is stored. It is found in the bytes each time, never
// remembered.
type encoding int

const (
	utf8Plain encoding = iota // or bytes of an encoding that we do not know
	utf8BOM
	utf16LE // always with a byte-order mark
	utf16BE
)

var marks = [...]string{utf8Plain: "", utf8BOM: "\xef\xbb\xbf", utf16LE: "\xff\xfe", utf16BE: "\xfe\xff"}

func (enc encoding) wide() bool { return enc == utf16LE || enc == utf16BE }

var (
	errBinary = errors.New("it is binary (it has a NUL byte); only text can be read and edited")
	errMark   = errors.New("the text would begin with a byte-order mark that belongs to the file, not to its text; leave it out")
)

// decode turns bytes into text such that encode gives the same bytes again, or
// fails. Bytes that are not UTF-8 stay as they are.
func decode(data []byte) (string, encoding, error) {
	enc := detect(data)
	body := data[len(marks[enc]):]
	text := string(body)
	if enc.wide() {
		var err error
		if text, err = decodeWide(body, enc); err != nil {
			return "", enc, err
		}
	}
	if strings.IndexByte(text, 0) >= 0 {
		return "", enc, errBinary
	}
	return text, enc, nil
}

func detect(data []byte) encoding {
	for _, enc := range []encoding{utf8BOM, utf16LE, utf16BE} {
		if bytes.HasPrefix(data, []byte(marks[enc])) {
			return enc
		}
	}
	return utf8Plain
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// order is the byte order of a UTF-16 encoding.
func (enc encoding) order() byteOrder {
	if enc == utf16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// decodeWide is strict: a half of a pair has no place in a Go string, so it
// could not be written back.
func decodeWide(body []byte, enc encoding) (string, error) {
	mark := len(marks[enc])
	if len(body)%2 != 0 {
		return "", fmt.Errorf("not valid UTF-16 (byte offset %d); convert it first", mark+len(body)-1)
	}
	var b strings.Builder
	for at := 0; at < len(body); at += 2 {
		r := rune(enc.order().Uint16(body[at:]))
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if at+4 <= len(body) {
				low = rune(enc.order().Uint16(body[at+2:]))
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return "", fmt.Errorf("not valid UTF-16 (byte offset %d); convert it first", mark+at)
			}
			at += 2
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}

// encode turns text into bytes such that decode gives the same text and
// encoding again, or fails.
func (enc encoding) encode(text string) ([]byte, error) {
	data := []byte(marks[enc])
	if enc.wide() {
		if at := invalidUTF8(text); at >= 0 {
			return nil, fmt.Errorf("not valid UTF-8 (byte offset %d), which UTF-16 cannot hold", at)
		}
		for _, r := range text {
			if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
				data = enc.order().AppendUint16(enc.order().AppendUint16(data, uint16(r1)), uint16(r2))
				continue
			}
			data = enc.order().AppendUint16(data, uint16(r))
		}
	} else {
		data = append(data, text...)
	}
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return nil, errBinary
	case detect(data) != enc:
		return nil, errMark
	}
	return data, nil
}

// invalidUTF8 is the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for at, r := range text {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(text[at:]); size == 1 {
			return at
		}
	}
	return -1
}
