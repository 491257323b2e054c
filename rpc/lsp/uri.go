package lsp

import (
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"go.lsp.dev/uri"
)

// location is what a URI of the client names. Clients spell one file in several
// ways, and the same client not always the same way.
type location struct {
	raw  string
	key  string // the same for all spellings
	path string // absolute; "" if it is no file that can be reached from here
	why  string // why path is "", as a sentence
}

// locate reads a URI. It never fails: what can't be understood has a key of its
// own, and its text can be kept, but no file belongs to it.
func locate(raw string) location {
	l := locateURI(raw)
	l.raw = raw
	return l
}

func locateURI(raw string) location {
	scheme, rest, ok := strings.Cut(raw, ":")
	if !ok || len(scheme) < 2 || strings.ContainsAny(scheme, "/\\ ") {
		return location{key: raw, why: "it is no URI; send one such as file:///home/me/notes.txt"}
	}
	if !strings.EqualFold(scheme, "file") {
		key := raw
		if u, err := uri.Parse(raw); err == nil {
			key = string(u)
		}
		return location{key: key, why: "it is no file on this machine, and not open in the editor"}
	}
	return locateFile(raw, rest)
}

func locateFile(raw, rest string) location {
	unlike := "no file " + raw // unlike the key of any file: file:///w/a#b is not file:///w/a%23b
	if strings.ContainsAny(rest, "?#") {
		return location{key: unlike, why: "a file: URI has no query and no fragment; spell a # in a name as %23 and a ? as %3F"}
	}
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, rest, _ = strings.Cut(after, "/")
		rest = "/" + rest
	}
	if upper := strings.ToUpper(rest); strings.Contains(upper, "%2F") || strings.Contains(upper, "%00") || runtime.GOOS == "windows" && strings.Contains(upper, "%5C") {
		return location{key: unlike, why: "it has an encoded slash or NUL in a name, which no file has"}
	}
	name, err := url.PathUnescape(rest)
	if err != nil || !strings.HasPrefix(name, "/") {
		return location{key: unlike, why: "its path is not well formed"}
	}
	if host = strings.ToLower(host); host == "localhost" {
		host = ""
	}
	if drive(name) {
		name = "/" + strings.ToLower(name[1:2]) + name[2:]
	}
	l := location{key: "file://" + host + withoutDots(name)}
	switch {
	case runtime.GOOS == "windows" && host != "":
		l.path = `\\` + host + filepath.FromSlash(name)
	case runtime.GOOS == "windows" && drive(name):
		l.path = filepath.FromSlash(name[1:])
	case host != "":
		l.why = "it is on another machine, " + host
	default:
		l.path = filepath.FromSlash(name)
	}
	return l
}

// drive reports whether a path begins like /C: does.
func drive(name string) bool {
	return len(name) >= 3 && name[2] == ':' && ('a' <= name[1]|0x20 && name[1]|0x20 <= 'z') && (len(name) == 3 || name[3] == '/')
}

// name is the path that a URI has, whether or not a file here belongs to it.
func (l location) name() string {
	if l.path != "" {
		return filepath.ToSlash(l.path)
	}
	if u, err := uri.Parse(l.raw); err == nil {
		return u.Path()
	}
	return l.raw
}

// withoutDots is a path without what makes no difference. "a/../b" may make one, if a
// is a link.
func withoutDots(name string) string {
	if strings.Contains(name+"/", "/../") {
		return name
	}
	return path.Clean(name)
}
