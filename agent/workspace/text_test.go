package workspace_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"assent/agent/workspace"
)

func utf16Bytes(text string, big bool) []byte {
	var data []byte
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
		if big {
			data = append(data, byte(u>>8), byte(u))
		} else {
			data = append(data, byte(u), byte(u>>8))
		}
	}
	return data
}

func TestDecodedTexts(t *testing.T) {
	for _, c := range []struct{ name, bytes, text, fault string }{
		{"an empty file", "", "", ""},
		{"UTF-8", "grün\n", "grün\n", ""},
		{"a byte-order mark is not text", "\xef\xbb\xbfimport os\n", "import os\n", ""},
		{"a second mark is text", "\xef\xbb\xbf\ufeffx", "\ufeffx", ""},
		{"a mark alone", "\xef\xbb\xbf", "", ""},
		{"Latin-1 bytes stay", "caf\xe9\n", "caf\xe9\n", ""},
		{"UTF-16, little end first", string(utf16Bytes("a😀\r\n", false)), "a😀\r\n", ""},
		{"UTF-16, big end first", string(utf16Bytes("a😀\r\n", true)), "a😀\r\n", ""},
		{"a NUL byte is binary", "a\x00b", "", "binary"},
		{"a NUL byte in UTF-16 is binary", "\xff\xfea\x00\x00\x00", "", "binary"},
		{"UTF-32 is binary", "\xff\xfe\x00\x00a\x00\x00\x00", "", "binary"},
		{"UTF-16 with half a unit", "\xff\xfea\x00b", "", "not valid UTF-16 (byte offset 4)"},
		{"UTF-16 with half a pair", "\xff\xfea\x00\x00\xd8b\x00", "", "not valid UTF-16 (byte offset 4)"},
		{"UTF-16 that ends in half a pair", "\xff\xfe\x00\xd8", "", "not valid UTF-16 (byte offset 2)"},
		{"UTF-16 with the low half first", "\xff\xfe\x00\xdc\x00\xd8", "", "not valid UTF-16 (byte offset 2)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, enc, err := workspace.Decode([]byte(c.bytes))
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Fatalf("error = %v, want %q", err, c.fault)
				}
				return
			}
			if err != nil || text != c.text {
				t.Fatalf("text = %q, %v", text, err)
			}
			if data, err := workspace.Encode(enc, text); err != nil || string(data) != c.bytes {
				t.Errorf("encoded again = %q, %v", data, err)
			}
		})
	}
}

func TestTextsThatCouldNotBeReadAgainAreNotEncoded(t *testing.T) {
	const plain, wide = 0, 2
	for _, c := range []struct {
		name string
		enc  int
		text string
	}{
		{"a mark at the start of a file without one", plain, "\ufeffx"},
		{"bytes that look like UTF-16", plain, "\xff\xfex"},
		{"a NUL byte", plain, "\x00"},
		{"bytes that are not UTF-8, in UTF-16", wide, "a\xe9"},
	} {
		if data, err := workspace.Encode(c.enc, c.text); err == nil {
			t.Errorf("%s became %q", c.name, data)
		}
	}
}

func TestWhatIsDecodedEncodesToTheSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.SampledFrom([]string{"", "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}).Draw(t, "start")
		data := append([]byte(start), rapid.SliceOf(rapid.Byte()).Draw(t, "data")...)
		roundTrip(t, data)
	})
}

func TestTextInUTF16SurvivesBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(rapid.String().Draw(t, "text"), "\x00", "")
		data := utf16Bytes(text, rapid.Bool().Draw(t, "big"))
		got, enc, err := workspace.Decode(data)
		if err != nil || got != text {
			t.Fatalf("decoded %q as %q, %v", text, got, err)
		}
		if again, err := workspace.Encode(enc, got); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("encoded %q as %x, %v", text, again, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "a\r\nb", "\xef\xbb\xbfx", "caf\xe9", "\xff\xfea\x00\x3d\xd8\x00\xde", "\xfe\xff\x00a", "\xff\xfe\x00\xd8"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { roundTrip(t, data) })
}

// roundTrip checks that what can be decoded can be written back unchanged.
func roundTrip(t interface{ Fatalf(string, ...any) }, data []byte) {
	text, enc, err := workspace.Decode(data)
	if err != nil {
		return
	}
	again, err := workspace.Encode(enc, text)
	if err != nil || !bytes.Equal(again, data) {
		t.Fatalf("%x was decoded as %q and encoded as %x, %v", data, text, again, err)
	}
}
