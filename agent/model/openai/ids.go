package openai

import (
	"crypto/sha256"
	"encoding/binary"
)

// idForm says which ids of calls a server takes.
type idForm int

const (
	idsPlain idForm = iota // letters, digits, _ and -, at most 40
	idsAny                 // also . and :, at most 64, as Kimi's own
	idsNine                // nine letters and digits, as Mistral's
)

// ids gives each call of a conversation the id that goes over the wire: its own if
// the server takes that, else one made of it. It is the same in each request, and
// no two calls share one.
type ids struct {
	form idForm
	wire map[string]string
	used map[string]bool
}

func newIDs(form idForm) *ids {
	return &ids{form, map[string]string{}, map[string]bool{}}
}

func (x *ids) of(id string) string {
	if known, ok := x.wire[id]; ok {
		return known
	}
	wire := id
	for n := uint64(0); !x.form.takes(wire) || x.used[wire]; n++ {
		wire = shortID(id, n)
	}
	x.wire[id], x.used[wire] = wire, true
	return wire
}

func (f idForm) takes(id string) bool {
	for i := range len(id) {
		b := id[i]
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		case f != idsNine && (b == '_' || b == '-'):
		case f == idsAny && (b == '.' || b == ':'):
		default:
			return false
		}
	}
	switch f {
	case idsNine:
		return len(id) == 9
	case idsAny:
		return id != "" && len(id) <= 64
	}
	return id != "" && len(id) <= 40
}

// shortID is nine letters and digits made of an id, in its nth way.
func shortID(id string, n uint64) string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(id), n))
	rest := binary.BigEndian.Uint64(sum[:])
	short := make([]byte, 9)
	for i := range short {
		short[i] = alphabet[rest%uint64(len(alphabet))]
		rest /= uint64(len(alphabet))
	}
	return string(short)
}
