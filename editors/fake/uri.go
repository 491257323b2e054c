package fake

import (
	"net/url"
	"path/filepath"
	"strings"
)

// URI returns the file URI of an absolute path.
func URI(path string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	return u.String()
}

// Path returns the path that a file URI names, and "" for any other URI.
func Path(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	return filepath.Clean(filepath.FromSlash(u.Path))
}

// key is what documents are found by: two spellings of one file URI ("%7E" and
// "~") are one document, and any other URI is only equal to itself.
func key(uri string) string {
	if p := Path(uri); p != "" {
		return URI(p)
	}
	return uri
}

// under tells whether path is dir itself or lies below it.
func under(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// languageOf returns the languageId of a file name.
func languageOf(name string) string {
	ids := map[string]string{
		".c": "c", ".css": "css", ".go": "go", ".html": "html", ".js": "javascript", ".json": "json",
		".lua": "lua", ".md": "markdown", ".py": "python", ".rs": "rust", ".sh": "shellscript",
		".toml": "toml", ".ts": "typescript", ".yaml": "yaml", ".yml": "yaml",
	}
	if id, ok := ids[strings.ToLower(filepath.Ext(name))]; ok {
		return id
	}
	return "plaintext"
}
